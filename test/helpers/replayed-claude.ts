import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fixture } from './processes.ts';

/** What it does in an iteration, a piece of shell. */
export type ShellTurn = string;

/** A scripted `claude` that does the same in an iteration however often that is tried. */
export interface ReplayedClaude {
  /** The folder for PATH. */
  readonly dir: string;
  /** Every call so far, in their order within each iteration. */
  calls(): readonly ReplayedCall[];
}

export interface ReplayedCall {
  readonly iteration: number;
  /** Its number among the calls in this iteration, from 1. */
  readonly number: number;
  /** Empty where it was killed before it had read it. */
  readonly stdin: string;
  /** What it wrote, or was about to write when it was killed. */
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Installs one in `dir`. The turns stand for the iterations from 1; of a list the first ones are for
 * the first calls of the iteration, and the last for all others.
 */
export function installReplayedClaude(
  dir: string,
  turns: readonly (ShellTurn | readonly [ShellTurn, ShellTurn])[],
): ReplayedClaude {
  const calls = join(dir, 'calls');
  mkdirSync(calls, { recursive: true });
  for (const [index, turn] of turns.entries()) {
    const [first, others] = typeof turn === 'string' ? [null, turn] : turn;
    if (first !== null) writeFileSync(join(dir, `turn-${index + 1}.1`), first);
    writeFileSync(join(dir, `turn-${index + 1}`), others);
  }
  symlinkSync(fixture('replayed-claude.sh'), join(dir, 'claude'));
  const read = (name: string): string => {
    try {
      return readFileSync(join(calls, name), 'utf8');
    } catch {
      return '';
    }
  };
  return {
    dir,
    calls: () =>
      readdirSync(calls)
        .filter((name) => /^\d+\.\d+$/.test(name))
        .map((name) => {
          const [iteration = 0, number = 0] = name.split('.').map(Number);
          const [stdin, stdout] = [read(`${name}.stdin`), read(`${name}.stdout`)];
          return { iteration, number, stdin, stdout, stderr: read(`${name}.stderr`) };
        })
        .sort((one, other) => one.iteration - other.iteration || one.number - other.number),
  };
}

const TOKENS = { input_tokens: 100, output_tokens: 10 };

/** Says these words and reports success, after `work`, a piece of shell. */
export function answers(words: string, work = ''): ShellTurn {
  const content = [{ type: 'text', text: words }];
  const message = { id: 'msg', type: 'message', role: 'assistant', model: 'fake', content };
  return [
    work,
    say({ type: 'assistant', message: { ...message, usage: TOKENS }, parent_tool_use_id: null }),
    result({
      subtype: 'success',
      is_error: false,
      result: words,
      total_cost_usd: 0.01,
      usage: TOKENS,
    }),
  ].join('\n');
}

/** Meets an error of the service that passes by itself. */
export function overloaded(): ShellTurn {
  const text = 'API Error: 529 Overloaded';
  return `${result({ is_error: true, api_error_status: 529, result: text, total_cost_usd: 0, usage: {} })}\nexit 1`;
}

function result(fields: object): string {
  const rest = { num_turns: 1, permission_denials: [], session_id: 's' };
  return say({ type: 'result', duration_ms: 1, ...rest, ...fields });
}

function say(line: object): string {
  return `say '${JSON.stringify(line).replaceAll("'", "'\\''")}'`;
}

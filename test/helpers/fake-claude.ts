import { readFileSync } from 'node:fs';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Turn, turnScript } from './fake-turn.ts';
import { PATIENCE_MS } from './patience.ts';
import { pidOutside } from './processes.ts';

const PROGRAM = fileURLToPath(new URL('../fixtures/fake-claude.sh', import.meta.url));

/** A turn that meets a limit of the plan; `resetsInS` is counted from now, null tells no time at all. */
export function planLimited(resetsInS: number | null): Turn {
  const event = { status: 'rejected', rateLimitType: 'five_hour' };
  const resetsAt = Math.ceil(Date.now() / 1_000) + (resetsInS ?? 0);
  return {
    rateLimit: resetsInS === null ? event : { ...event, resetsAt },
    isError: true,
    apiErrorStatus: 429,
    text: "You've hit your session limit",
  };
}

/** One call of the scripted `claude`, as it saw it. */
interface FakeCall {
  /** From 1. */
  readonly number: number;
  readonly pid: number;
  readonly cwd: string;
  readonly argv: readonly string[];
  readonly stdin: string;
  readonly env: Readonly<Record<string, string>>;
}

/** An installed scripted `claude`. */
export interface FakeClaude {
  /** The folder for PATH. */
  readonly dir: string;
  /** The program. */
  readonly path: string;
  /** Every call so far that has read its input. */
  calls(): readonly FakeCall[];
  /** What that call (from 1) read from standard input, byte for byte. */
  stdinOf(number: number): Buffer;
  /** Resolves once that many calls have read their input, rejects after `timeoutMs`. */
  untilCalls(count: number, timeoutMs?: number): Promise<readonly FakeCall[]>;
}

/**
 * Installs a scripted `claude` in `dir`. Each call takes the next turn, and one too many exits 97;
 * a single turn instead of a list is played at every call. `claude --version` takes none.
 */
export async function makeFakeClaude(
  dir: string,
  turns: Turn | readonly Turn[],
): Promise<FakeClaude> {
  await mkdir(dir, { recursive: true });
  const named: readonly (readonly [name: string, turn: Turn])[] =
    'length' in turns ? turns.map((turn, index) => [`turn-${index + 1}`, turn]) : [['turn', turns]];
  for (const [name, turn] of named) {
    const { shell, parts } = turnScript(turn);
    await writeFile(join(dir, name), shell);
    for (const [part, words] of Object.entries(parts)) {
      await writeFile(join(dir, `${name}.${part}`), words);
    }
  }
  const path = join(dir, 'claude');
  await symlink(PROGRAM, path);

  const fileOf = (call: string, name: string): Buffer =>
    readFileSync(join(dir, `call-${call}.${name}`));
  const wordsOf = (call: string, name: string): readonly string[] =>
    fileOf(call, name).toString().split('\0').slice(0, -1);

  function calls(): readonly FakeCall[] {
    const lines = readIfThere(join(dir, 'calls')).split('\n').slice(0, -1);
    return lines.map((line) => {
      const [call = '', pid = ''] = line.split(' ');
      return {
        number: Number(call),
        cwd: fileOf(call, 'cwd').toString().slice(0, -1),
        argv: wordsOf(call, 'argv'),
        stdin: fileOf(call, 'stdin').toString(),
        env: Object.fromEntries(
          wordsOf(call, 'env').map((word) => splitAt(word, word.indexOf('='))),
        ),
        get pid() {
          return pidOutside(Number(pid), dir);
        },
      };
    });
  }

  return {
    dir,
    path,
    calls,
    stdinOf: (number) => fileOf(String(number), 'stdin'),
    async untilCalls(count, timeoutMs = PATIENCE_MS) {
      for (const end = performance.now() + timeoutMs; performance.now() < end; await sleep(10)) {
        const found = calls();
        if (found.length >= count) return found;
      }
      throw new Error(`Expected ${count} calls within ${timeoutMs} ms, found ${calls().length}.`);
    },
  };
}

function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

function splitAt(word: string, index: number): readonly [string, string] {
  return [word.slice(0, index), word.slice(index + 1)];
}

import { readFileSync } from 'node:fs';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { pidOutside } from './processes.ts';

const PROGRAM = fileURLToPath(new URL('../fixtures/fake-claude.cjs', import.meta.url));

/** What the scripted `claude` does in one call, played in the order of these fields. */
export interface Turn {
  /** It reads nothing from standard input. */
  readonly ignoresInput?: boolean;
  /** Signals it takes no notice of. */
  readonly ignores?: readonly NodeJS.Signals[];
  /** On SIGINT it writes the result of an interrupted run and exits 1, as the real one does. */
  readonly reportsOnSigint?: boolean;
  /** It writes none of its own lines, only `raw` and `stderr`: for refusals at the start. */
  readonly bare?: boolean;
  /** The `rate_limit_info` of a `rate_limit_event`. */
  readonly rateLimit?: Readonly<Record<string, unknown>>;
  /** Its own retries; after each announcement it waits `delayMs` (1 if not given). */
  readonly apiRetries?: readonly {
    readonly status: number | null;
    readonly error?: string;
    readonly delayMs?: number;
    readonly attempt?: number;
  }[];
  readonly thinking?: string;
  /** Messages before the last. */
  readonly before?: readonly string[];
  /** Tool calls with their results, `ok` if not given; `parent` makes it a sub-agent's. */
  readonly tools?: readonly {
    readonly name: string;
    readonly input?: Readonly<Record<string, unknown>>;
    readonly result?: string;
    /** A result of that many bytes. */
    readonly resultBytes?: number;
    readonly isError?: boolean;
    readonly parent?: string;
  }[];
  /** Tool calls that are refused. */
  readonly denials?: readonly {
    readonly name: string;
    readonly input?: Readonly<Record<string, unknown>>;
  }[];
  /** Lines written as they are. */
  readonly raw?: readonly string[];
  readonly stderr?: string;
  /** A command that `sh` runs to its end, its output thrown away: to write files. */
  readonly shell?: string;
  /** A command left running in a session of its own, with the output of `claude` as its own. */
  readonly leaves?: string;
  /** Time before the last message. */
  readonly delayMs?: number;
  /** It never comes to its last message. */
  readonly hangs?: boolean;
  /** The last message, and the `result` of the result line. */
  readonly text?: string;
  readonly noResult?: boolean;
  /** `success` if not given. */
  readonly subtype?: string;
  /** An error has no last message, only its text in the result line. */
  readonly isError?: boolean;
  readonly apiErrorStatus?: number;
  /** Stands in the result line in place of `result`. */
  readonly errors?: readonly string[];
  readonly numTurns?: number;
  /** 0.01 if not given. */
  readonly costUsd?: number;
  readonly sessionId?: string;
  readonly hangsAfterResult?: boolean;
  /** 0 if not given; 1 with `isError`. */
  readonly exitCode?: number;
}

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
  await writeFile(join(dir, 'turns.json'), JSON.stringify(turns));
  const path = join(dir, 'claude');
  await symlink(PROGRAM, path);

  function calls(): readonly FakeCall[] {
    const lines = readIfThere(join(dir, 'calls.jsonl')).split('\n').slice(0, -1);
    return lines.map((line) => {
      const call = JSON.parse(line) as FakeCall;
      return {
        ...call,
        get pid() {
          return pidOutside(call.pid, dir);
        },
      };
    });
  }

  return {
    dir,
    path,
    calls,
    stdinOf: (number) => readFileSync(join(dir, `stdin-${number}`)),
    async untilCalls(count, timeoutMs = 10_000) {
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

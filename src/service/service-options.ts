import path from 'node:path';
import { keyFlag } from '../compose/tasks.ts';
import { parseDuration } from '../core/duration.ts';
import type { RalphEvent } from '../core/events.ts';
import { UsageError } from '../errors.ts';

/** Variables of an environment. */
type Environment = Readonly<Record<string, string | undefined>>;

/** Where the books of a service lie. Relative paths are relative to the folder the program runs in. */
export interface RalphServiceOptions {
  /** The folder with `Needs_Action` and `Done`; `RALPH_VAULT`, else the folder the program runs in. */
  readonly vault?: string;
  /** `RALPH_STATE_DIR`, else `.ralph_state` in the vault. */
  readonly stateDir?: string;
  /**
   * The key by which the user's tasks are known, for a vault that several machines share;
   * `RALPH_KEY_FILE`, else the user's own.
   */
  readonly keyFile?: string;
  /** Where finished task files come to; looked up in the vault. `RALPH_DONE_FOLDER`, else `Done`. */
  readonly doneFolder?: string;
  /** Where the `RALPH_*` variables are read from; the program's own environment by default. */
  readonly env?: Environment;
  /** The present instant; the machine's clock by default. */
  readonly now?: () => Date;
  /**
   * Told of every event once it stands in the journal. What it throws comes out of the method that
   * was called; the books are kept all the same. It is not waited for: what an async one rejects with is
   * left alone.
   */
  readonly onEvent?: (event: RalphEvent) => void;
}

/** A service's options with everything filled in; paths are absolute. */
export interface ServicePlace {
  readonly vault: string;
  readonly stateDir: string;
  readonly keyFile: string | null;
  /** The same where a command has to name it; null where it is found without. */
  readonly keyFlag: string | null;
  readonly doneFolder: string;
  /** What a task gets that asks for nothing else. */
  readonly maxIterations: number;
  readonly timeoutMs: number;
}

const DEFAULT_MAX_ITERATIONS = 10;
const DEFAULT_TIMEOUT_MS = 30 * 60_000;

/** Fills in what the options leave open. Throws a `UsageError` with everything that is wrong. */
export function servicePlace(options: RalphServiceOptions): ServicePlace {
  const env = options.env ?? process.env;
  const problems: string[] = [];
  const vault = path.resolve(options.vault ?? env.RALPH_VAULT ?? '.');
  const stateDir = options.stateDir ?? env.RALPH_STATE_DIR;
  const named = options.keyFile ?? env.RALPH_KEY_FILE;
  const keyFile = named === undefined ? null : path.resolve(named);
  const place: ServicePlace = {
    vault,
    keyFile,
    keyFlag: keyFlag(keyFile, env),
    stateDir: stateDir === undefined ? path.join(vault, '.ralph_state') : path.resolve(stateDir),
    doneFolder: path.resolve(vault, options.doneFolder ?? env.RALPH_DONE_FOLDER ?? 'Done'),
    maxIterations: maxIterationsFrom(env, problems),
    timeoutMs: timeoutFrom(env, problems),
  };
  if (problems.length > 0) throw new UsageError(problems);
  return place;
}

function maxIterationsFrom(env: Environment, problems: string[]): number {
  const text = env.RALPH_MAX_ITERATIONS;
  // Inside a loop the variable tells the agent of its own task: it is no setting there.
  if (text === undefined || env.RALPH_RUN_ID !== undefined) return DEFAULT_MAX_ITERATIONS;
  const count = /^\d{1,9}$/.test(text.trim()) ? Number(text) : 0;
  if (count < 1) {
    problems.push(`RALPH_MAX_ITERATIONS expects a whole number, at least 1; found '${text}'.`);
  }
  return count;
}

/** `RALPH_TIMEOUT` is a duration; `RALPH_TIMEOUT_MINUTES`, its further name, also a bare number. */
function timeoutFrom(env: Environment, problems: string[]): number {
  const minutes = env.RALPH_TIMEOUT_MINUTES;
  const written = minutes !== undefined && /^[\d.]+$/.test(minutes) ? `${minutes}m` : minutes;
  const text = env.RALPH_TIMEOUT ?? written;
  if (text === undefined) return DEFAULT_TIMEOUT_MS;
  const ms = parseDuration(text) ?? 0;
  if (ms <= 0) {
    const name = env.RALPH_TIMEOUT === undefined ? 'RALPH_TIMEOUT_MINUTES' : 'RALPH_TIMEOUT';
    problems.push(`${name} expects a time such as 30m; found '${text}'.`);
  }
  return ms;
}

import path from 'node:path';
import type { RalphEvent } from '../core/machine/events.ts';
import { parseDuration } from '../core/settings/duration.ts';
import { keyFlag } from '../effects/trust/key.ts';
import { UsageError } from '../errors.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** The options of a service. Relative paths are relative to the program's working directory. */
export interface RalphServiceOptions {
  /** The folder with `Needs_Action` and `Done`. Default: `RALPH_VAULT`, else the working directory. */
  readonly vault?: string;
  /** The folder of the states. Default: `RALPH_STATE_DIR`, else `.ralph_state` in the vault. */
  readonly stateDir?: string;
  /**
   * The key that signs the user's tasks, for a vault that several machines share. Default:
   * `RALPH_KEY_FILE`, else the user's own key.
   */
  readonly keyFile?: string;
  /** The folder of finished task files, relative to the vault. Default: `RALPH_DONE_FOLDER`, else `Done`. */
  readonly doneFolder?: string;
  /** The environment with the `RALPH_*` variables. Default: the program's own. */
  readonly env?: Environment;
  /** Returns the current time. Default: the system clock. */
  readonly now?: () => Date;
  /**
   * Receives every event after it is written to the journal. If it throws, the called method rejects
   * with that error, but the state is saved. It is not awaited, and the rejection of an async listener
   * is ignored.
   */
  readonly onEvent?: (event: RalphEvent) => void;
}

/** A service's options with all defaults filled in. All paths are absolute. */
export interface ServicePlace {
  readonly vault: string;
  readonly stateDir: string;
  readonly keyFile: string | null;
  /** `keyFile` if a `ralph` command has to name it, or null if the command finds the key by itself. */
  readonly keyFlag: string | null;
  readonly doneFolder: string;
  /** The default for new tasks, as is `timeoutMs`. */
  readonly maxIterations: number;
  readonly timeoutMs: number;
}

const DEFAULT_MAX_ITERATIONS = 10;
const DEFAULT_TIMEOUT_MS = 30 * 60_000;

/** Fills in the defaults. Throws a `UsageError` with all problems. */
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
  // Inside a loop the variable describes the agent's own task, so it is not a setting.
  if (text === undefined || env.RALPH_RUN_ID !== undefined) return DEFAULT_MAX_ITERATIONS;
  const count = /^\d{1,9}$/.test(text.trim()) ? Number(text) : 0;
  if (count < 1) {
    problems.push(`RALPH_MAX_ITERATIONS expects a whole number, at least 1; found '${text}'.`);
  }
  return count;
}

/** `RALPH_TIMEOUT` is a duration; its alias `RALPH_TIMEOUT_MINUTES` may also be a bare number. */
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

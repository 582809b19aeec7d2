import path from 'node:path';
import type { RalphEvent } from '../core/machine/events.ts';
import { settingsFromEnvironment } from '../core/settings/environment.ts';
import { resolveSettings } from '../core/settings/resolve-settings.ts';
import { layerOf } from '../core/settings/setting-source.ts';
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
   * Receives every event after it is written to `events.jsonl`. If it throws, the called method rejects
   * with that error, but the state is saved. The listener is not awaited: if it returns a promise that
   * rejects, the error is ignored.
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
  /** The limit for new tasks whose options name none; `timeoutMs` likewise. */
  readonly maxIterations: number;
  readonly timeoutMs: number;
}

const DEFAULTS = layerOf({ maxIterations: 10, timeout: '30m' }, () => ({
  kind: 'default',
  where: 'the library',
}));

/** Fills in the defaults. Throws a `UsageError` with all problems. */
export function servicePlace(options: RalphServiceOptions): ServicePlace {
  const env = options.env ?? process.env;
  const { maxIterations, timeout } = settingsFromEnvironment(env).layer;
  const limits = { ...(maxIterations && { maxIterations }), ...(timeout && { timeout }) };
  const { settings, problems } = resolveSettings([limits, DEFAULTS]);
  if (problems.length > 0) throw new UsageError(problems);
  const vault = path.resolve(options.vault ?? env.RALPH_VAULT ?? '.');
  const stateDir = options.stateDir ?? env.RALPH_STATE_DIR;
  const named = options.keyFile ?? env.RALPH_KEY_FILE;
  const keyFile = named === undefined ? null : path.resolve(named);
  return {
    vault,
    keyFile,
    keyFlag: keyFlag(keyFile, env),
    stateDir: stateDir === undefined ? path.join(vault, '.ralph_state') : path.resolve(stateDir),
    doneFolder: path.resolve(vault, options.doneFolder ?? env.RALPH_DONE_FOLDER ?? 'Done'),
    maxIterations: settings.maxIterations,
    timeoutMs: settings.timeout,
  };
}

import path from 'node:path';
import { UsageError } from '../errors.ts';

/** The flags by which commands about a task are told where its state lies. */
export interface PlaceOptions {
  readonly vault?: string;
  readonly stateDir?: string;
  readonly keyFile?: string;
}

export interface Place {
  /** Absolute. */
  readonly vault: string;
  readonly stateDir: string;
  /** The key that the user named, absolute; null for the user's own. */
  readonly keyFile: string | null;
}

/** Where the states lie: flag, then variable, then the folder ralph is started in. */
export function placeOf(options: PlaceOptions, env: NodeJS.ProcessEnv = process.env): Place {
  const here = startFolder();
  const vault = path.resolve(here, options.vault ?? env.RALPH_VAULT ?? '.');
  const stateDir = options.stateDir ?? env.RALPH_STATE_DIR;
  const keyFile = options.keyFile ?? env.RALPH_KEY_FILE;
  return {
    vault,
    keyFile: keyFile === undefined ? null : path.resolve(here, keyFile),
    stateDir:
      stateDir === undefined ? path.join(vault, '.ralph_state') : path.resolve(here, stateDir),
  };
}

/** The folder ralph was started in may have been removed under it. Throws a `UsageError` then. */
export function startFolder(): string {
  try {
    return process.cwd();
  } catch {
    throw new UsageError(['The folder ralph was started in is gone; change to one that is there.']);
  }
}

import path from 'node:path';
import type { Layer } from '../../core/settings/setting-source.ts';
import { keyFlag } from '../../effects/trust/key.ts';
import { vaultAbove } from '../../effects/vault/vault-above.ts';
import { UsageError } from '../../errors.ts';
import { worksOn } from '../../printed-command.ts';

/** The flags that say where a task's folders and its key file are. */
export interface FolderOptions {
  readonly vault?: string;
  readonly stateDir?: string;
  readonly keyFile?: string;
}

/** The flags that say whether a task is in a vault (a folder) or in a fleet (a shared database), and where that is. */
export interface StoreOptions extends FolderOptions {
  readonly fleet?: string;
}

export interface TaskFolders {
  /** Absolute path; `stateDir` is one, too. */
  readonly vault: string;
  readonly stateDir: string;
  /** Whether flags or variables name the vault or the state folder. */
  readonly isNamed?: boolean;
  /** Absolute path of the key that the user named, or null for the user's own key. */
  readonly keyFile: string | null;
  /** Set for a copy of a task of a fleet: the words with which a printed command names that fleet. */
  readonly fleetWords?: readonly string[];
}

/** Returns the folders that `foundFolders` finds, and records them for the commands that ralph prints. */
export function foldersOf(
  options: FolderOptions,
  env: NodeJS.ProcessEnv = process.env,
): TaskFolders {
  const folders = foundFolders(options, env);
  worksOn({ ...folders, keyFlag: keyFlag(folders.keyFile, env) }, isFound);
  return folders;
}

/** Returns the folders from flags, else from variables, else the nearest with a state folder (`vaultAbove`). */
function foundFolders(options: FolderOptions, env: NodeJS.ProcessEnv): TaskFolders {
  const here = startFolder();
  const named = options.vault ?? env.RALPH_VAULT;
  const vault = path.resolve(here, named ?? vaultAbove(here));
  const stateDir = options.stateDir ?? env.RALPH_STATE_DIR;
  const keyFile = options.keyFile ?? env.RALPH_KEY_FILE;
  return {
    vault,
    isNamed: named !== undefined || stateDir !== undefined,
    keyFile: keyFile === undefined ? null : path.resolve(here, keyFile),
    stateDir:
      stateDir === undefined ? path.join(vault, '.ralph_state') : path.resolve(here, stateDir),
  };
}

/**
 * Whether commands without flags use these folders, both with and without the present variables: a variable may be set
 * only in this shell, so a printed command must not depend on it.
 */
export function isFound({ vault, stateDir }: Pick<TaskFolders, 'vault' | 'stateDir'>): boolean {
  return [process.env, {}].every((env) => {
    const found = foundFolders({}, env);
    return found.vault === vault && found.stateDir === stateDir;
  });
}

/** Returns the folders that a run's flags name, or else those of `foldersOf`. */
export function foldersNamed(flags: Layer): TaskFolders {
  return foldersOf(foldersGiven(flags));
}

/** Returns the folders that a run's flags name. */
export function foldersGiven(flags: Layer): FolderOptions {
  const named = (['vault', 'stateDir', 'keyFile'] as const).flatMap((name) => {
    const value = flags[name]?.value;
    return typeof value === 'string' ? [[name, value]] : [];
  });
  return Object.fromEntries(named);
}

/** Returns the working directory. Throws a `UsageError` if it has been removed. */
export function startFolder(): string {
  try {
    return process.cwd();
  } catch {
    throw new UsageError([
      'The folder ralph was started in no longer exists; change to another folder.',
    ]);
  }
}

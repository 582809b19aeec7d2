import { readFile, stat } from 'node:fs/promises';
import { stateJson } from '../core/state-json.ts';
import type { StateStore } from '../loop/ports.ts';
import { exists, makeTaskFolder, moveToHistory, type TaskPaths } from './task-folder.ts';
import { errorCode, retryBusy, writeFileAtomic } from './write-file.ts';

/** What does not change during a run and lies beside the state. */
export interface TaskFiles {
  readonly prompt: Uint8Array;
  /** JSON texts. */
  readonly settings: string;
  readonly baseline: string;
}

/**
 * Keeps one task's state on disk. A write that fails is said once through `warn`; the loop goes on
 * without persistence, and every later save tries again.
 */
export async function createStateStore(
  paths: TaskPaths,
  files: TaskFiles,
  warn: (sentence: string) => void,
): Promise<StateStore> {
  let places = paths;
  let warned = false;

  const attempt = async (action: () => Promise<void>): Promise<void> => {
    try {
      await action();
    } catch (error) {
      if (warned) return;
      warned = true;
      const reason = error instanceof Error ? error.message : String(error);
      warn(`The state cannot be kept (${reason}). The loop goes on, but cannot be resumed.`);
    }
  };

  const prepare = async (): Promise<void> => {
    await makeTaskFolder(paths);
    await Promise.all([
      writeFileAtomic(`${paths.folder}/prompt.md`, files.prompt),
      writeFileAtomic(`${paths.folder}/settings.json`, files.settings),
      writeFileAtomic(`${paths.folder}/baseline.json`, files.baseline),
    ]);
  };

  await attempt(prepare);

  return {
    save: ({ task }) =>
      attempt(async () => {
        const json = stateJson(task);
        try {
          await writeFileAtomic(paths.stateFile, json);
        } catch (error) {
          // The folder may have been deleted under the running loop: make it anew.
          if (errorCode(error) !== 'ENOENT') throw error;
          await prepare();
          await writeFileAtomic(paths.stateFile, json);
        }
      }),
    archive: () =>
      attempt(async () => {
        await retireNamesake(paths);
        places = await retryBusy(() => moveToHistory(paths, taskName(paths)));
      }),
    places: () => ({ stateFile: places.stateFile, logDir: places.folder }),
  };
}

/** A completed task of the same name keeps its place in the history under its start time. */
async function retireNamesake(paths: TaskPaths): Promise<void> {
  const name = taskName(paths);
  const old: TaskPaths = {
    ...paths,
    stateFile: `${paths.history}/${name}.json`,
    folder: `${paths.history}/${name}`,
  };
  if ((await exists(old.stateFile)) || (await exists(old.folder))) {
    await moveToHistory(old, `${name}.${await startedAtOf(old.stateFile)}`);
  }
}

/**
 * Puts an older task of the same id into the history as `<id>.<started_at>`, so that a new run
 * starts afresh and nothing is lost. Resolves to whether there was one.
 */
export async function retirePrevious(paths: TaskPaths): Promise<boolean> {
  if (!(await exists(paths.stateFile)) && !(await exists(paths.folder))) return false;
  await moveToHistory(paths, `${taskName(paths)}.${await startedAtOf(paths.stateFile)}`);
  return true;
}

function taskName(paths: TaskPaths): string {
  return paths.stateFile.replace(/^.*\//, '').replace(/\.json$/, '');
}

/** The start time a state file gives, fit for a file name; the file's own time where it gives none. */
async function startedAtOf(stateFile: string): Promise<string> {
  let instant: string | undefined;
  try {
    const parsed: unknown = JSON.parse(await readFile(stateFile, 'utf8'));
    if (typeof parsed === 'object' && parsed !== null && 'started_at' in parsed) {
      instant = typeof parsed.started_at === 'string' ? parsed.started_at : undefined;
    }
  } catch {
    // Corrupt or gone: its time on disk will do.
  }
  instant ??=
    (await stat(stateFile).catch(() => null))?.mtime.toISOString() ?? new Date().toISOString();
  return instant.replace(/[^0-9A-Za-z.-]/g, '');
}

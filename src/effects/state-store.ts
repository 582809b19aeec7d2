import { existsSync } from 'node:fs';
import { readFile, rename, stat } from 'node:fs/promises';
import path from 'node:path';
import { stateJson } from '../core/state-json.ts';
import { SCHEMA_VERSION } from '../core/task-state.ts';
import { messageOf, StateTooNewError } from '../errors.ts';
import type { StateStore } from '../loop/ports.ts';
import { numberAt, parseObject, stringAt } from './json-fields.ts';
import { exists, makeTaskFolder, moveToHistory, type TaskPaths } from './task-folder.ts';
import { retryBusy, writeFileAtomic } from './write-file.ts';

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
      const reason = messageOf(error);
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
        // The folder may have been deleted under the running loop: make it anew.
        if (!existsSync(paths.folder)) await prepare();
        await writeFileAtomic(paths.stateFile, stateJson(task));
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
    stateFile: path.join(paths.history, `${name}.json`),
    folder: path.join(paths.history, name),
  };
  if (!(await exists(old.stateFile)) && !(await exists(old.folder))) return;
  const kept = await readKept(old.stateFile);
  const stamp = kept.kind === 'task' ? kept.startedAt : kept.modifiedAt;
  await moveToHistory(old, `${name}.${forFileName(stamp)}`);
}

/**
 * Puts an older task of the same id into the history as `<id>.<started_at>`, so that a new run starts
 * afresh and nothing is lost. A corrupt state is kept aside as `<id>.json.corrupt-<time>`. Resolves to
 * whether there was one; rejects with `StateTooNewError` for one that a newer ralph has written.
 */
export async function retirePrevious(paths: TaskPaths): Promise<boolean> {
  if (!(await exists(paths.stateFile)) && !(await exists(paths.folder))) return false;
  const kept = await readKept(paths.stateFile);
  if (kept.kind === 'too-new') throw new StateTooNewError(paths.stateFile, kept.version);
  if (kept.kind === 'corrupt') {
    await rename(paths.stateFile, `${paths.stateFile}.corrupt-${forFileName(kept.modifiedAt)}`);
  }
  const stamp = kept.kind === 'task' ? kept.startedAt : kept.modifiedAt;
  await moveToHistory(paths, `${taskName(paths)}.${forFileName(stamp)}`);
  return true;
}

function taskName(paths: TaskPaths): string {
  return path.basename(paths.stateFile, '.json');
}

/** What an older state file turns out to be. Instants are ISO strings. */
type Kept =
  | { readonly kind: 'task'; readonly startedAt: string }
  | { readonly kind: 'too-new'; readonly version: number; readonly modifiedAt: string }
  | { readonly kind: 'corrupt'; readonly modifiedAt: string }
  | { readonly kind: 'none'; readonly modifiedAt: string };

async function readKept(stateFile: string): Promise<Kept> {
  const stats = await stat(stateFile).catch(() => null);
  const modifiedAt = (stats?.mtime ?? new Date()).toISOString();
  if (stats === null) return { kind: 'none', modifiedAt };
  const state = parseObject(await readFile(stateFile, 'utf8').catch(() => ''));
  const version = state === null ? null : numberAt(state, 'schema_version');
  if (version !== null && version > SCHEMA_VERSION) return { kind: 'too-new', version, modifiedAt };
  const startedAt = state === null ? null : stringAt(state, 'started_at');
  return startedAt === null ? { kind: 'corrupt', modifiedAt } : { kind: 'task', startedAt };
}

function forFileName(instant: string): string {
  return instant.replace(/[^0-9A-Za-z.-]/g, '').slice(0, 40);
}

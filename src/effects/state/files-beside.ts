import { lstatSync, readFileSync } from 'node:fs';
import type { TaskState } from '../../core/task/task-state.ts';
import { replaceFile } from '../files/write-file.ts';
import { fileOf, type Seal } from '../trust/seal.ts';

/** The files beside a task's state file; they do not change during a run. */
export interface TaskFiles {
  readonly prompt: Uint8Array;
  /** A JSON text without the checksum that seals it, as in the following fields. */
  readonly settings: string;
  readonly baseline: string;
  /** Null if the task has no snapshots. */
  readonly gitSetup: string | null;
  /** A record of what the results of the checks depend on; null if the task has no checks. */
  readonly deciders: string | null;
}

/** A file beside the state file, as this process wrote it. */
export interface FileBeside {
  readonly path: string;
  /** Replaces the file atomically; it is durable once the returned function has resolved. */
  write(): Promise<() => Promise<void>>;
  /** Whether the content has changed since the last write, or the file is gone. */
  isChanged(): boolean;
}

export function filesBeside(
  folder: string,
  { prompt, settings, baseline, gitSetup, deciders }: TaskFiles,
  seal: Seal,
  task: Pick<TaskState, 'task_id' | 'started_at'>,
): readonly FileBeside[] {
  return [
    fileBeside(`${folder}/prompt.md`, prompt),
    fileBeside(`${folder}/settings.json`, seal.close(settings, fileOf('settings', task))),
    fileBeside(`${folder}/baseline.json`, seal.close(baseline, fileOf('baseline', task))),
    ...(gitSetup === null
      ? []
      : [fileBeside(`${folder}/git-setup.json`, seal.close(gitSetup, fileOf('git-setup', task)))]),
    ...(deciders === null
      ? []
      : [fileBeside(`${folder}/deciders.json`, seal.close(deciders, fileOf('deciders', task)))]),
  ];
}

function fileBeside(place: string, content: string | Uint8Array): FileBeside {
  let seen = '';
  return {
    path: place,
    async write() {
      const sync = await replaceFile(place, content);
      seen = fingerprint(place);
      return sync;
    },
    isChanged() {
      const now = fingerprint(place);
      if (now === seen) return false;
      // A backup may change only the file's times, so its content decides.
      if (!holds(place, Buffer.from(content))) return true;
      seen = now;
      return false;
    },
  };
}

function holds(place: string, content: Buffer): boolean {
  const stats = lstatSync(place, { throwIfNoEntry: false });
  // Reading a pipe would never end.
  if (stats?.isFile() !== true || stats.size !== content.length) return false;
  return content.equals(readFileSync(place));
}

export function changedByAnother(file: string): string {
  return `${file} was edited during the run; ralph has overwritten it.`;
}

/** Returns a text that changes whenever a program writes the file; empty if the file is gone. */
export function fingerprint(file: string): string {
  const stats = lstatSync(file, { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? '' : `${stats.ino} ${stats.size} ${stats.mtimeNs} ${stats.ctimeNs}`;
}

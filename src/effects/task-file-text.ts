import { createHash } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { isTaskId } from '../core/task-id.ts';

/** A file that is a task: its text is the prompt. */
export interface TaskFileText {
  /** Absolute. */
  readonly file: string;
  readonly text: Uint8Array;
  /** The id of the task that it is. */
  readonly taskId: string;
}

/** Reads a task file, looked up in the vault first; null where there is none. Throws the system's error. */
export function readTaskFile(name: string, vault: string): TaskFileText | null {
  const inVault = path.resolve(vault, name);
  const file = existsSync(inVault) ? inVault : path.resolve(name);
  if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true) return null;
  return { file, text: readFileSync(file), taskId: taskIdOf(file) };
}

/** The file's stem; other characters become `_`, and then six hex digits tell it from its like. */
function taskIdOf(file: string): string {
  const stem = path.basename(file, path.extname(file));
  if (isTaskId(stem)) return stem;
  const plain = stem.replace(/[^A-Za-z0-9._-]/g, '_').replace(/^[.-]/, '_');
  const hash = createHash('sha256').update(stem).digest('hex').slice(0, 6);
  return `${plain.slice(0, 120)}_${hash}`;
}

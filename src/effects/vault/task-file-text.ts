import { existsSync } from 'node:fs';
import path from 'node:path';
import { readTextWithin } from '../files/bounded-read.ts';
import {
  splitFrontMatter,
  TASK_FILE_MAX_BYTES,
  taskFileProblem,
  taskFilePrompt,
  taskIdOfFile,
} from './task-file.ts';

/** A file of the vault that is a task, as it was read. */
export interface TaskFileRead {
  /** Absolute. */
  readonly file: string;
  /** What it says, without its front matter. */
  readonly body: string;
  /** The same as the prompt of an agent, if one goes on with the task. */
  readonly prompt: string;
  /** The id of the task that it is. */
  readonly taskId: string;
}

/** Reads a task file, looked up in the vault first; null where there is none, or what is wrong with it. */
export function readTaskFile(
  name: string,
  vault: string,
): TaskFileRead | { readonly problem: string } | null {
  const inVault = path.resolve(vault, name);
  const file = existsSync(inVault) ? inVault : path.resolve(name);
  if (!existsSync(file)) return null;
  const problem = taskFileProblem(file, vault);
  if (problem !== null) return { problem };
  const { body } = splitFrontMatter(readTextWithin(file, TASK_FILE_MAX_BYTES));
  const prompt = taskFilePrompt(path.basename(file), body, true);
  return { file, body, prompt, taskId: taskIdOfFile(file) };
}

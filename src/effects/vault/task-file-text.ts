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

/** A task file of the vault. */
export interface TaskFileRead {
  /** Absolute. */
  readonly file: string;
  /** The text without its front matter. */
  readonly body: string;
  /** The prompt if an agent continues the task. */
  readonly prompt: string;
  readonly taskId: string;
}

/** Reads a task file, searched for in the vault first. Returns null if there is none, or its problem. */
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
  const prompt = taskFilePrompt(path.basename(file), body, { expandsAtPaths: true });
  return { file, body, prompt, taskId: taskIdOfFile(file) };
}

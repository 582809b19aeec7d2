import { existsSync, lstatSync, promises, utimesSync } from 'node:fs';
import path from 'node:path';
import { isTaskId } from '../../core/task/task-id.ts';
import { type MaterialRules, materialBlock, materialLine } from '../../core/text/untrusted-text.ts';
import { messageOf, UsageError } from '../../errors.ts';
import { MB, readTextWithin, tryReadText } from '../files/bounded-read.ts';
import { sha256Of } from '../files/file-hash.ts';
import { isThere } from '../files/file-kinds.ts';
import { isInside, isSamePlace, leadsOut, realPath } from '../files/real-path.ts';
import { errorCode, makePrivateFolder, NO_HARD_LINKS, retryBusy } from '../files/write-file.ts';
import { IN_PROGRESS } from './vault-folders.ts';

interface TaskFileText {
  /** The text between the `---` lines at the top; null if there are no such lines. */
  readonly frontMatter: string | null;
  readonly body: string;
}

/** Splits a text into its YAML front matter and the rest. */
export function splitFrontMatter(text: string): TaskFileText {
  const [, frontMatter, body] =
    /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)^---[ \t]*(?:\r?\n|$)([\s\S]*)$/m.exec(text) ?? [];
  const isAtTop = /^\uFEFF?---[ \t]*\r?\n/.test(text);
  return isAtTop && frontMatter !== undefined
    ? { frontMatter, body: body ?? '' }
    : { frontMatter: null, body: text };
}

/** The limit leaves room for front matter above the longest permitted text (1 MB). */
export const TASK_FILE_MAX_BYTES = 2 * MB;

/** Returns why a file cannot be a task file, as a verb phrase; null if it can. Does not follow symbolic links. */
export function taskFileProblem(file: string, vault: string): string | null {
  try {
    const stats = lstatSync(file);
    if (!stats.isFile()) return 'is no regular file';
    if (!isInside(realPath(vault), realPath(file))) return `does not lie in the vault ${vault}`;
    if (stats.size > TASK_FILE_MAX_BYTES) return 'is over 2 MB';
    readTextWithin(file, TASK_FILE_MAX_BYTES);
    return null;
  } catch (error) {
    return errorCode(error) === 'ENOENT' ? 'is not there' : `cannot be read: ${messageOf(error)}`;
  }
}

/** Reads a task file from the vault or, if that fails, from `cwd`. Returns null if both fail. */
export function readTaskText(name: string, vault: string, cwd: string): string | null {
  const textIn = (folder: string) => tryReadText(path.resolve(folder, name), TASK_FILE_MAX_BYTES);
  return textIn(vault) ?? textIn(cwd);
}

interface TaskFile {
  readonly file: string;
  /** The text without its front matter. */
  readonly body: string;
  /** The prompt for an agent that continues the task. */
  readonly prompt: string;
  readonly taskId: string;
}

/**
 * Reads a task file from the vault or, if it is not there, from the working directory. Returns null if it does not
 * exist, and a problem (a verb phrase) if it cannot be a task file.
 */
export function readTaskFile(
  name: string,
  vault: string,
): TaskFile | { readonly problem: string } | null {
  const inVault = path.resolve(vault, name);
  const file = existsSync(inVault) ? inVault : path.resolve(name);
  if (!existsSync(file)) return null;
  const problem = taskFileProblem(file, vault);
  if (problem !== null) return { problem };
  const { body } = splitFrontMatter(readTextWithin(file, TASK_FILE_MAX_BYTES));
  const prompt = taskFilePrompt(path.basename(file), body, { expandsAtPaths: true });
  return { file, body, prompt, taskId: taskIdOfFile(file) };
}

/** Returns the file's name without extension as a task id. In an invalid id, replaces characters and adds a hash. */
export function taskIdOfFile(file: string): string {
  const stem = path.parse(file).name;
  if (isTaskId(stem)) return stem;
  const hash = sha256Of(stem).slice(0, 6);
  const plain = stem
    .replace(/[^A-Za-z0-9._-]/g, '_')
    .replace(/^[.-]+/, '')
    .slice(0, 100);
  return plain === '' ? `task_${hash}` : `${plain}_${hash}`;
}

/** Returns a prompt that asks for the work in a task file. The file's text grants no permissions. */
export function taskFilePrompt(name: string, body: string, rules: MaterialRules): string {
  const title = `the task file ${materialLine(name, rules)}`;
  const block = materialBlock(title, body, rules, 'work');
  return `Do the work that this task file describes.\n\n${block}\n`;
}

/**
 * Moves a file into a folder of the vault. Never overwrites a file: if the name is taken, the new name is `name-2.md`
 * and so on. Resolves to the new path. Rejects with the system's error, or if the folder is a link out of the vault.
 */
export async function moveWithin(vault: string, file: string, folderName: string): Promise<string> {
  const folder = path.join(vault, folderName);
  if (leadsOut(folder, vault)) throw new Error(`${folder} leads out of the vault`);
  await retryBusy(async () => makePrivateFolder(folder));
  const { name, ext } = path.parse(file);
  for (let number = 1; ; number += 1) {
    const target = path.join(folder, number === 1 ? `${name}${ext}` : `${name}-${number}${ext}`);
    if (await movedTo(file, target)) return target;
  }
}

/**
 * Moves a file; resolves to false if the target exists. Uses a hard link, because that fails if the target
 * exists, while a rename would replace it.
 */
async function movedTo(file: string, target: string): Promise<boolean> {
  try {
    await promises.link(file, target);
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return finishedMove(file, target);
    if (!NO_HARD_LINKS.has(errorCode(error))) throw error;
    // The file system has no hard links.
    if (isThere(target)) return false;
    await retryBusy(() => promises.rename(file, target));
    return true;
  }
  await promises.unlink(file);
  return true;
}

/** Removes the old name if a process died after linking the new one; false if `target` is a different file. */
async function finishedMove(file: string, target: string): Promise<boolean> {
  if (isSamePlace(file, target)) return true;
  const [one, other] = [lstatSync(file, { bigint: true }), lstatSync(target, { bigint: true })];
  if (one.ino !== other.ino || one.dev !== other.dev) return false;
  await promises.unlink(file);
  return true;
}

/** Returns why a task file cannot be moved to `In_Progress`, as a clause; null if it can be moved. */
export function intoWorkProblem(vault: string, file: string): string | null {
  const folder = path.join(vault, IN_PROGRESS);
  if (leadsOut(folder, vault)) return `${folder} is a link that leads out of the vault`;
  const target = path.join(folder, path.basename(file));
  try {
    const there = lstatSync(target, { throwIfNoEntry: false, bigint: true });
    if (there === undefined) return null;
    const own = lstatSync(file, { bigint: true });
    const isOwn = there.ino === own.ino && there.dev === own.dev;
    return isOwn ? null : `${target} is there already, and no file is moved over another`;
  } catch (error) {
    return messageOf(error);
  }
}

/**
 * Moves a task file to `In_Progress` and sets its timestamps to the current time. Resolves to the new
 * path. Rejects with a `UsageError` if the file cannot be moved.
 */
export async function takeIntoWork(vault: string, file: string): Promise<string> {
  const target = path.join(vault, IN_PROGRESS, path.basename(file));
  try {
    const problem = intoWorkProblem(vault, file);
    if (problem !== null) throw new Error(problem);
    await retryBusy(async () => makePrivateFolder(path.dirname(target)));
    if (!(await movedTo(file, target))) throw new Error(`${target} is there already`);
  } catch (error) {
    const why = messageOf(error);
    throw new UsageError([`The task file ${file} cannot be taken into work: ${why}.`]);
  }
  try {
    const now = new Date();
    utimesSync(target, now, now);
  } catch {
    // The file belongs to another user. Its old timestamps do no harm.
  }
  return target;
}

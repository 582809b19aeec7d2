import { createHash } from 'node:crypto';
import { existsSync, lstatSync, promises, realpathSync, statSync, utimesSync } from 'node:fs';
import path from 'node:path';
import { isTaskId } from '../../core/task/task-id.ts';
import { type MaterialRules, materialBlock, materialLine } from '../../core/text/untrusted-text.ts';
import { messageOf, UsageError } from '../../errors.ts';
import { MB, readTextWithin } from '../files/bounded-read.ts';
import { leadsOut } from '../files/real-path.ts';
import { errorCode, makePrivateFolder, retryBusy } from '../files/write-file.ts';

export const IN_PROGRESS = 'In_Progress';

export interface TaskFileText {
  /** The text between the `---` lines at the top; null if there are none. */
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

/** More than the longest permitted text with its front matter. */
export const TASK_FILE_MAX_BYTES = 2 * MB;

/** Returns why a file cannot be a task file, as a verb phrase; null if it can. Does not follow links. */
export function taskFileProblem(file: string, vault: string): string | null {
  try {
    const stats = lstatSync(file);
    if (!stats.isFile()) return 'is no regular file';
    const real = realpathSync(file);
    const root = realpathSync(vault);
    if (!real.startsWith(`${root}${path.sep}`)) return `does not lie in the vault ${vault}`;
    if (stats.size > TASK_FILE_MAX_BYTES) return 'is over 1 MB';
    readTextWithin(file, TASK_FILE_MAX_BYTES);
    return null;
  } catch (error) {
    return errorCode(error) === 'ENOENT' ? 'is not there' : `cannot be read: ${messageOf(error)}`;
  }
}

/** Returns the text of a task file, searched for in the vault first; null if none is readable. */
export function readTaskText(name: string, vault: string, cwd: string): string | null {
  for (const folder of [vault, cwd]) {
    const file = path.resolve(folder, name);
    try {
      const stats = statSync(file);
      // Reading a pipe would never end.
      if (!stats.isFile() || stats.size > TASK_FILE_MAX_BYTES) return null;
      return readTextWithin(file, TASK_FILE_MAX_BYTES);
    } catch {
      // A missing file is reported by `planRun`.
    }
  }
  return null;
}

/** Returns the task id for a file: its stem, with a hash if the stem is not a valid id. */
export function taskIdOfFile(file: string): string {
  const stem = path.parse(file).name;
  if (isTaskId(stem)) return stem;
  const hash = createHash('sha256').update(stem).digest('hex').slice(0, 6);
  const plain = stem
    .replace(/[^A-Za-z0-9._-]/g, '_')
    .replace(/^[.-]+/, '')
    .slice(0, 100);
  return plain === '' ? `task_${hash}` : `${plain}_${hash}`;
}

/** Returns the prompt for a task file: its text is the work to do, and grants no further permissions. */
export function taskFilePrompt(name: string, body: string, rules: MaterialRules): string {
  const title = `the task file ${materialLine(name, rules)}`;
  const block = materialBlock(title, body, rules, 'work');
  return `Do the work that this task file describes.\n\n${block}\n`;
}

/**
 * Moves a file of the vault into one of its folders, under its own name or, if that is taken, `name-2.md`
 * and so on; never overwrites a file. Resolves to the new path. Rejects with the system's error, or with
 * an error if the folder leads out of the vault.
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

/** Returns false if the target exists. A hard link fails then, while a rename would replace the target. */
async function movedTo(file: string, target: string): Promise<boolean> {
  try {
    await promises.link(file, target);
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return finishedMove(file, target);
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'].includes(errorCode(error))) {
      throw error;
    }
    // A file system without hard links.
    if (lstatSync(target, { throwIfNoEntry: false }) !== undefined) return false;
    await retryBusy(() => promises.rename(file, target));
    return true;
  }
  await promises.unlink(file);
  return true;
}

/** A process that died between link and removal has left the file under both names. */
async function finishedMove(file: string, target: string): Promise<boolean> {
  if (isSamePlace(file, target)) return true;
  const [one, other] = [lstatSync(file, { bigint: true }), lstatSync(target, { bigint: true })];
  if (one.ino !== other.ino || one.dev !== other.dev) return false;
  await promises.unlink(file);
  return true;
}

/** Whether both paths lead to the same place, perhaps through a linked folder. */
function isSamePlace(file: string, target: string): boolean {
  try {
    return realpathSync(file) === realpathSync(target);
  } catch {
    return false;
  }
}

/** Returns why a task file cannot be moved to `In_Progress`, as a clause; null if it can. */
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
 * Moves a task file to `In_Progress` and gives it a fresh timestamp. Rejects with a `UsageError` if it
 * cannot be moved.
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
  touch(target);
  return target;
}

/** Lacking permission to change the timestamp is harmless. */
function touch(file: string): void {
  try {
    const now = new Date();
    utimesSync(file, now, now);
  } catch {
    // The file belongs to another user.
  }
}

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

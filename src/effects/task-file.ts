import { createHash } from 'node:crypto';
import { lstatSync, readFileSync, realpathSync, utimesSync } from 'node:fs';
import { link, rename, unlink } from 'node:fs/promises';
import path from 'node:path';
import { materialBlock } from '../core/material.ts';
import { isTaskId } from '../core/task-id.ts';
import { messageOf } from '../errors.ts';
import { leadsOut } from './vault-folders.ts';
import { errorCode, makePrivateFolder, retryBusy } from './write-file.ts';

export const IN_PROGRESS = 'In_Progress';

/** A task file as it was read. */
export interface TaskFileText {
  /** Between the `---` lines at its top; null where there are none. */
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

/** Why a file cannot be a task's, to follow its name; null if it can. Links are not followed. */
export function taskFileProblem(file: string, vault: string): string | null {
  try {
    const stats = lstatSync(file);
    if (!stats.isFile()) return 'is no regular file';
    const real = realpathSync(file);
    const root = realpathSync(vault);
    if (!real.startsWith(`${root}${path.sep}`)) return `does not lie in the vault ${vault}`;
    readFileSync(file);
    return null;
  } catch (error) {
    return errorCode(error) === 'ENOENT' ? 'is not there' : `cannot be read: ${messageOf(error)}`;
  }
}

/** The front matter of a task file, looked up in the vault first; null where there is none to read. */
export function readTaskFront(name: string, vault: string, cwd: string): string | null {
  for (const folder of [vault, cwd]) {
    try {
      return splitFrontMatter(readFileSync(path.resolve(folder, name), 'utf8')).frontMatter;
    } catch {
      // Not there: whether that is a mistake is judged with the plan.
    }
  }
  return null;
}

/** The id of a file's task: its stem, made fit to be one. */
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

/** The prompt of a task file: its text is the work to do, and widens nothing. */
export function taskFilePrompt(name: string, body: string, forClaude: boolean): string {
  const rules = { expandsAtPaths: forClaude };
  const block = materialBlock(`the task file ${name}`, body, rules, 'work');
  return `Do the work that this task file describes.\n\n${block}\n`;
}

/**
 * Moves a file of the vault into one of its folders by rename, under its own name or, where that is
 * taken, `name-2.md` and so on: never over another file. Resolves to where it is now; rejects with the
 * system's error, or for a folder that leads out of the vault.
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

/** A hard link fails where something stands; a rename would replace it. */
async function movedTo(file: string, target: string): Promise<boolean> {
  try {
    await link(file, target);
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'].includes(errorCode(error))) {
      throw error;
    }
    // A file system without hard links.
    if (lstatSync(target, { throwIfNoEntry: false }) !== undefined) return false;
    await retryBusy(() => rename(file, target));
    return true;
  }
  await unlink(file);
  return true;
}

/** Moves a task's file to where files that are worked on lie, as if it were new there. */
export async function takeIntoWork(vault: string, file: string): Promise<string> {
  const target = path.join(vault, IN_PROGRESS, path.basename(file));
  const now = new Date();
  if (path.resolve(file) !== target) {
    if (lstatSync(target, { throwIfNoEntry: false }) !== undefined) {
      throw new Error(`${target} is there already`);
    }
    await moveWithin(vault, file, IN_PROGRESS);
  }
  utimesSync(target, now, now);
  return target;
}

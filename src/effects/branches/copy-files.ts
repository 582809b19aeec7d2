import { constants, copyFileSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { isInside, realPath } from '../files/real-path.ts';
import { errorCode } from '../files/write-file.ts';
import { type Git, gitAt } from '../git/git.ts';
import { GitError } from '../git/git-error.ts';
import { ignoredAmong } from '../git/questions/index-files.ts';
import { asText, asTreePath } from '../git/tree-path.ts';
import { filesThatMatch } from '../workspace/file-marks.ts';

export interface CopyRequest {
  /** The absolute path of the folder to which the globs are relative. */
  readonly from: string;
  /** The folder in the other work tree that corresponds to `from`. It need not exist. */
  readonly to: string;
  /** The root of the other work tree. */
  readonly root: string;
  readonly globs: readonly string[];
  readonly git: Git;
  /** Whether ralph itself writes this file; such files are never copied. */
  readonly isOwn: (file: string) => boolean;
}

export interface Copied {
  /** The copied files, relative to `from`, sorted. Files that were there already are left out. */
  readonly copied: readonly string[];
  /** The globs for which there is nothing to copy: they match no regular file that git ignores. */
  readonly idle: readonly string[];
}

/**
 * Copies the files that match the globs, and that git ignores, into another work tree. Never overwrites a file, and
 * neither reads nor writes through a symbolic link, since git does not count files behind a link as ignored.
 */
export async function copyFiles(request: CopyRequest): Promise<Copied> {
  const { from, to, root, globs, git, isOwn } = request;
  const copied = new Set<string>();
  const idle: string[] = [];
  for (const glob of globs) {
    const found = await filesThatMatch([glob], { cwd: from, isOwn, dot: true });
    // If git ignores everything in the folder, it calls its own `.git` folder ignored, too.
    const names = found
      .map((file) => path.relative(from, file))
      .filter((name) => !name.startsWith('.git/'));
    const ignored = await ignoredOf(gitAt(git, from), names);
    if (ignored.length === 0) idle.push(glob);
    for (const name of ignored) {
      const target = path.join(to, name);
      if (isWithin(root, target) && copyNew(path.join(from, name), target)) copied.add(name);
    }
  }
  return { copied: [...copied].sort(), idle };
}

/** Whether a file's folder lies in the work tree once symbolic links are resolved. */
function isWithin(root: string, file: string): boolean {
  const [tree, folder] = [realPath(root), realPath(path.dirname(file))];
  return folder === tree || isInside(tree, folder);
}

/** Copies a file unless something is at the target, even a dangling symbolic link. Returns whether it was copied. */
function copyNew(source: string, target: string): boolean {
  try {
    mkdirSync(path.dirname(target), { recursive: true });
    copyFileSync(source, target, constants.COPYFILE_EXCL);
    return true;
  } catch (error) {
    // A file may be where a folder is needed.
    if (['EEXIST', 'ENOTDIR'].includes(errorCode(error))) return false;
    throw error;
  }
}

async function ignoredOf(git: Git, names: readonly string[]): Promise<readonly string[]> {
  if (names.length === 0) return [];
  try {
    return (await ignoredAmong(git, names.map(asTreePath))).map(asText);
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    if (names.length === 1) return [];
    // A name in a submodule, behind a symbolic link or outside the work tree makes git fail for all names. So git is
    // asked about each name by itself.
    const each: string[] = [];
    for (const name of names) each.push(...(await ignoredOf(git, [name])));
    return each;
  }
}

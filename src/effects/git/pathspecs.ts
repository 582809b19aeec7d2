import path from 'node:path';
import { isInside, realPath } from '../files/real-path.ts';
import type { TreePath } from './tree-path.ts';

/** Arguments that limit git to a part of a work tree: `--`, then what to include or exclude. Empty for all of it. */
export type Pathspecs = readonly string[];

/** Returns pathspecs for all of a work tree except for these folders, and for files that match one of the patterns. */
export function allBut(
  folders: readonly string[],
  root: string,
  globs: readonly string[] = [],
): Pathspecs {
  const inside = placesInside(folders, root).map(
    (folder) => `:(top,exclude,literal)${path.relative(root, folder)}`,
  );
  const excluded = [...new Set(inside), ...globs.map((glob) => `:(top,exclude,glob)${glob}`)];
  return excluded.length === 0 ? [] : ['--', ...excluded];
}

/** Returns pathspecs for just these paths, which are plain text; for all of the work tree if there are none. */
export function only(names: readonly string[]): Pathspecs {
  return names.length === 0 ? [] : ['--', ...names.map((name) => `:(top,literal)${name}`)];
}

/** For more paths than these, a listing of the whole index costs less. */
export const FEW_PATHS = 100;

/** Returns the paths if `only` can limit a listing to them; none, and so no limit, if they are too many or not plain ASCII. */
export function onlyFew(names: ReadonlySet<TreePath> | null): readonly string[] {
  if (names === null || names.size > FEW_PATHS) return [];
  const listed = [...names];
  const isPlain = listed.every((name) => /^[ -~]+$/.test(name));
  return isPlain ? listed : [];
}

/** Does what `only` does, for paths relative to the folder in which git runs. */
export function literally(names: readonly string[]): Pathspecs {
  return names.length === 0 ? [] : ['--', ...names.map((name) => `:(literal)${name}`)];
}

/** Returns the absolute paths of these folders, leaving out those that are not inside `root`. */
export function placesInside(folders: readonly string[], root: string): readonly string[] {
  return folders
    .flatMap((folder) => [
      // If the folder is a symbolic link, both the link and its target are listed.
      path.join(realPath(path.dirname(folder)), path.basename(folder)),
      realPath(folder),
    ])
    .filter((folder) => isInside(root, folder));
}

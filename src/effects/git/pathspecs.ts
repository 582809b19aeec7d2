import path from 'node:path';
import { isInside, realPath } from '../files/real-path.ts';

/** Words by which git takes some of a work tree: `--` and what counts or does not; none for all of it. */
export type Pathspecs = readonly string[];

/** Returns all of a work tree but these folders, and the files that match one of the patterns. */
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

/** Returns these paths and nothing else; all of the work tree if there are none. They are plain text. */
export function only(names: readonly string[]): Pathspecs {
  return names.length === 0 ? [] : ['--', ...names.map((name) => `:(top,literal)${name}`)];
}

/** The same from the folder in which git is. */
export function literally(names: readonly string[]): Pathspecs {
  return names.length === 0 ? [] : ['--', ...names.map((name) => `:(literal)${name}`)];
}

/** Returns the absolute paths below `root` that these folders have. */
export function placesInside(folders: readonly string[], root: string): readonly string[] {
  return folders
    .flatMap((folder) => [
      // If the folder is a link, both the link and its target are excluded.
      path.join(realPath(path.dirname(folder)), path.basename(folder)),
      realPath(folder),
    ])
    .filter((folder) => isInside(root, folder));
}

import {
  type DeciderSearch,
  type Deciders,
  searchForDeciders,
} from '../../core/proof/deciders/deciders.ts';
import { joined } from '../../core/proof/deciders/named-places.ts';
import { KB } from '../files/bounded-read.ts';
import type { PrivateGit } from '../git/private-git.ts';
import { asText, asTreePath, type TreePath } from '../git/tree-path.ts';
import { readEntries, sizesOf } from '../snapshots/tree-files.ts';

/*
 * Deciders are files that decide what checks say. Which further files they name is known only once they are read. So
 * the search is repeated with the files that it asked for, until it asks for no more.
 */

/** In bytes. A longer file cannot be a recipe, script or configuration, and is not followed. */
export const LONGEST_READ = 256 * KB;
/** The longest chain of files, such as Makefiles and scripts, that is followed. */
const MOST_ROUNDS = 8;
/** How many paths are looked at, at most. Many are guesses: a module's name with an ending that no file has. */
const MOST_PLACES = 20_000;

/** Reads files. The text is empty for a file that is not text or is too long, and null for a missing file. */
export type ReadFiles = (
  paths: readonly string[],
) => Promise<ReadonlyMap<string, string | null>> | ReadonlyMap<string, string | null>;

/** Finds deciders, and reads the files that name them. */
export async function searchAndRead(search: DeciderSearch, read: ReadFiles): Promise<Deciders> {
  const texts = new Map(search.texts);
  for (let round = 1; ; round += 1) {
    const { deciders, unread } = searchForDeciders({ ...search, texts });
    const wanted = unread.slice(0, Math.max(0, MOST_PLACES - texts.size));
    if (wanted.length === 0 || round > MOST_ROUNDS) return deciders;
    const found = await read(wanted);
    for (const path of wanted) texts.set(path, found.get(path) ?? null);
  }
}

/** Reads the files of a git tree by the paths that checks name. */
export interface TreeReader {
  readonly read: ReadFiles;
  /** Returns a path, each symbolic link of the tree that it passes through, and the path to which these lead. */
  readonly linked: (path: string) => readonly TreePath[];
}

/** More symbolic links in a tree, or in a chain of them, are not followed. */
const MOST_LINKS = 2000;
const LONGEST_CHAIN = 20;

/** Returns a reader of a git tree. `files` has each path with its mode and id. It rejects with a `GitError`, as do its reads. */
export async function treeReader(
  git: PrivateGit,
  files: ReadonlyMap<TreePath, string>,
): Promise<TreeReader> {
  const listed = [...files].filter(([, entry]) => entry.startsWith('120000 '));
  const links = listed.slice(0, MOST_LINKS);
  const contents = await readEntries(
    git,
    links.map(([, entry]) => entry),
  );
  const { root } = git.repository;
  const belowRoot = (path: string): string =>
    path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path;
  const targets = new Map(
    links.map(([path, entry]) => {
      const target = contents.get(entry)?.toString() ?? '';
      return [asText(path), belowRoot(joined(asText(path).replace(/\/?[^/]*$/, ''), target))];
    }),
  );
  const linked = (named: string): readonly TreePath[] => {
    const found = [belowRoot(named)];
    for (let path = found[0] ?? ''; targets.size > 0 && found.length < LONGEST_CHAIN; ) {
      const parts = path.split('/');
      const heads = parts.map((_, at) => parts.slice(0, at + 1).join('/'));
      const link = heads.find((head) => targets.has(head));
      if (link === undefined) break;
      path = joined(targets.get(link) ?? '', path.slice(link.length + 1));
      found.push(link, path);
    }
    return [...new Set(found)].map(asTreePath);
  };
  const entryOf = (path: string): string | null => files.get(linked(path).at(-1) ?? '') ?? null;
  return {
    linked,
    async read(paths) {
      const entries = new Map(paths.map((path) => [path, entryOf(path)]));
      const known = [...entries.values()].flatMap((entry) =>
        entry?.startsWith('100') === true ? [entry] : [],
      );
      const sizes = await sizesOf(git, known);
      const short = known.filter((entry) => (sizes.get(entry) ?? LONGEST_READ) < LONGEST_READ);
      const read = await readEntries(git, short);
      const textOf = (entry: string) => read.get(entry)?.toString() ?? '';
      return new Map(
        [...entries].map(([path, entry]) => [path, entry === null ? null : textOf(entry)]),
      );
    },
  };
}

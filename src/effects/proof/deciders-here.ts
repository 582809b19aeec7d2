import path from 'node:path';
import { isDeciderName } from '../../core/proof/decider-names.ts';
import { toolSection } from '../../core/proof/tool-section.ts';
import { findGitAbove } from '../files/find-git-above.ts';
import { isInside, realPath } from '../files/real-path.ts';
import { gitAt } from '../git/git.ts';
import { orNull } from '../git/git-error.ts';
import { gitWith } from '../git/open-repository.ts';
import { filesThatAre } from '../git/questions/index-files.ts';
import { asText, asTreePath, type TreePath } from '../git/tree-path.ts';
import {
  type FolderDeciders,
  type FolderOfChecks,
  markDeciders,
  readIn,
} from './folder-deciders.ts';
import { searchAndRead } from './search-deciders.ts';

/** Files on which the results of checks depend, sorted, relative to the folder of the checks. */
export interface DecidersNow {
  readonly watched: readonly string[];
  /** Files that checks run, but no snapshot has: git ignores them, or they are outside the work tree. */
  readonly unwatched: readonly string[];
}

/**
 * Returns the files on which the results of checks depend now. `known` is what the checks run, if that was just found.
 * Never rejects because something cannot be read.
 */
export async function decidersHere(
  place: FolderOfChecks,
  env: NodeJS.ProcessEnv,
  known: FolderDeciders | null,
): Promise<DecidersNow> {
  const { files, scripts } = known ?? (await markDeciders(place));
  const tree = await filesOfTree(place.cwd, env);
  const here = realPath(place.cwd);
  const isInTree = (file: string): boolean => {
    if (tree === null) return true;
    const named = path.resolve(here, file);
    // A folder of the path may be a link of the tree. Snapshots have the file by its other name then.
    const places = isInside(tree.root, named) ? [named, realPath(named)] : [];
    return places.some((each) => tree.names.has(asTreePath(path.relative(tree.root, each))));
  };
  const run = Object.keys(files).filter((file) => files[file] !== '');
  const names = [...run.filter(isInTree), ...scripts.map(({ file }) => file)];
  const byName = [...(tree?.names ?? [])]
    .filter((name) => isDeciderName(name) && toolSection(name, '') === null)
    .map((name) => path.relative(place.cwd, path.join(tree?.root ?? '', asText(name))));
  const search = { checks: [], texts: new Map<string, string | null>(), byName };
  const named = await searchAndRead(search, (paths) => readIn(place.cwd, paths));
  return {
    watched: [...new Set([...names, ...byName, ...named.files])].toSorted(),
    unwatched: run.filter((file) => !isInTree(file)).toSorted(),
  };
}

/** Returns the root of the work tree, and the files there that snapshots have; null outside git or if git fails. */
async function filesOfTree(
  cwd: string,
  env: NodeJS.ProcessEnv,
): Promise<{ readonly root: string; readonly names: ReadonlySet<TreePath> } | null> {
  const root = findGitAbove(cwd);
  if (root === null) return null;
  const names = await orNull(filesThatAre(gitAt(gitWith(env), root), 'not-ignored'));
  return names === null ? null : { root, names: new Set(names) };
}

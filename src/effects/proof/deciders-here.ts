import path from 'node:path';
import { isDeciderName } from '../../core/proof/decider-names.ts';
import { toolSection } from '../../core/proof/tool-section.ts';
import { findGitAbove } from '../files/find-git-above.ts';
import { gitAt } from '../git/git.ts';
import { orNull } from '../git/git-error.ts';
import { gitWith } from '../git/open-repository.ts';
import { filesThatAre } from '../git/questions/index-files.ts';
import { asText } from '../git/tree-path.ts';
import {
  type FolderDeciders,
  type FolderOfChecks,
  markDeciders,
  readIn,
} from './folder-deciders.ts';
import { searchAndRead } from './search-deciders.ts';

/**
 * Returns the files on which the results of checks depend now, sorted, relative to the folder. `known` is what the
 * checks run, if that was just found. Never rejects because something cannot be read.
 */
export async function decidersHere(
  place: FolderOfChecks,
  env: NodeJS.ProcessEnv,
  known: FolderDeciders | null,
): Promise<readonly string[]> {
  const { files, scripts } = known ?? (await markDeciders(place));
  const run = Object.keys(files).filter((file) => files[file] !== '');
  const names = new Set([...run, ...scripts.map(({ file }) => file)]);
  const byName = await decidersByName(place.cwd, env);
  const search = { checks: [], texts: new Map<string, string | null>(), byName };
  const named = await searchAndRead(search, (paths) => readIn(place.cwd, paths));
  return [...new Set([...names, ...byName, ...named.files])].toSorted();
}

async function decidersByName(cwd: string, env: NodeJS.ProcessEnv): Promise<readonly string[]> {
  const root = findGitAbove(cwd);
  if (root === null) return [];
  const names = await orNull(filesThatAre(gitAt(gitWith(env), root), 'not-ignored'));
  return (names ?? [])
    .filter((name) => isDeciderName(name) && toolSection(name, '') === null)
    .map((name) => path.relative(cwd, path.join(root, asText(name))));
}

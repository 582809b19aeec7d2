import { askGit, type Git } from '../call/git.ts';
import { outputOrNull } from '../call/git-command.ts';
import { type ListedSetting, readSettings } from '../listings.ts';
import { asText, type TreePath } from '../tree-path.ts';

/*
 * Reads git's settings. A failure of git counts as if no setting was set.
 */

/** Returns the value of a setting, as git prints it for this type; null if it is not set. */
export async function settingNow(
  git: Git,
  name: string,
  type?: 'bool' | 'path',
): Promise<string | null> {
  const how = type === undefined ? [] : [`--type=${type}`];
  const value = outputOrNull(await askGit(git, ['config', ...how, '--get', name]));
  return value === null ? null : asText(value).replace(/\n$/, '');
}

/** Returns the settings whose names match. Their values are paths, with `~` replaced by the home folder. */
export function pathsLike(git: Git, pattern: string): Promise<readonly ListedSetting[]> {
  return listed(git, 0, ['--type=path', '--get-regexp', pattern]);
}

/** A setting, and where git has it from. */
export interface FoundSetting extends ListedSetting {
  /** Such as `file:/home/me/.gitconfig`. */
  readonly origin: string;
}

/** Returns all settings, each with its origin. */
export async function settingsWithOrigins(git: Git): Promise<readonly FoundSetting[]> {
  const all = await listed(git, 1, ['--list', '--show-origin']);
  return all.map((setting) => ({ ...setting, origin: setting.columns[0] ?? '' }));
}

/** Returns the user's own settings, even those in files that the user's configuration includes. */
export async function usersSettings(git: Git): Promise<readonly FoundSetting[]> {
  const all = await listed(git, 2, ['--list', '--show-scope', '--show-origin', '--includes']);
  return all
    .filter(({ columns }) => columns[0] === 'global')
    .map((setting) => ({ ...setting, origin: setting.columns[1] ?? '' }));
}

async function listed(
  git: Git,
  columns: number,
  what: readonly string[],
): Promise<readonly ListedSetting[]> {
  const { output } = await askGit(git, ['config', '-z', ...what]);
  return readSettings(asText(output), columns);
}

/** Returns the names of the submodules in a tree by their paths; if `tree` is null, of those in the work tree. */
export async function submodulesIn(
  git: Git,
  tree: string | null,
): Promise<ReadonlyMap<TreePath, string>> {
  const place = tree === null ? ['--file', '.gitmodules'] : ['--blob', `${tree}:.gitmodules`];
  const pattern = '^submodule\\..*\\.path$';
  const { output } = await askGit(git, ['config', '-z', ...place, '--get-regexp', pattern]);
  const names = new Map<TreePath, string>();
  for (const { name, value } of readSettings(output)) {
    if (!names.has(value)) names.set(value, name.slice('submodule.'.length, -'.path'.length));
  }
  return names;
}

/** Returns the names and URLs of the remotes in the repository's own configuration, one character for each byte. */
export async function remoteUrls(
  git: Git,
): Promise<readonly { readonly name: string; readonly url: string }[]> {
  const pattern = '^remote\\..*\\.url$';
  const { output } = await askGit(git, ['config', '--local', '-z', '--get-regexp', pattern]);
  return readSettings(output).flatMap(({ name: key, value: url }) => {
    const [, name] = /^remote\.([\s\S]*)\.url$/.exec(key) ?? [];
    return name === undefined ? [] : [{ name, url }];
  });
}

/** Returns the folder of the hooks, wherever the configuration puts it; null if git fails. */
export async function hooksFolder(git: Git): Promise<string | null> {
  const named = outputOrNull(await askGit(git, ['rev-parse', '--git-path', 'hooks']));
  return named === null ? null : asText(named).replace(/\n$/, '');
}

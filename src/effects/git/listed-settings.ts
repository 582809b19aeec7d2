import path from 'node:path';
import { askGit, type Git } from './call/git.ts';
import { outputOrNull } from './call/git-command.ts';
import { type ListedSetting, readSettings } from './listings.ts';
import { asText } from './tree-path.ts';

const LIST_SETTINGS = ['config', '--list', '--show-scope', '-z'];

/** What git prints for the arguments `LIST_SETTINGS`, as latin1. */
export type ListedSettings = string;

/** Lists all settings, each with its scope; null if git fails, as it does before 2.26. */
export async function listSettings(git: Git): Promise<ListedSettings | null> {
  return outputOrNull(await askGit(git, LIST_SETTINGS));
}

/** Returns all listed settings as text; none if git could not list them. */
export function eachSetting(listed: ListedSettings | null): readonly ListedSetting[] {
  return readSettings(asText(listed ?? ''), 1);
}

/** Returns the last value of a setting, the one that git uses; null if it is not set. */
export function settingOf(listed: ListedSettings, wanted: string): string | null {
  return readSettings(listed, 1).findLast(({ name }) => name === wanted)?.value ?? null;
}

/** Returns the path in a setting, with `~` replaced; null if it is not set, undefined if only git can resolve it. */
export function pathOf(
  listed: ListedSettings,
  wanted: string,
  home?: string,
): string | null | undefined {
  const value = settingOf(listed, wanted);
  if (value === null) return null;
  const named = asText(value);
  if (named.startsWith('~/') && home) return path.join(home, named.slice(2));
  return /^[~%:]/.test(named) ? undefined : named;
}

import path from 'node:path';
import { askGit, type Git } from './call/git.ts';
import { outputOrNull } from './call/git-command.ts';
import { type ListedSetting, readSettings } from './listings.ts';
import { asText } from './tree-path.ts';

/** The words for git to list all its settings; the answer, as latin1, is a `ListedSettings`, each with its scope. */
const LIST_SETTINGS = ['config', '--list', '--show-scope', '-z'];

/** What git answers to `LIST_SETTINGS`. */
export type ListedSettings = string;

/** Lists all settings, each with its scope; null if git cannot list them so (before 2.26). */
export async function listSettings(git: Git): Promise<ListedSettings | null> {
  return outputOrNull(await askGit(git, LIST_SETTINGS));
}

/** Returns all of them, as text; none if git could not list them. */
export function eachSetting(listed: ListedSettings | null): readonly ListedSetting[] {
  return readSettings(asText(listed ?? ''), 1);
}

/** Returns the last value of a setting, which counts for git; null if it is not set. */
export function settingOf(listed: ListedSettings, wanted: string): string | null {
  return readSettings(listed, 1).findLast(({ name }) => name === wanted)?.value ?? null;
}

/**
 * Returns the path that a setting names, with the home folder put in; null if it is not set, and undefined where only
 * git can tell.
 */
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

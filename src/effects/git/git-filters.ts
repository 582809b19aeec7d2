import { lstatSync } from 'node:fs';
import path from 'node:path';
import { KB, readTextWithin } from '../files/bounded-read.ts';
import { upward } from '../files/upward.ts';
import { askGit, type Git } from './call/git.ts';
import { outputOrNull } from './call/git-command.ts';
import type { GitSetting } from './call/git-program.ts';
import { gitAt, withGitSettings } from './git.ts';
import { GitError, outputOf } from './git-error.ts';
import { gitFoldersAt } from './git-folders-at.ts';
import { readAttribute, readNames, readSettings } from './listings.ts';
import { asInput, asTreePath, type TreePath } from './tree-path.ts';

/*
 * A filter is a program, named in git's configuration, that converts a file's content into what git
 * stores. `git status` runs it for every file whose timestamps have changed. Filters in the user's
 * own configuration are trusted. Filters in the repository's configuration are not: an unpacked
 * archive can contain them, and an agent that may edit files but not run programs can write them.
 */

/** Only a git that accepts settings from environment variables reports this setting back. */
const SIGN: GitSetting = { name: 'filter.ralph-asks.required', value: 'false' };

const FILTERS = '^filter\\..*\\.(clean|smudge|process|required)$';
const MERGE_DRIVERS = '^merge\\..*\\.driver$';

/** Git's names for the origins of trusted settings; `command` means environment variables. */
const TRUSTED = new Set(['system', 'global', 'command']);

/**
 * Returns git settings that disable the filters which a repository configures itself. A filter that
 * the user has configured as well keeps the user's value. Returns null if the settings cannot be
 * determined, or if git (before 2.31) does not support settings from variables.
 */
export async function withoutOwnFilters(
  folder: string,
  git: Git,
): Promise<readonly GitSetting[] | null> {
  if (!mayHaveFilters(folder)) return [];
  return overrideOwn(folder, git, FILTERS);
}

/** Returns git in a folder, without filters that only its repository defines. Rejects with a `GitError`. */
export async function gitWithoutOwnFilters(git: Git, folder: string): Promise<Git> {
  const settings = await withoutOwnFilters(folder, git);
  if (settings === null) throw new GitError('git cannot tell which filters are configured');
  return withGitSettings(gitAt(git, folder), settings);
}

/**
 * Returns settings that replace the repository's own filters and merge drivers by the user's of the same name. If there
 * is none, a filter is off, and a merge leaves a conflict. Rejects with a `GitError` if git cannot list the settings.
 */
export async function withoutOwnPrograms(folder: string, git: Git): Promise<readonly GitSetting[]> {
  const settings = await overrideOwn(folder, git, `${FILTERS}|${MERGE_DRIVERS}`);
  if (settings !== null) return settings;
  throw new GitError('git cannot tell which filters and merge drivers are configured');
}

/**
 * Returns settings that override those of the repository whose names match `pattern`: with the user's value if there is
 * one, and else with a value that names no program of the repository. Returns null if git cannot tell which there are.
 */
async function overrideOwn(
  folder: string,
  git: Git,
  pattern: string,
): Promise<readonly GitSetting[] | null> {
  const question = ['config', '--show-scope', '-z', '--get-regexp', pattern];
  const asked = { cwd: folder, settings: [SIGN] };
  const output = outputOrNull(await askGit(git, question, asked));
  const answer = output === null ? null : asText(output);
  if (answer === null) return null;
  const trusted = new Map<string, string>();
  const own = new Set<string>();
  for (const { columns, name, value } of readSettings(answer, 1)) {
    if (TRUSTED.has(columns[0] ?? '')) trusted.set(name, value);
    else own.add(name);
  }
  if (!trusted.has(SIGN.name)) return null;
  // An empty value switches a filter off, and makes it optional. A merge driver is replaced by a command that
  // fails.
  const instead = (name: string): string => (name.startsWith('merge.') ? 'false' : '');
  return [...own].map((name) => ({ name, value: trusted.get(name) ?? instead(name) }));
}

/** Returns the names of the filters that define one of these steps, such as `clean|process`. */
export async function definedFilters(git: Git, steps: string): Promise<ReadonlySet<string>> {
  const pattern = `^filter\\..*\\.(${steps})$`;
  const { output } = await askGit(git, ['config', '-z', '--name-only', '--get-regexp', pattern]);
  return new Set(readNames(output).map((name) => name.replace(/^filter\.|\.[a-z]+$/g, '')));
}

/** Returns the paths to which one of the filters applies, each with the filter's name. Rejects with a `GitError`. */
export async function underFilters(
  git: Git,
  names: readonly TreePath[],
  filters: ReadonlySet<string>,
): Promise<ReadonlyMap<TreePath, string>> {
  if (filters.size === 0 || names.length === 0) return new Map();
  const asked = await askGit(git, ['check-attr', '-z', '--stdin', 'filter'], {
    input: asInput(names),
  });
  const attributes = readAttribute(outputOf(asked, 'git cannot read the attributes'));
  return new Map([...attributes].filter(([, filter]) => filters.has(filter)));
}

/** Returns those of the paths in a folder whose filter only the repository itself defines. */
export async function underOwnFilters(
  git: Git,
  folder: string,
  names: readonly TreePath[],
): Promise<readonly TreePath[]> {
  const off = (await withoutOwnPrograms(folder, git)).flatMap(({ name, value }) =>
    value === '' ? (/^filter\.(.*)\.(?:clean|process)$/s.exec(name)?.[1] ?? []) : [],
  );
  const filters = new Set(off.map(asTreePath));
  return [...(await underFilters(gitAt(git, folder), names, filters)).keys()];
}

/** Decodes latin1 output as UTF-8. Returns null if it is not UTF-8: node could not pass it on in a variable. */
function asText(output: string): string | null {
  const bytes = Buffer.from(output, 'latin1');
  const text = bytes.toString();
  return Buffer.from(text).equals(bytes) ? text : null;
}

/** A larger configuration file counts as one that may name filters. */
const CONFIG_MAX_BYTES = 64 * KB;

/** Whether a repository here or in any folder above may configure filters: git passes over a `.git` that is broken. */
function mayHaveFilters(folder: string): boolean {
  return upward(folder).some(
    // A bare repository has no `.git`: the folder itself contains HEAD.
    (each) => isThere(path.join(each, 'HEAD')) || mayBringFilters(path.join(each, '.git')),
  );
}

function mayBringFilters(place: string): boolean {
  if (!isThere(place)) return false;
  const folders = gitFoldersAt(place);
  if (folders === null) return true;
  try {
    return folders
      .flatMap((folder) => ['config', 'config.worktree'].map((name) => `${folder}/${name}`))
      .some((file) => isThere(file) && WORDS.test(readTextWithin(file, CONFIG_MAX_BYTES)));
  } catch {
    return true;
  }
}

/** A configuration without these words names no filter, and includes no file that could. */
const WORDS = /filter|include/i;

/** Whether anything is, or may be, at this path. A dangling symbolic link counts: git accepts such a link as HEAD. */
function isThere(file: string): boolean {
  try {
    return lstatSync(file, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true;
  }
}

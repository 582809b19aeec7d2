import { lstatSync } from 'node:fs';
import path from 'node:path';
import { KB, readTextWithin } from './bounded-read.ts';
import type { GitSetting, RunGit } from './git-command.ts';

/*
 * Filters turn what a file holds into what git keeps of it: each is a program, named in the configuration.
 * `git status` runs it for every file whose times have changed. Those of the user's own configuration
 * are his choice. Those of the repository are not: an unpacked archive brings them along, and an agent
 * that may edit files can write them, but not run programs.
 */

/** No filter's, and set by ralph: only a git that takes settings from variables tells of it. */
const SIGN: GitSetting = { name: 'filter.ralph-asks.required', value: 'false' };

const QUESTION = [
  'config',
  '--show-scope',
  '-z',
  '--get-regexp',
  '^filter\\..*\\.(clean|smudge|process|required)$',
];

/** Whose settings are the user's own; `command` are those of the variables. */
const TRUSTED = new Set(['system', 'global', 'command']);

/**
 * The settings that put the repository's own filters out of force in a folder; null where that cannot be
 * told, or this git knows no such settings (before 2.31). A filter that the user has set as well gets
 * his value back.
 */
export async function withoutOwnFilters(
  folder: string,
  git: RunGit,
): Promise<readonly GitSetting[] | null> {
  if (!mayHaveFilters(folder)) return [];
  const output = await git(folder, QUESTION, { settings: [SIGN] });
  const answer = output === null ? null : asText(output);
  if (answer === null) return null;
  const trusted = new Map<string, string>();
  const own = new Set<string>();
  for (const { scope, name, value } of readAnswer(answer)) {
    if (TRUSTED.has(scope)) trusted.set(name, value);
    else own.add(name);
  }
  if (!trusted.has(SIGN.name)) return null;
  // Empty means no program, and none that is required.
  return [...own].map((name) => ({ name, value: trusted.get(name) ?? '' }));
}

/** Null where a name or a value is no UTF-8: then no variable of ours can hold it. */
function asText(output: string): string | null {
  const bytes = Buffer.from(output, 'latin1');
  const text = bytes.toString();
  return Buffer.from(text).equals(bytes) ? text : null;
}

/** Of each setting its scope, its name and, behind a line break, its value; of one without a value only the name. */
function* readAnswer(answer: string) {
  const parts = answer.split('\0');
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const [scope = '', setting = ''] = [parts[at], parts[at + 1]];
    const end = setting.indexOf('\n');
    const name = end === -1 ? setting : setting.slice(0, end);
    // What has no value is true.
    yield { scope, name, value: end === -1 ? 'true' : setting.slice(end + 1) };
  }
}

/** Larger ones are not looked through: git is asked. */
const CONFIG_MAX_BYTES = 64 * KB;

/**
 * Whether a repository that git could find from here upward may have filters of its own. To look costs a
 * few calls, to ask git a process. All the way up, since git passes over a `.git` that is no repository.
 */
function mayHaveFilters(folder: string): boolean {
  const parent = path.dirname(folder);
  // A folder may be a repository itself, without a `.git`.
  const isBare = isThere(path.join(folder, 'HEAD'));
  if (isBare || mayBringFilters(path.join(folder, '.git'))) return true;
  return parent !== folder && mayHaveFilters(parent);
}

function mayBringFilters(place: string): boolean {
  if (!isThere(place)) return false;
  try {
    // A file or a link leads elsewhere, and so does a `commondir`.
    if (!lstatSync(place).isDirectory() || isThere(path.join(place, 'commondir'))) return true;
    return ['config', 'config.worktree']
      .map((name) => path.join(place, name))
      .some((file) => isThere(file) && WORDS.test(readTextWithin(file, CONFIG_MAX_BYTES)));
  } catch {
    return true;
  }
}

/** Without one of these a configuration names no filter, and no file that could. */
const WORDS = /filter|include/i;

/** A link that leads nowhere is there, too: git takes one for a HEAD. So is what cannot be looked at. */
function isThere(file: string): boolean {
  try {
    return lstatSync(file, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true;
  }
}

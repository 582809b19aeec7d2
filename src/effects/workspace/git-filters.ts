import { lstatSync } from 'node:fs';
import path from 'node:path';
import { KB, readTextWithin } from '../files/bounded-read.ts';
import type { GitSetting, RunGit } from './git-command.ts';

/*
 * Filters convert what a file holds into what git stores: each is a program, named in the
 * configuration. `git status` runs it for every file whose timestamps have changed. Filters in the
 * user's own configuration are the user's choice. Those of the repository are not: an unpacked
 * archive brings them along, and an agent that may edit files but not run programs can write them.
 */

/** A probe: only a git that accepts settings from variables reports it back. */
const SIGN: GitSetting = { name: 'filter.ralph-asks.required', value: 'false' };

const QUESTION = [
  'config',
  '--show-scope',
  '-z',
  '--get-regexp',
  '^filter\\..*\\.(clean|smudge|process|required)$',
];

/** Scopes of the user's own settings; `command` means those from variables. */
const TRUSTED = new Set(['system', 'global', 'command']);

/**
 * Returns the settings that disable the repository's own filters in a folder; null if they cannot
 * be determined, or this git does not support such settings (before 2.31). A filter that the user
 * has configured as well keeps the user's value.
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
  // An empty value means no program, and that none is required.
  return [...own].map((name) => ({ name, value: trusted.get(name) ?? '' }));
}

/** Returns null if a name or a value is not UTF-8: no variable could hold it. */
function asText(output: string): string | null {
  const bytes = Buffer.from(output, 'latin1');
  const text = bytes.toString();
  return Buffer.from(text).equals(bytes) ? text : null;
}

/** Each setting has a scope, a name and, after a line break, a value, which may be missing. */
function* readAnswer(answer: string) {
  const parts = answer.split('\0');
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const [scope = '', setting = ''] = [parts[at], parts[at + 1]];
    const end = setting.indexOf('\n');
    const name = end === -1 ? setting : setting.slice(0, end);
    // A setting without a value is true.
    yield { scope, name, value: end === -1 ? 'true' : setting.slice(end + 1) };
  }
}

/** Larger files are not searched; git is asked instead. */
const CONFIG_MAX_BYTES = 64 * KB;

/**
 * Whether a repository that git could find from here upward may have its own filters. This check
 * costs a few system calls, asking git a process. It goes all the way up, because git skips a
 * `.git` that is not a repository.
 */
function mayHaveFilters(folder: string): boolean {
  const parent = path.dirname(folder);
  // A folder may itself be a repository, without a `.git`.
  const isBare = isThere(path.join(folder, 'HEAD'));
  if (isBare || mayBringFilters(path.join(folder, '.git'))) return true;
  return parent !== folder && mayHaveFilters(parent);
}

function mayBringFilters(place: string): boolean {
  if (!isThere(place)) return false;
  try {
    // A file or a link points elsewhere, and so does a `commondir`.
    if (!lstatSync(place).isDirectory() || isThere(path.join(place, 'commondir'))) return true;
    return ['config', 'config.worktree']
      .map((name) => path.join(place, name))
      .some((file) => isThere(file) && WORDS.test(readTextWithin(file, CONFIG_MAX_BYTES)));
  } catch {
    return true;
  }
}

/** A configuration without these words names no filter, and includes no file that could. */
const WORDS = /filter|include/i;

/** A dangling link counts too, since git accepts one as HEAD; so does an unreadable entry. */
function isThere(file: string): boolean {
  try {
    return lstatSync(file, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true;
  }
}

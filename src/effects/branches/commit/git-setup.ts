import { lstatSync } from 'node:fs';
import path from 'node:path';
import { safeJson } from '../../../core/text/safe-json.ts';
import { MB, tryReadText } from '../../files/bounded-read.ts';
import { sha256Of, signOfContent } from '../../files/file-hash.ts';
import { namesIn } from '../../files/folder.ts';
import { objectAt, parseObject } from '../../files/json-fields.ts';
import { isInside } from '../../files/real-path.ts';
import type { Git } from '../../git/git.ts';
import { type ListedSettings, listSettings, pathOf } from '../../git/listed-settings.ts';
import { readSettings } from '../../git/listings.ts';
import { hooksFolder } from '../../git/questions/settings.ts';
import type { Repository } from '../../git/repository.ts';
import { asText } from '../../git/tree-path.ts';

/** What a commit may run or obey: hooks, filters, and each of git's settings, by name, with a hash of its content. */
export type GitSetup = Readonly<Record<string, string>>;

/**
 * Returns the setup of a repository; null if git cannot list its settings. `asUser` runs git as the user would, since
 * ralph's own calls ignore hooks. `known` are the settings if git has just listed them.
 */
export async function readGitSetup(
  repository: Repository,
  asUser: Git,
  known: ListedSettings | null = null,
): Promise<GitSetup | null> {
  const { root, gitDir, commonDir } = repository;
  const listed = known ?? (await listSettings(asUser));
  if (listed === null) return null;
  const named = pathOf(listed, 'core.hookspath');
  const hooks = named === undefined ? await hooksFolder(asUser) : '';
  if (hooks === null) return null;
  const settings = settingsIn(listed);
  const setup: Record<string, string> = {};
  for (const [key, values] of settings) setup[`${SETTING}${key}`] = sha256Of(values.join('\0'));
  const hookFolder = named ?? (hooks || path.join(commonDir, 'hooks'));
  for (const [what, files] of [
    ['the hook', filesIn(path.resolve(root, hookFolder))],
    ['the hook', programsIn(root, settings, /^hook\..*\.command$/s)],
    ['the filter', programsIn(root, settings, /^filter\..*\.(?:clean|smudge|process)$/s)],
    ['the file', [commonDir, gitDir].map((folder) => path.join(folder, 'info', 'attributes'))],
  ] as const) {
    for (const file of files) {
      const sign = signOf(file);
      if (sign !== null) setup[`${what} ${file}`] = sign;
    }
  }
  return setup;
}

/** Returns the text of `git-setup.json`, without its seal (a signature with the user's key). */
export function gitSetupJson(setup: GitSetup): string {
  return `${safeJson({ setup })}\n`;
}

/** Reads `git-setup.json` in a task's folder; null if it is missing or damaged. The caller has to check its seal. */
export function storedGitSetup(taskFolder: string): GitSetup | null {
  const text = tryReadText(path.join(taskFolder, 'git-setup.json'), MB);
  const setup = objectAt(parseObject(text ?? '') ?? {}, 'setup');
  if (setup === null) return null;
  // An earlier version noted settings that no longer count: they must not look removed.
  const counted = Object.entries(setup).filter(
    ([name]) => !name.startsWith(SETTING) || !ELSEWHERE.test(name.slice(SETTING.length)),
  );
  return Object.fromEntries(counted.map(([name, sign]) => [name, String(sign)]));
}

/** How the names of settings begin. */
const SETTING = "git's setting ";

/** Returns the names of the hooks, filters and settings that differ, sorted. */
export function changedSetup(before: GitSetup, now: GitSetup): readonly string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(now)]);
  return [...names].filter((name) => before[name] !== now[name]).sort();
}

/**
 * Returns the values of each setting with their scopes. Leaves out settings from environment variables, which only the
 * user sets, and settings that only say where to push, or how to fetch submodules, which `git push --set-upstream`
 * and `git submodule update --init` add.
 */
function settingsIn(listed: string): ReadonlyMap<string, readonly string[]> {
  const settings = new Map<string, string[]>();
  for (const { columns, name: key, value } of readSettings(listed, 1)) {
    const [scope] = columns;
    if (scope === 'command' || ELSEWHERE.test(key)) continue;
    const name = asText(key);
    settings.set(name, [...(settings.get(name) ?? []), `${scope} ${value}`]);
  }
  return settings;
}

const ELSEWHERE = /^branch\.|^submodule\..*\.(?:url|active|update)$/s;

/** Returns the files of the work tree that the commands in these settings name. */
function programsIn(
  root: string,
  settings: ReadonlyMap<string, readonly string[]>,
  ofCommand: RegExp,
): readonly string[] {
  return [...settings].flatMap(([key, values]) => {
    if (!ofCommand.test(key)) return [];
    const words = values.flatMap((value) => asText(value).split(/[\s'"]+/));
    const files = words.filter((word) => word !== '').map((word) => path.resolve(root, word));
    return files.filter((file) => isInside(root, file));
  });
}

function filesIn(folder: string): readonly string[] {
  return namesIn(folder)
    .filter((name) => !name.endsWith('.sample'))
    .map((name) => path.join(folder, name));
}

function signOf(file: string): string | null {
  const stats = lstatSync(file, { throwIfNoEntry: false });
  if (stats === undefined || stats.isDirectory()) return null;
  return `${stats.mode} ${signOfContent(file)}`;
}

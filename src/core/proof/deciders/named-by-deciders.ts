import { runsOf } from '../check-words.ts';
import { isDeciderName, isInstalled, isTestName } from '../decider-names.ts';
import { toolSection } from '../tool-section.ts';
import { importsIn, namedIn, pathsIn } from './named-files.ts';
import {
  folderOf,
  joined,
  type Packages,
  packagesIn,
  placesInPackage,
  possiblePaths,
} from './named-places.ts';
import { joinedLines } from './recipes.ts';
import { isPartOfChecks, isToolName } from './work-names.ts';

/*
 * Finds the files that deciders (files that decide the results of checks) name. A script that decides also runs and
 * imports the work, so of the files that it names only those count that look like a part of the checks.
 */

export interface DecidersThatName {
  /** Files that checks run. */
  readonly run: ReadonlySet<string>;
  /** Files that are known by their name to decide the results of checks. */
  readonly byName: readonly string[];
  /** The folder in which checks run. */
  readonly folder: string;
  readonly texts: ReadonlyMap<string, string | null>;
  /** Returns the text of a file; null if it does not exist or is not read yet. */
  readonly textOf: (path: string) => string | null;
}

const MOST_ASKED = 300;
const MOST_LINES = 2000;

/** Returns the existing files that deciders name, one step deep, or two through a package of the workspace. */
export function namedByDeciders({
  run,
  byName,
  folder,
  texts,
  textOf,
}: DecidersThatName): ReadonlySet<string> {
  // The packages are found only when needed, since most projects name no package of their own.
  let known: Packages | null = null;
  const packages = (): Packages => {
    known ??= packagesIn(texts);
    return known;
  };
  const found = new Set<string>();
  const add = (path: string): boolean => {
    if (isTestName(path) || isInstalled(path) || toolSection(path, '') !== null) return false;
    if (textOf(path) === null) return false;
    found.add(path);
    return true;
  };
  const addNamed = (path: string, isLast: boolean): void => {
    const text = textOf(path) ?? '';
    for (const name of namedIn(path, toolSection(path, text) ?? text)) {
      for (const place of possiblePaths(name, [folderOf(path), folder])) add(place);
      if (isLast) continue;
      for (const place of placesInPackage(name, packages())) if (add(place)) addNamed(place, true);
    }
  };
  for (const path of byName.slice(0, MOST_ASKED)) {
    addNamed(path, false);
    if (path.endsWith('.py'))
      for (const place of partsOf(path, textOf(path) ?? '', folder)) add(place);
  }
  for (const path of [...run].slice(0, MOST_ASKED)) {
    const text = textOf(path);
    if (text === null || isDeciderName(path)) continue;
    if (SETTINGS.test(path)) addNamed(path, false);
    for (const place of partsOf(path, text, folder)) add(place);
    for (const place of runByScript(path, text, folder)) add(place);
  }
  return found;
}

/** Returns where the files may lie that a program imports or names, if they look like a part of the checks. */
function partsOf(path: string, text: string, folder: string): readonly string[] {
  const folders = [folderOf(path), folder];
  const places = [
    ...importsIn(path, text).flatMap((name) => possiblePaths(name, [folderOf(path)])),
    ...pathsIn(path, text).flatMap((name) => folders.map((each) => joined(each, name))),
  ];
  return [...new Set(places)].filter(isToolName);
}

const SETTINGS = /\.(?:jsonc?|ya?ml|toml|ini|cfg|xml)$|(?:^|\/)\.\w+rc$/;
const SHELL_NAME = /(?:^|\/)[^./]+$|\.(?:sh|bash|zsh|ksh)$/;
/** Match a script's own folder: `"$(dirname "$0")"`, `$(cd "$(dirname "$0")" && pwd)`, `${BASH_SOURCE%/*}`. */
const DIRNAME = String.raw`\$\(dirname (?:-- )?"?\$\{?(?:0|BASH_SOURCE(?:\[0\])?)\}?"?\)`;
const OWN_FOLDER = new RegExp(
  String.raw`\$\(cd (?:-- )?"?${DIRNAME}"? ?(?:&&|;) ?pwd(?: -P)?\)|${DIRNAME}|\$\{(?:0|BASH_SOURCE(?:\[0\])?)%/\*\}`,
  'g',
);

/** Returns the files that a shell script runs, if they look like a part of the checks. */
function runByScript(path: string, text: string, folder: string): readonly string[] {
  const first = text.slice(0, 200).split('\n', 1).join('');
  if (!SHELL_NAME.test(path) || (first.startsWith('#!') && !/sh\b/.test(first))) return [];
  const own = folderOf(path);
  const placed = (base: string, name: string): string =>
    name === OWN || name.startsWith(`${OWN}/`)
      ? joined(own, name.slice(OWN.length + 1))
      : joined(base, name);
  const lines = joinedLines(text.replace(OWN_FOLDER, () => OWN)).slice(0, MOST_LINES);
  const runs = runsOf(lines);
  const named = runs.flatMap((run) => run.folders.map((each) => placed(folder, each)));
  const folders = [...new Set([folder, ...named, own])];
  return runs.flatMap((run, at) =>
    run.files
      .flatMap((file) => folders.map((each) => placed(each, file)))
      .filter((place) => isPartOfChecks(place, lines[at] ?? '')),
  );
}

/** Stands for the script's own folder while its lines are read. */
const OWN = './:own:';

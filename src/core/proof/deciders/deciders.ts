import { isObject } from '../../text/is-object.ts';
import { runsOf } from '../check-words.ts';
import { isInstalled, isTestName, isTestScript } from '../decider-names.ts';
import { fieldsOfJson, toolSection } from '../tool-section.ts';
import { namedByDeciders } from './named-by-deciders.ts';
import { folderOf, joined } from './named-places.ts';
import type { Recipe } from './recipes.ts';
import { recipesFor, taskFilesOf, type UsedTaskFile } from './task-files.ts';
import { isWork } from './work-names.ts';

interface DecidingScript {
  /** The path of the `package.json`, relative to the top of the work tree. */
  readonly file: string;
  readonly name: string;
  readonly line: string;
}

/** What decides the results of checks, as far as the words of the checks and scripts show. Each list is sorted. */
export interface Deciders {
  /** Files that checks may run, even if missing, relative to the top of the work tree or, if named so, absolute. */
  readonly files: readonly string[];
  readonly scripts: readonly DecidingScript[];
  /** Programs that are found on PATH. */
  readonly programs: readonly string[];
}

/** The short words with which package managers call a script. */
const SHORT_FOR = new Map([
  ['t', 'test'],
  ['tst', 'test'],
]);

/** The input of a search for deciders, which are what decides the results of checks. */
export interface DeciderSearch {
  readonly checks: readonly string[];
  /**
   * The texts, by path, of every `package.json` of the work tree and of the other files read so far. The text is empty
   * for a file that is not text, and null for a file that does not exist.
   */
  readonly texts: ReadonlyMap<string, string | null>;
  /** The folder in which checks run, relative to the top; empty for the top. */
  readonly folder?: string;
  /** Files that are known by their name to be deciders, and that may name others. */
  readonly byName?: readonly string[];
}

export interface DecidersFound {
  readonly deciders: Deciders;
  /** Files that may be deciders or lead to some, but whose texts were not given: the caller may read them. */
  readonly unread: readonly string[];
}

/** Lines still to be examined: a single command, or a recipe or script of several lines. */
interface OpenLines {
  readonly lines: readonly string[];
  readonly folder: string;
  /** Whether the lines are of a recipe. If so, some of what they run may be the work and not a part of the checks. */
  readonly isRecipe: boolean;
}

/**
 * Finds what checks run, also through scripts and recipes, and the files that those deciders name: one step deep, or
 * two through a package of the workspace. Leaves out the usual settings files of tools, which their names reveal.
 */
export function searchForDeciders({
  checks,
  texts,
  folder = '',
  byName = [],
}: DeciderSearch): DecidersFound {
  const all = [...texts].flatMap(([file, text]) =>
    text !== null && isPackageJson(file) ? scriptsIn(file, text) : [],
  );
  const files = new Set<string>();
  const programs = new Set<string>();
  const scripts = new Set<DecidingScript>();
  const recipes = new Set<Recipe>();
  const unread = new Set<string>();
  const textOf = (path: string): string | null => {
    const text = texts.get(path);
    if (text === undefined) unread.add(path);
    return text ?? null;
  };
  const taskFiles = new Map<string, UsedTaskFile | null>();
  const open: OpenLines[] = checks.map((line) => ({ lines: [line], folder, isRecipe: false }));
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const runs = runsOf(next.lines);
    const named = runs.flatMap((run) => run.folders);
    const folders = [next.folder, ...named.map((each) => joined(next.folder, each))];
    for (const [at, run] of runs.entries()) {
      const line = next.lines[at] ?? '';
      for (const path of run.files.flatMap((file) => folders.map((each) => joined(each, file))))
        if (mayDecide(path) && !(next.isRecipe && isWork(path, line))) files.add(path);
      for (const program of run.programs) programs.add(program);
      for (const script of scriptsNamed(run.words, all)) {
        if (scripts.has(script)) continue;
        scripts.add(script);
        open.push({ lines: [script.line], folder: folderOf(script.file), isRecipe: false });
      }
      for (const call of run.tasks) {
        const used = taskFilesOf(call, folders, { textOf, known: taskFiles });
        for (const path of used.flatMap((each) => each.paths))
          if (toolSection(path, '') === null) files.add(path);
        for (const { recipes: known, folder: home } of used)
          for (const recipe of recipesFor(call.tool, call.words, known)) {
            if (recipes.has(recipe)) continue;
            recipes.add(recipe);
            open.push({ lines: recipe.lines, folder: home, isRecipe: true });
          }
      }
    }
  }
  for (const path of namedByDeciders({ run: files, byName, folder, texts, textOf }))
    files.add(path);
  return {
    deciders: {
      files: [...files].toSorted(),
      scripts: [...scripts].toSorted((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1)),
      programs: [...programs].toSorted(),
    },
    unread: [...unread].toSorted(),
  };
}

/** Whether a file may be a decider: not a test, not installed, and without `..` at the start of its path. */
function mayDecide(path: string): boolean {
  const isTest = isTestName(path) && !isTestScript(path);
  return !isTest && !isInstalled(path) && !/^\.\.(?:\/|$)/.test(path);
}

function isPackageJson(path: string): boolean {
  return /(?:^|\/)package\.json$/i.test(path);
}

function orderOf({ file, name }: DecidingScript): string {
  return `${file}\n${name}`;
}

/** Whether a script is the one that npm writes when there is no test. */
export function isNoTest(line: string): boolean {
  return /^echo .*no test specified/.test(line);
}

/** Lists the scripts of a `package.json`, without the one that npm writes when there is no test. */
function scriptsIn(file: string, text: string): readonly DecidingScript[] {
  const scripts = fieldsOfJson(text)?.scripts;
  if (!isObject(scripts)) return [];
  return Object.entries(scripts).flatMap(([name, line]) =>
    typeof line !== 'string' || isNoTest(line) ? [] : [{ file, name, line }],
  );
}

/** More patterns than this, or patterns with more stars, are ignored, since matching them could take too long. */
const MOST_PATTERNS = 50;
const MOST_STARS = 2;

/** Finds the scripts that words name, and the `pre` and `post` scripts of each. */
function scriptsNamed(
  words: readonly string[],
  all: readonly DecidingScript[],
): readonly DecidingScript[] {
  const named = words.flatMap((word) => word.split(/\s+/)).map(nameIn);
  const exact = new Set(named);
  const patterns = [...exact].filter((name) => name.includes('*')).slice(0, MOST_PATTERNS);
  const tests = patterns.map(patternOf);
  const names = all
    .map(({ name }) => name)
    .filter((name) => exact.has(name) || tests.some((test) => test.test(name)));
  const wanted = new Set(names.flatMap((name) => [name, `pre${name}`, `post${name}`]));
  return all.filter(({ name }) => wanted.has(name));
}

/** Returns the script that a word names. `npm:test` of concurrently and `web#test` of turbo mean `test`. */
function nameIn(word: string): string {
  const name = word.replace(/^(?:npm|pnpm|yarn|bun|node):|^[^#]+#/, '');
  return SHORT_FOR.get(name) ?? name;
}

/** Turns a word such as `test:*`, as npm-run-all and concurrently take it, into a regular expression. */
function patternOf(word: string): RegExp {
  if (word.split(/\*+/).length > MOST_STARS + 1) return /^$/;
  const source = word
    .replace(/[.+?^${}()|[\]\\]/g, '\\$&')
    .replace(/\*+/g, (stars) => (stars.length > 1 ? '.*' : '[^:]*'));
  return new RegExp(`^${source}$`);
}

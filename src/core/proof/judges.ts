import { runOf } from './check-words.ts';
import { isInstalled, isTestName } from './judge-names.ts';
import { fieldsOfJson, isFields } from './tool-section.ts';

/** A line of a `package.json` that a check runs. */
interface JudgeScript {
  /** The path of the `package.json`, relative to the top of the work tree. */
  readonly file: string;
  readonly name: string;
  readonly line: string;
}

/** What decides what checks say, as far as their words and the scripts tell. Each list is in order. */
export interface Judges {
  /**
   * Files that checks may run: a file that is not there is none. Paths are relative to the top of the work
   * tree, or absolute where the check has them so.
   */
  readonly files: readonly string[];
  readonly scripts: readonly JudgeScript[];
  /** Programs to be found on PATH. */
  readonly programs: readonly string[];
}

/** The words by which package managers call a script without its name. */
const SHORT_FOR = new Map([
  ['t', 'test'],
  ['tst', 'test'],
]);

/**
 * Finds what checks run, through scripts, scripts of scripts and workspaces. `packageJsons` has the text of
 * every `package.json` of the work tree by its path; `folder` is the one that checks run in, relative to the
 * top, or empty. Files that decide by their name are none of this: see `isJudgeName`.
 */
export function judgesOf(
  checks: readonly string[],
  packageJsons: ReadonlyMap<string, string>,
  folder = '',
): Judges {
  const all = [...packageJsons].flatMap(([file, text]) => scriptsIn(file, text));
  const files = new Set<string>();
  const programs = new Set<string>();
  const scripts = new Set<JudgeScript>();
  const open = checks.map((line) => ({ line, folder }));
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const run = runOf(next.line);
    const folders = [next.folder, ...run.folders.map((each) => joined(next.folder, each))];
    for (const path of run.files.flatMap((file) => folders.map((each) => joined(each, file))))
      if (!isTestName(path) && !isInstalled(path) && !/^\.\.(?:\/|$)/.test(path)) files.add(path);
    for (const program of run.programs) programs.add(program);
    for (const script of scriptsNamed(run.words, all)) {
      if (scripts.has(script)) continue;
      scripts.add(script);
      open.push({ line: script.line, folder: script.file.replace(/\/?[^/]*$/, '') });
    }
  }
  return {
    files: [...files].toSorted(),
    scripts: [...scripts].toSorted((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1)),
    programs: [...programs].toSorted(),
  };
}

function orderOf({ file, name }: JudgeScript): string {
  return `${file}\n${name}`;
}

/** Whether a script is the one that npm writes when there is no test. */
export function isNoTest(line: string): boolean {
  return /^echo .*no test specified/.test(line);
}

/** Lists the scripts of a `package.json`, without the one that npm writes when there is no test. */
function scriptsIn(file: string, text: string): readonly JudgeScript[] {
  const scripts = fieldsOfJson(text)?.scripts;
  if (!isFields(scripts)) return [];
  return Object.entries(scripts).flatMap(([name, line]) =>
    typeof line !== 'string' || isNoTest(line) ? [] : [{ file, name, line }],
  );
}

/** More patterns, or more stars in one, than these are not looked at: matching them could take too long. */
const MOST_PATTERNS = 50;
const MOST_STARS = 2;

/** Finds the scripts that are named, each with those that run before and after it. */
function scriptsNamed(
  words: readonly string[],
  all: readonly JudgeScript[],
): readonly JudgeScript[] {
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

/** The script that a word names: `npm:test` of concurrently and `web#test` of turbo mean `test`. */
function nameIn(word: string): string {
  const name = word.replace(/^(?:npm|pnpm|yarn|bun|node):|^[^#]+#/, '');
  return SHORT_FOR.get(name) ?? name;
}

/** Turns `test:*`, as npm-run-all and concurrently have it, into a pattern. */
function patternOf(word: string): RegExp {
  if (word.split(/\*+/).length > MOST_STARS + 1) return /^$/;
  const source = word
    .replace(/[.+?^${}()|[\]\\]/g, '\\$&')
    .replace(/\*+/g, (stars) => (stars.length > 1 ? '.*' : '[^:]*'));
  return new RegExp(`^${source}$`);
}

/** Joins two paths, and takes `.` and `..` out of them as far as it can. */
function joined(folder: string, path: string): string {
  if (path.startsWith('/')) return path;
  const parts: string[] = folder.startsWith('/') ? [''] : [];
  for (const part of [...folder.split('/'), ...path.split('/')]) {
    if (part === '..' && parts.length > 0 && parts.at(-1) !== '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return parts.join('/');
}

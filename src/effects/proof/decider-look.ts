import { createHash } from 'node:crypto';
import { accepting } from '../../core/proof/accepted.ts';
import { isDeciderName, isInstalled, isTestName } from '../../core/proof/decider-names.ts';
import type { Deciders } from '../../core/proof/deciders/deciders.ts';
import { moduleSystemsOf } from '../../core/proof/deciders/module-system.ts';
import { packageAtStart, scriptLine } from '../../core/proof/deciders/package-at-start.ts';
import { isTsconfig, tsconfigAtStart } from '../../core/proof/deciders/tsconfig-at-start.ts';
import type { ChangedDecider, ChangedTestFile } from '../../core/proof/findings.ts';
import { toolSection } from '../../core/proof/tool-section.ts';
import { isRepository, type TreeEntry } from '../../core/snapshots/undo-plan.ts';
import type { PrivateGit } from '../git/private-git.ts';
import { writeBlob } from '../git/questions/objects.ts';
import { asText, asTreePath, type TreePath } from '../git/tree-path.ts';
import { listTree, readEntries } from '../snapshots/tree-files.ts';
import { compareTrees } from '../snapshots/trees.ts';
import { searchAndRead, treeReader } from './search-deciders.ts';

/*
 * Finds out which deciders (files and scripts that decide what checks say) have changed since the task's start
 * ("bent"). Exactly these are put back in the old exam, a second run of the checks with the files of the start. So
 * every change that is reported has been tried in that run.
 */

export interface ChecksOfTree {
  readonly git: PrivateGit;
  readonly checks: readonly string[];
  /** The folder that checks run in, relative to the top of the work tree, or empty. */
  readonly folder: string;
  /** Programs of the checks that are in the work tree, relative to its top; absent if there are none. */
  readonly programs?: readonly string[];
}

/** The deciders in one tree. */
export interface DecidersOfTree {
  readonly deciders: Deciders;
  /** The deciding files of the tree, sorted. */
  readonly files: readonly TreePath[];
  /** Whether any file or script decides what the checks say. If none does, the task itself makes the deciders. */
  readonly stands: boolean;
  readonly hasTests: boolean;
  /** The text of every `package.json`, by its path. */
  readonly packageJsons: ReadonlyMap<string, string>;
}

export interface DeciderLook {
  /** The changed deciders, sorted by path. Programs that PATH now finds elsewhere are not among them. */
  readonly bent: readonly ChangedDecider[];
  /** The entries that the old exam puts back for changed deciders and test files; null removes a path. */
  readonly undone: ReadonlyMap<TreePath, TreeEntry>;
  /** Test files that existed at the start and were changed or removed. */
  readonly changedTestFiles: readonly string[];
  /** Test files of the start that were changed or removed without a flag that accepts this. */
  readonly openTestFiles: readonly ChangedTestFile[];
  /** Test files that are new or changed. */
  readonly touchedTests: number;
  /** The entries of `undone` that are test files. */
  readonly undoneTests: ReadonlyMap<TreePath, TreeEntry>;
}

/** Finds the deciders of a tree. Rejects with a `GitError` if git fails. */
export async function findDeciders(
  { git, checks, folder, programs = [] }: ChecksOfTree,
  tree: string,
): Promise<DecidersOfTree> {
  const files = await listTree(git, tree);
  const shared = [...files].filter(([path, entry]) => isShared(path) && isPlain(entry));
  const contents = await readEntries(
    git,
    shared.map(([, entry]) => entry),
  );
  const texts = new Map(
    shared.map(([path, entry]) => [path, contents.get(entry)?.toString() ?? '']),
  );
  const packageJsons = new Map(
    [...texts].filter(([path]) => isPackageJson(path)).map(([path, text]) => [asText(path), text]),
  );
  const byName = [...files.keys()].filter(
    (path) =>
      isDeciderName(path) && (!isShared(path) || toolSection(path, texts.get(path) ?? '') !== ''),
  );
  const reader = await treeReader(git, files);
  const search = {
    ...{ checks, folder, byName: byName.map(asText) },
    texts: new Map([...texts].map(([path, text]) => [asText(path), text])),
  };
  const named = await searchAndRead(search, reader.read);
  const own = programs.filter((file) => !isInstalled(file));
  const led = search.byName.flatMap((path) => reader.linked(path).slice(1));
  const run = new Set([...[...named.files, ...own].flatMap((path) => reader.linked(path)), ...led]);
  const deciders = { ...named, files: [...run].map(asText).toSorted() };
  const scripted = new Set(deciders.scripts.map(({ file }) => asTreePath(file)));
  const decides = new Set([...run, ...scripted, ...byName]);
  const found = [...files.keys()].filter((path) => decides.has(path));
  const hasTests = [...files.keys()].some((path) => isTestName(path));
  return {
    deciders,
    files: found.toSorted(),
    stands: found.length > 0,
    hasTests,
    packageJsons,
  };
}

/** Returns the hashes of a tree's deciders, for the proof. Rejects with a `GitError` if git fails. */
export async function deciderDigests(
  git: PrivateGit,
  tree: string,
  files: readonly TreePath[],
): Promise<readonly { readonly name: string; readonly sha256: string }[]> {
  const listed = await listTree(git, tree);
  const entries = files.flatMap((name) => {
    const entry = listed.get(name) ?? null;
    return entry === null || isRepository(entry) ? [] : [{ name, entry }];
  });
  const contents = await readEntries(
    git,
    entries.map(({ entry }) => entry),
  );
  return entries.map(({ name, entry }) => ({
    name: asText(name),
    sha256: createHash('sha256')
      .update(contents.get(entry) ?? '')
      .digest('hex'),
  }));
}

export interface DeciderLookRequest extends Pick<ChecksOfTree, 'git' | 'folder'> {
  /** The tree at the start of the task; `atStart` are its deciders. */
  readonly start: string;
  readonly atStart: DecidersOfTree;
  readonly claimed: string;
  readonly acceptChanged: readonly string[];
  /** Whether removed test files are accepted. */
  readonly acceptFewer?: boolean;
}

/** Compares the claimed tree, which the agent says is done, with that of the start. Rejects with a `GitError`. */
export async function lookAtDeciders(request: DeciderLookRequest): Promise<DeciderLook> {
  const { git, folder, start, atStart, claimed, acceptChanged, acceptFewer } = request;
  const difference = await compareTrees(git, start, claimed);
  const paths = [...difference.keys()].toSorted();
  const contents = await readEntries(
    git,
    paths
      .filter((path) => isShared(path) || isTsconfig(path))
      .flatMap((path) => {
        const { from = null, to = null } = difference.get(path) ?? {};
        return [from, to].filter(isPlain);
      }),
  );
  const textOf = (entry: TreeEntry): string | null =>
    isPlain(entry) ? (contents.get(entry)?.toString() ?? '') : null;
  const written = async (text: string) => `100644 ${await writeBlob(git.own, text)}`;
  const packageJsons = new Map(atStart.packageJsons);
  for (const path of paths.filter(isPackageJson)) {
    const text = textOf(difference.get(path)?.to ?? null);
    if (text === null) packageJsons.delete(asText(path));
    else packageJsons.set(asText(path), text);
  }
  // What a changed script runs does not count, since the script itself is put back.
  const run = new Set(atStart.deciders.files.map(asTreePath));
  const isAccepted = accepting(acceptChanged, folder);
  const bent: ChangedDecider[] = [];
  const undone = new Map<TreePath, TreeEntry>();
  const undoneTests = new Map<TreePath, TreeEntry>();
  const changedTestFiles: string[] = [];
  let touchedTests = 0;
  const openTestFiles: ChangedTestFile[] = [];
  for (const path of paths) {
    const { from = null, to = null } = difference.get(path) ?? {};
    const name = asText(path);
    const isDecider = isDeciderName(path) || run.has(path);
    const isTest = !isDecider && isTestName(path);
    if (isTest && from !== null) changedTestFiles.push(name);
    if (isTest && to !== null) touchedTests += 1;
    if (isAccepted(name) || !(isDecider || isTest)) continue;
    const change = from === null ? 'new' : to === null ? 'removed' : 'changed';
    const file: ChangedDecider = { kind: 'file', path: name, change };
    const isReadable = isShared(path) && [from, to].every((each) => each === null || isPlain(each));
    if (isTest) {
      if (change === 'removed' && acceptFewer === true) continue;
      if (change !== 'new') openTestFiles.push({ path: name, change });
      undone.set(path, from);
      undoneTests.set(path, from);
    } else if (!isReadable || run.has(path)) {
      bent.push(file);
      const [was, is] = isTsconfig(path) ? [textOf(from), textOf(to)] : [null, null];
      const text = was === null || is === null ? null : tsconfigAtStart(is, was);
      undone.set(path, text === null ? from : await written(text));
    } else {
      const [was, is] = [textOf(from), textOf(to)];
      const isSectionBent = sectionOf(path, was) !== sectionOf(path, is);
      const lines = isPackageJson(path)
        ? bentScripts({ file: name, was, is, atStart })
        : new Map<string, string | null>();
      if (!isSectionBent && lines.size === 0) continue;
      if (isSectionBent) bent.push(file);
      for (const script of lines.keys()) bent.push({ kind: 'script', file: name, name: script });
      const isStray = was === null && lines.size > 0;
      const text =
        isPackageJson(path) && is !== null && !isStray ? packageAtStart(is, was, lines) : null;
      undone.set(path, text === null ? from : await written(text));
    }
  }
  const stood = [...undoneTests].flatMap(([path, entry]) => (entry === null ? [] : asText(path)));
  const systems = { atStart: atStart.packageJsons, claimed: packageJsons };
  for (const [name, text] of moduleSystemsOf(stood, systems)) {
    const entry = await written(text);
    for (const each of [undone, undoneTests]) each.set(asTreePath(name), entry);
  }
  return { bent, undone, undoneTests, changedTestFiles, openTestFiles, touchedTests };
}

interface ScriptQuestion {
  /** The path of the `package.json`; `was` and `is` are its texts at the start and now. */
  readonly file: string;
  readonly was: string | null;
  readonly is: string | null;
  readonly atStart: DecidersOfTree;
}

/**
 * Returns the scripts that checks run and that have changed, with their lines as they were at the start. A new script
 * is the task's own work, since no check could run it before. It still counts if it is a pre or post script of one that
 * existed, or if its `package.json` is new and hides the one of a folder above.
 */
function bentScripts({
  file,
  was,
  is,
  atStart,
}: ScriptQuestion): ReadonlyMap<string, string | null> {
  const isStray = was === null && isBelowAny(file, atStart.packageJsons);
  const { scripts } = atStart.deciders;
  const names = scripts.flatMap((each) => (isStray || each.file === file ? [each.name] : []));
  const around = names.flatMap((name) => [`post${name}`, `pre${name}`]);
  const lines = new Map<string, string | null>();
  for (const name of new Set([...names, ...around])) {
    const [before, now] = [scriptLine(was, name), scriptLine(is, name)];
    if (before === now) continue;
    const inner = /^(?:pre|post)(.+)$/.exec(name)?.[1];
    const isAround = inner !== undefined && scriptLine(was, inner) !== null;
    if (before !== null || isAround || isStray) lines.set(name, before);
  }
  return lines;
}

function isBelowAny(file: string, packageJsons: ReadonlyMap<string, string>): boolean {
  const folders = file.split('/').slice(0, -1);
  return folders.some((_, depth) =>
    packageJsons.has([...folders.slice(0, depth), 'package.json'].join('/')),
  );
}

function sectionOf(path: TreePath, text: string | null): string {
  return text === null ? '' : (toolSection(path, text) ?? '');
}

/** Whether only a part of a deciding file decides, such as the settings of tools in `package.json`. */
function isShared(path: TreePath): boolean {
  return isDeciderName(path) && toolSection(path, '') !== null;
}

function isPackageJson(path: TreePath): boolean {
  return /(?:^|\/)package\.json$/.test(path) && !isInstalled(path);
}

/** Whether an entry is a file, and neither a symbolic link nor a repository. */
function isPlain(entry: TreeEntry): entry is string {
  return entry?.startsWith('100') === true;
}

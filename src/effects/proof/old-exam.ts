import { appendFileSync, mkdirSync, rmdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { isJudgeName } from '../../core/proof/judge-names.ts';
import type { TreeEntry } from '../../core/snapshots/undo-plan.ts';
import type { AskGit } from '../branches/checkout.ts';
import { CheckoutError, reasonOf } from '../branches/checkout.ts';
import { type FreshCheckout, makeFreshCheckout } from '../branches/fresh-checkout.ts';
import { isInside, realPath } from '../files/real-path.ts';
import type { PrivateGit } from '../snapshots/private-git.ts';
import type { TreePath } from '../snapshots/tree-changes.ts';
import { type CheckPlace, placeIn } from './check-place.ts';
import { IGNORED } from './ignored-judges.ts';
import type { JudgeLook } from './judge-look.ts';
import { asText, listTree } from './tree-files.ts';

/*
 * The old exam: the claimed tree, with judge files and test files as they were at the start. What git
 * ignores, and what no snapshot has, is linked in. A link is quick, whatever is behind it, but what a check writes through it is
 * written in the work tree, as it is when the check runs there: `rm -rf dist` takes away the link alone,
 * `rm -rf dist/*` the user's files.
 */

export interface OldExamRequest<T> {
  readonly git: PrivateGit;
  readonly ask: AskGit;
  /** Absolute path of the checkout. */
  readonly folder: string;
  /** The commit of HEAD in the work tree; null before the first one. */
  readonly head: string | null;
  readonly claimed: string;
  readonly undone: JudgeLook['undone'];
  /** The folder that checks run in, relative to the root of the work tree, or empty. */
  readonly below: string;
  /** Ignored judge files that are what they were at the start, relative to the root. */
  readonly asAtStart?: ReadonlySet<string>;
  /** Whether ralph itself writes this file; such files are not linked in. */
  readonly isOwn: (file: string) => boolean;
  /** Runs the checks. */
  readonly check: (place: CheckPlace) => Promise<T>;
}

/**
 * Has the checks run in the old exam, and removes it. Rejects with a `CheckoutError`, a `SnapshotError` or
 * the system's error if it cannot be made.
 */
export async function sitOldExam<T>(request: OldExamRequest<T>): Promise<T> {
  const { git, ask, folder, head, claimed, undone, below, check } = request;
  const changes = new Map<TreePath, TreeEntry>();
  for (const [name, how] of undone) if (how.kind === 'entry') changes.set(name, how.entry);
  const checkout = await makeFreshCheckout({ git, ask, folder, head, tree: claimed, changes });
  try {
    for (const [name, how] of undone) {
      if (how.kind === 'text') writeText(checkout, name, how.text);
    }
    await linkIgnored(checkout, request);
    return await check(placeIn(checkout, below));
  } finally {
    checkout.remove();
  }
}

/** Writes a file anew: what the tree has there may be a link. */
function writeText({ folder }: FreshCheckout, name: TreePath, text: string): void {
  const place = path.join(folder, asText(name));
  rmSync(place, { force: true });
  writeFileSync(place, text);
}

const OTHERS = ['ls-files', '-z', '--others', '--exclude-standard'];

async function linkIgnored(
  { folder }: FreshCheckout,
  { git, ask, claimed, isOwn, asAtStart = new Set() }: OldExamRequest<unknown>,
): Promise<void> {
  const { root } = git.repository;
  const list = async (args: readonly string[]): Promise<readonly string[]> => {
    const answer = await ask(root, args);
    if (answer.exitCode !== 0) throw new CheckoutError(reasonOf(answer));
    return answer.output.split('\0').filter((name) => name !== '' && name !== './');
  };
  const tree = await listTree(git, claimed);
  // Files that are too large for a snapshot, or that the user keeps out of it.
  const leftOut = (await list(OTHERS)).filter((name) => !tree.has(name));
  // A judge that is in no snapshot cannot be put back.
  const linked = [...(await list(IGNORED)), ...leftOut].filter(
    (name) => !isJudgeName(name) || asAtStart.has(asText(name)),
  );
  const submodules = [...tree].flatMap(([name, entry]) =>
    entry.startsWith('160000 ') ? [name] : [],
  );
  for (const name of [...linked, ...submodules].map((each) => asText(each).replace(/\/$/, ''))) {
    const target = path.join(root, name);
    if (isOwn(target) || isOwn(`${target}/`)) continue;
    if (linkNew(target, path.join(folder, name), folder)) {
      appendFileSync(path.join(folder, '.git', 'info', 'exclude'), `\n/${escaped(name)}\n`);
    }
  }
}

/** Links to a file or folder, unless something is there. Returns whether it did. */
function linkNew(target: string, place: string, root: string): boolean {
  try {
    mkdirSync(path.dirname(place), { recursive: true });
    const parent = realPath(path.dirname(place));
    // A link of the tree may lead out of it.
    if (parent !== realPath(root) && !isInside(realPath(root), parent)) return false;
    removeEmptyFolder(place);
    symlinkSync(target, place);
    return true;
  } catch {
    // The tree has a file there, or where a folder would be.
    return false;
  }
}

/** Git leaves an empty folder for a submodule. */
function removeEmptyFolder(place: string): void {
  try {
    rmdirSync(place);
  } catch {
    // There is none, or files are in it.
  }
}

/** A name as a pattern: a rule for folders alone does not fit a link. */
function escaped(name: string): string {
  return name.replace(/[\\*?[\]#! ]/g, '\\$&');
}

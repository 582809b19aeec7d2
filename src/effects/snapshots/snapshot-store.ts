import { existsSync, rmSync } from 'node:fs';
import path from 'node:path';
import { maskSecrets } from '../../core/secrets/secrets.ts';
import type { TreeEntry } from '../../core/snapshots/undo-plan.ts';
import { oneLine } from '../../core/text/untrusted-text.ts';
import type { RunGit } from '../workspace/git-command.ts';
import type { PrivateGit } from './private-git.ts';
import { type Head, headSign, readHead, timeOf } from './repository.ts';
import {
  addChanges,
  dropPaths,
  type LeftOutReason,
  listChanges,
  statsOf,
  type TreePath,
  type TreeRules,
  treePlace,
} from './tree-changes.ts';

/*
 * A snapshot is a commit that no branch leads to:
 *
 *   refs/ralph/<task>/<name> ──► commit ──┬─ tree: every file of the work tree, byte for byte
 *                                         ├─ parent 1: HEAD
 *                                         └─ parent 2: a commit with the user's index as its tree
 *
 * It is made in this order, so that a kill in between leaves a ref to a whole snapshot, or none:
 *
 *   list what differs ──► blobs ──► tree ──► commit ──► (all on the disk) ──► ref
 */

export interface Snapshot {
  /** The full name of its ref. */
  readonly ref: string;
  readonly commit: string;
  readonly tree: string;
}

/** The work tree as git's objects hold it, before a ref keeps them. */
export interface KeptTree {
  readonly tree: string;
  /** Paths that differ from the snapshot before. */
  readonly changed: readonly TreePath[];
  readonly leftOut: ReadonlyMap<TreePath, LeftOutReason>;
  /** Repositories inside the tree, of which only the commit is kept. */
  readonly nested: ReadonlySet<TreePath>;
  /** Whether files, HEAD and index are as in the newest snapshot. */
  readonly isAsNewest: boolean;
}

/** A step that git refused; `message` is half a sentence. */
export class SnapshotError extends Error {}

export interface SnapshotRequest {
  readonly git: PrivateGit;
  /** For example `refs/ralph/fix-login`. */
  readonly refs: string;
  /** The newest snapshot of an earlier process, or null. */
  readonly newest: Snapshot | null;
  readonly maxBytes: number;
  readonly pathspecs: readonly string[];
}

export interface SnapshotStore {
  readonly newest: Snapshot | null;
  /** As it was when the tree was kept last; null before that. */
  readonly head: Head | null;
  /** Writes the work tree to git's objects. Rejects with a `SnapshotError`, or the system's error. */
  keepTree(): Promise<KeptTree>;
  /**
   * Makes a snapshot of the tree that was kept last, under the first of the names that is free. Its
   * commit also keeps `extra`. Rejects with a `SnapshotError`, or the system's error.
   */
  keep(
    kept: KeptTree,
    names: Iterable<string>,
    about: (head: Head) => string,
    extra?: string,
  ): Promise<Snapshot>;
  /** Writes a tree and a commit that keeps it: the entries on top of another tree. */
  keepChanged(tree: string, entries: ReadonlyMap<TreePath, TreeEntry>): Promise<Snapshot>;
}

/** Ralph's own commits; the user's identity may not be configured. */
const IDENTITY = {
  GIT_AUTHOR_NAME: 'ralph',
  GIT_AUTHOR_EMAIL: 'ralph@localhost',
  GIT_COMMITTER_NAME: 'ralph',
  GIT_COMMITTER_EMAIL: 'ralph@localhost',
} as const;

/** Keeps snapshots of one work tree for one task. */
export function createSnapshotStore(request: SnapshotRequest): SnapshotStore {
  const { git, refs, maxBytes, pathspecs } = request;
  const { repository } = git;
  const ownIndex = path.join(git.folder, 'index');
  let newest = request.newest;
  /** How ralph's index was left; a new process trusts none. */
  let ownSign: string | null = null;
  let userSign: string | null = null;
  let headSeen: string | null = null;
  let head: Head = { commit: null, branch: null };
  let indexCommit: string | null = null;
  let tracked: ReadonlySet<TreePath> = new Set();
  let mayBeMissing: ReadonlySet<TreePath> = new Set();
  const nested = new Set<TreePath>();

  const ask = async (args: readonly string[], call = {}): Promise<string> => {
    const { exitCode, output, complaint } = await git.run(args, call);
    if (exitCode !== 0) throw new SnapshotError(reasonOf(args, complaint));
    return output.trim();
  };
  const onRepository: RunGit = async (_cwd, args) => {
    const { exitCode, output } = await git.onRepository(args);
    return exitCode === 0 ? output : null;
  };

  /** Makes ralph's own index what the newest snapshot says, unless it still is as it was left. */
  const restoreIndex = async (): Promise<void> => {
    rmSync(`${ownIndex}.lock`, { force: true });
    if (ownSign !== null && timeOf(ownIndex) === ownSign) return;
    rmSync(ownIndex, { force: true });
    if (newest !== null) await ask(['read-tree', newest.tree]);
    userSign = null;
  };

  /** Brings in what the user's index names and ralph's does not: it may be ignored by now. */
  const adoptUserIndex = async (): Promise<readonly TreePath[]> => {
    const sign = timeOf(repository.index);
    if (sign === userSign) return [];
    const listed = await git.onRepository(['ls-files', '-s', '-t', '-z']);
    if (listed.exitCode !== 0) throw new SnapshotError('git cannot read the index');
    const entries = readEntries(listed.output);
    const own = existsSync(ownIndex)
      ? new Set((await ask(['ls-files', '-z'])).split('\0'))
      : new Set<string>();
    const ours = pathspecs.length === 0 ? null : new Set(await namesInIndex());
    const missing = entries.filter(
      ({ name, stage }) => stage === '0' && !own.has(name) && ours?.has(name) !== false,
    );
    for (const { name, mode } of entries) if (mode === SUBMODULE) nested.add(name);
    await addEntries(missing);
    tracked = new Set(entries.map(({ name }) => name));
    mayBeMissing = new Set(entries.filter(({ tag }) => tag === 'S').map(({ name }) => name));
    indexCommit = entries.some(({ stage }) => stage !== '0') ? null : await commitIndex(entries);
    userSign = sign;
    return missing.map(({ name }) => name);
  };

  /** What the user's index names, without what never belongs to a snapshot. */
  const namesInIndex = async (): Promise<readonly TreePath[]> => {
    const { exitCode, output } = await git.onRepository(['ls-files', '-z', ...pathspecs]);
    if (exitCode !== 0) throw new SnapshotError('git cannot read the index');
    return output.split('\0');
  };

  const addEntries = async (entries: readonly IndexEntry[], index?: string): Promise<void> => {
    if (entries.length === 0) return;
    const lines = entries.map(({ mode, id, name }) => `${mode} ${id} 0\t${name}\0`);
    const input = Buffer.from(lines.join(''), 'latin1');
    await ask(['update-index', '-z', '--index-info'], {
      input,
      ...(index === undefined ? {} : { index }),
    });
  };

  const commitIndex = async (entries: readonly IndexEntry[]): Promise<string> => {
    const index = path.join(git.folder, 'index-of-user');
    for (const file of [index, `${index}.lock`]) rmSync(file, { force: true });
    // An intended addition has no content yet; its entry names an object that may not be there.
    await addEntries(
      entries.filter(({ tag }) => tag !== 'N'),
      index,
    );
    const tree = await ask(['write-tree'], { index });
    return commitTree(tree, 'index\n', [head.commit]);
  };

  const lookAtHead = async (): Promise<boolean> => {
    const sign = headSign(repository);
    if (sign === headSeen) return false;
    head = await readHead(repository, onRepository);
    headSeen = sign;
    return true;
  };

  const commitTree = (
    tree: string,
    message: string,
    parents: readonly (string | null | undefined)[],
  ): Promise<string> => {
    const flags = parents.flatMap((id) => (id === null || id === undefined ? [] : ['-p', id]));
    const input = Buffer.from(message);
    return ask(['commit-tree', tree, ...flags], { input, env: IDENTITY });
  };

  /** Creates a ref under the first free name; one that is there is never moved. */
  const createRef = async (names: Iterable<string>, commit: string): Promise<string> => {
    for (const name of names) {
      const ref = `${refs}/${name}`;
      // Of this task, whose only driver this is.
      rmSync(path.join(repository.commonDir, `${ref}.lock`), { force: true });
      const { exitCode, complaint } = await git.onRepository([
        'update-ref',
        ref,
        commit,
        NO_COMMIT,
      ]);
      if (exitCode === 0) return ref;
      if (!/already exists/.test(complaint))
        throw new SnapshotError(reasonOf(['update-ref'], complaint));
    }
    throw new SnapshotError('no name was free');
  };

  return {
    get newest() {
      return newest;
    },
    get head() {
      return headSeen === null ? null : head;
    },
    async keepTree() {
      const headMoved = await lookAtHead();
      const indexMoved = timeOf(repository.index) !== userSign;
      await restoreIndex();
      const adopted = await adoptUserIndex();
      const asIndexed = new Set<TreePath>();
      const rules: TreeRules = { maxBytes, tracked, pathspecs, mayBeMissing, asIndexed };
      const changes = await listChanges(git, rules);
      if (changes === null) throw new SnapshotError('git cannot list the work tree');
      const { changed, dropped, leftOut } = changes;
      for (const name of [...changed, ...leftOut.keys()]) {
        const place = treePlace(repository.root, name);
        if (statsOf(place)?.isDirectory() === true) nested.add(name);
      }
      const isSame = changed.length + dropped.length + adopted.length === 0;
      if (isSame && newest !== null) {
        const isAsNewest = !headMoved && !indexMoved;
        return { tree: newest.tree, changed, leftOut, nested, isAsNewest };
      }
      const refused = await addChanges(git, changed);
      if (refused === null || !(await dropPaths(git, [...dropped, ...refused]))) {
        throw new SnapshotError('git cannot keep the changed files');
      }
      const tree = await ask(['write-tree']);
      ownSign = timeOf(ownIndex);
      const unreadable = [...refused].map((name) => [name, 'unreadable'] as const);
      return {
        tree,
        changed: [...new Set([...adopted, ...changed])].filter((name) => !refused.has(name)),
        leftOut: new Map([...leftOut, ...unreadable]),
        nested,
        isAsNewest: false,
      };
    },
    async keep({ tree }, names, about, extra) {
      const commit = await commitTree(tree, about(head), [head.commit, indexCommit, extra]);
      newest = { ref: await createRef(names, commit), commit, tree };
      return newest;
    },
    async keepChanged(base, entries) {
      const index = path.join(git.folder, 'index-of-undo');
      for (const file of [index, `${index}.lock`]) rmSync(file, { force: true });
      await ask(['read-tree', base], { index });
      const none = '0'.repeat(base.length);
      const listed = [...entries].map(([name, entry]) => {
        const [mode = '0', id = none] = entry?.split(' ') ?? [];
        return { tag: 'H', stage: '0', mode, id, name };
      });
      await addEntries(listed, index);
      const tree = await ask(['write-tree'], { index });
      rmSync(index, { force: true });
      return { ref: '', commit: await commitTree(tree, 'what an undo leaves\n', []), tree };
    },
  };
}

/** The mode of a repository inside the tree. */
const SUBMODULE = '160000';

/** As the old value of a ref, it says that there must be none. */
const NO_COMMIT = '';

/** Git's own first sentence about a failure. */
function reasonOf([command = 'git']: readonly string[], complaint: string): string {
  const line = /^(?:fatal|error): (.+)$/m.exec(complaint)?.[1];
  return line === undefined ? `git ${command} failed` : oneLine(maskSecrets(line), 200);
}

interface IndexEntry {
  /** `H` for an ordinary entry, `S` for one that a sparse checkout leaves out. */
  readonly tag: string;
  readonly mode: string;
  readonly id: string;
  readonly stage: string;
  readonly name: TreePath;
}

function readEntries(listing: string): readonly IndexEntry[] {
  return listing.split('\0').flatMap((line) => {
    const found = /^(.) (\d+) ([0-9a-f]+) (\d)\t([\s\S]+)$/.exec(line);
    if (found === null) return [];
    const [, tag = '', mode = '', id = '', stage = '', name = ''] = found;
    return [{ tag, mode, id, stage, name }];
  });
}

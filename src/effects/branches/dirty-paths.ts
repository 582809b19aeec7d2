import { type ListedSnapshot, leftBy, type Timeline } from '../../core/snapshots/timeline.ts';
import type { TreeEntry } from '../../core/snapshots/undo-plan.ts';
import type { PrivateGit } from '../git/private-git.ts';
import { blobOf, idAt } from '../git/questions/objects.ts';
import { settingNow } from '../git/questions/settings.ts';
import { emptyTree } from '../git/repository.ts';
import { asText, type TreePath } from '../git/tree-path.ts';
import { readSnapshot } from '../snapshots/read-snapshot.ts';
import { compareTrees } from '../snapshots/trees.ts';

/** A snapshot's commit, and the files as they were after it (for an undo's snapshot: after the undo). */
interface Instant {
  readonly commit: string;
  readonly tree: string;
}

/** Returns which of the paths differed from HEAD when the snapshot was taken, in the index or in the work tree. */
async function dirtyAt(
  git: PrivateGit,
  { commit, tree }: Instant,
  paths: ReadonlySet<TreePath>,
): Promise<ReadonlySet<TreePath>> {
  const { head, index } = await readSnapshot(git, commit);
  const start = head ?? emptyTree(git.repository);
  const staged = index === null ? new Map() : await compareTrees(git, start, index);
  const changed = await compareTrees(git, index ?? start, tree);
  const dirty = new Set<TreePath>([...paths].filter((name) => staged.has(name)));
  for (const name of paths) {
    const { from = null, to = null } = changed.get(name) ?? {};
    if (from !== to && !dirty.has(name) && !(await isSameForGit(git, name, from, to))) {
      dirty.add(name);
    }
  }
  return dirty;
}

/** Whether git, by its rules for line ends and filters, would store a file's raw content as what the index has. */
async function isSameForGit(
  git: PrivateGit,
  name: TreePath,
  indexed: TreeEntry,
  raw: TreeEntry,
): Promise<boolean> {
  const [oldMode, oldId] = indexed?.split(' ') ?? [];
  const [newMode, newId] = raw?.split(' ') ?? [];
  if (oldId === undefined || newId === undefined || oldMode === undefined) return false;
  const isFile = oldMode.startsWith('100') && newMode?.startsWith('100') === true;
  if (!isFile) return false;
  if (oldMode !== newMode && (await settingNow(git.users, 'core.fileMode', 'bool')) !== 'false') {
    return false;
  }
  if (oldId === newId) return true;
  // A name that is not UTF-8 cannot be passed to git as an argument.
  const text = asText(name);
  if (Buffer.from(text).toString('latin1') !== name) return false;
  const content = await blobOf(git.own, newId);
  return content !== null && (await idAt(git.users, text, content)) === oldId;
}

/**
 * Returns which of the paths somebody other than the agent had changed, without a commit, when the snapshot at `place`
 * was taken. Goes back through the snapshots to where each path was last committed and unchanged.
 */
export async function dirtyByOthers(
  git: PrivateGit,
  { snapshots }: Timeline,
  place: number,
  paths: ReadonlySet<TreePath>,
): Promise<ReadonlySet<TreePath>> {
  const here = snapshots[place];
  if (here === undefined) return paths;
  let open = await dirtyAt(git, instantOf(here), paths);
  const others = new Set<TreePath>();
  for (let at = place; at > 0 && open.size > 0; at -= 1) {
    const [snapshot, earlier] = [snapshots[at], snapshots[at - 1]];
    if (snapshot === undefined || earlier === undefined) break;
    const left = instantOf(earlier);
    const { kind } = snapshot.what;
    const isWork = kind === 'end' || kind === 'attempt';
    const changed = await compareTrees(git, left.tree, isWork ? snapshot.tree : leftBy(snapshot));
    const touched = new Set([...open].filter((name) => changed.has(name)));
    const dirty = isWork ? await dirtyAt(git, left, touched) : touched;
    open = new Set([...open].filter((name) => !touched.has(name) || (isWork && dirty.has(name))));
    if (!isWork) for (const name of touched) others.add(name);
  }
  return new Set([...others, ...open]);
}

function instantOf(snapshot: ListedSnapshot): Instant {
  return { commit: snapshot.commit, tree: leftBy(snapshot) };
}

import { looksSecret } from '../../core/snapshots/secret-names.ts';
import type { Settlement } from '../../core/snapshots/settlement.ts';
import { shownPath } from '../../core/snapshots/shown-path.ts';
import { snapshotMessage } from '../../core/snapshots/snapshot-message.ts';
import {
  type ListedSnapshot,
  leftBy,
  type Timeline,
  type UndoSpan,
  undoSpan,
} from '../../core/snapshots/timeline.ts';
import type { PrivateGit } from '../git/private-git.ts';
import { diffWithout } from '../git/questions/diffs.ts';
import { asText } from '../git/tree-path.ts';
import { underWayIn } from '../git/under-way.ts';
import { moveHead, type PlannedMove, planHeadMove } from '../snapshots/move-head.ts';
import { readSnapshot } from '../snapshots/read-snapshot.ts';
import type { HeldPlaces } from '../snapshots/restore/held.ts';
import { prepareUndo } from '../snapshots/restore/undo.ts';
import type { SnapshotStore } from '../snapshots/snapshot-store.ts';
import { compareTrees } from '../snapshots/trees.ts';

export interface RevertRequest {
  readonly git: PrivateGit;
  readonly store: SnapshotStore;
  readonly timeline: Timeline;
  readonly taskId: string;
  readonly iteration: number;
  /** Returns the number of the next snapshot; one is made before anything is changed. */
  readonly order: () => number;
  /** The current instant. */
  readonly at: string;
  readonly places: HeldPlaces;
}

export interface Reverted {
  readonly settlement: Settlement;
  /** Why HEAD and the index are not moved back, as a clause; null if nothing prevents it. */
  readonly headStays: string | null;
  /** Paths that are not taken back because the sandbox protects them, as text for people. */
  readonly held: readonly string[];
}

/**
 * Takes the work tree, HEAD and the index back to where an iteration began, as `ralph undo --hard` does. What somebody
 * else changed stays. If a call is cut off, the next one finishes it. Rejects with a `GitError`, or the system's error.
 */
export async function revertIteration(request: RevertRequest): Promise<Reverted> {
  const { git, store, timeline, taskId, iteration, at, places } = request;
  const works = timeline.snapshots.filter(({ what }) => isWorkOf(what, iteration));
  const end = works.at(-1);
  if (end === undefined) return NOTHING_TO_REVERT;
  const span = undoSpan(timeline, iteration);
  if (span === null) return notReverted('the snapshot from before the iteration is missing');
  const prepared = await prepareUndo({ git, store, span, force: false, places });
  const { plan } = prepared;
  const held = prepared.held.map(shownPath);
  const planned = await movePast(request, span, end);
  const begun = underWayIn(git.repository.gitDir).find(
    (name) => !span.base.underWay.includes(name),
  );
  if (planned.kind === 'refused' && begun !== undefined) {
    return notReverted(`a ${begun} is under way, and ${planned.why}`);
  }
  const move = planned.kind === 'move' ? planned.move : null;
  const files = plan.restore.size + plan.already.size;
  if (prepared.isNothing && move === null && files + plan.kept.length === 0) {
    return { ...NOTHING_TO_REVERT, held };
  }
  const subject = `before iteration ${iteration} is taken back`;
  const about = { taskId, order: request.order(), at, subject };
  const tips = move?.tip ?? move?.now.commit ?? null;
  await prepared.keep(
    ({ branch }, undone) => snapshotMessage({ ...about, branch, undone }),
    tips === null ? [] : [tips],
  );
  const blocked = await prepared.restore();
  if (move !== null) await moveHead(git, move);
  prepared.end(blocked);
  const kept = [...plan.kept, ...blocked.keys()].map(shownPath);
  const diff = await diffOf(git, leftBy(span.base), end.tree);
  return {
    settlement: { kind: 'reverted', files: files - blocked.size, kept, diff },
    headStays: planned.kind === 'refused' ? planned.why : null,
    held,
  };
}

const NOTHING_TO_REVERT: Reverted = {
  settlement: { kind: 'nothing' },
  ...{ headStays: null, held: [] },
};

function notReverted(why: string): Reverted {
  return { settlement: { kind: 'not-reverted', why }, headStays: null, held: [] };
}

function isWorkOf(what: Timeline['snapshots'][number]['what'], iteration: number): boolean {
  return (what.kind === 'end' || what.kind === 'attempt') && what.iteration === iteration;
}

/** Plans to move HEAD and the index back, and refuses if somebody else has moved HEAD since the iteration began. */
async function movePast(
  { git, timeline, iteration }: RevertRequest,
  { base }: UndoSpan,
  end: ListedSnapshot,
): Promise<PlannedMove> {
  const planned = await planHeadMove(git, base);
  if (planned.kind !== 'move') return planned;
  const headAt = async ({ commit }: ListedSnapshot) => (await readSnapshot(git, commit)).head;
  const { snapshots } = timeline;
  const moved: PlannedMove = { kind: 'refused', why: 'somebody else has moved HEAD' };
  const places = [await headAt(base), await headAt(end)];
  if (!places.includes(planned.move.now.commit)) return moved;
  for (const [place, snapshot] of snapshots.entries()) {
    const earlier = snapshots[place - 1];
    const isBetween =
      snapshot.order > base.order && snapshot.order < end.order && snapshot.what.kind === 'start';
    if (!isBetween || snapshot.what.kind !== 'start' || snapshot.what.iteration !== iteration)
      continue;
    if (earlier !== undefined && (await headAt(earlier)) !== (await headAt(snapshot))) return moved;
  }
  return planned;
}

/** Returns what was taken back as a diff, without the content of files that look like secrets. */
async function diffOf(git: PrivateGit, from: string, to: string): Promise<string> {
  const names = [...(await compareTrees(git, from, to)).keys()].map((name) => asText(name));
  return diffWithout(git.own, from, to, names.filter(looksSecret));
}

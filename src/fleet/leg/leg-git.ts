import type { CommitFacts } from '../../core/snapshots/commit-message.ts';
import { START } from '../../core/snapshots/snapshot-names.ts';
import { isSamePlace } from '../../effects/files/real-path.ts';
import { gitIn } from '../../effects/git/git.ts';
import { setRef } from '../../effects/git/questions/refs.ts';
import type { TreeKeeper } from '../../effects/snapshots/keeper/tree-keeper.ts';
import { packedTask } from '../../effects/state/packed-state.ts';
import { systemClock } from '../../effects/time/clock.ts';
import { momentNow } from '../../effects/time/clock-reading.ts';
import { RunDropped } from '../../loop/run-dropped.ts';
import type { FleetSpec } from '../core/fleet-task.ts';
import { leftSentence, somePaths } from '../core/left-sentence.ts';
import { isSandboxed } from '../core/worker-policy.ts';
import type {
  CheckpointSnapshot,
  FleetSettlement,
  SnapshotBefore,
} from '../database/fleet-queue.ts';
import { landResult } from '../origin/land-result.ts';
import { type LegSnapshots, openLegSnapshots } from '../origin/leg-snapshots.ts';
import { makeLegTree } from '../origin/leg-tree.ts';
import { type Mirror, openMirror } from '../origin/mirror.ts';
import { thinSnapshotsAtOrigin } from '../origin/origin-snapshots.ts';
import { makeResult } from '../origin/result.ts';
import { LegFailed } from './leg-failed.ts';
import { legEnvironment } from './leg-plan.ts';
import { type LegState, pathsOf } from './leg-state.ts';
import { createLegPatience, type LegPatience } from './patience.ts';
import { whenThere } from './when-there.ts';
import { keepLegFolder, type LegFolder } from './worker-home.ts';

/** The fields that a task's result adds to its settlement, the record of its end. */
type Landed = Pick<FleetSettlement, 'warning' | 'resultCommit' | 'resultRef' | 'branchCommit'>;

/** What a task without a result adds to its settlement. */
export const NOT_LANDED: Landed = {
  ...{ warning: null, resultCommit: null, resultRef: null, branchCommit: null },
};

/** The repository of one worker's run of a task (a leg). */
export interface LegGit {
  /** Takes the object that makes snapshots of the work tree (its keeper), before the loop begins. */
  opened(keeper: TreeKeeper | null): void;
  /**
   * Pushes the work tree to the origin (the task's repository) as a snapshot, unless the newest one there is the same.
   * Rejects with `LegFailed` if the origin fails for too long, or at once if it refuses a task's first snapshot.
   */
  keepTree(iteration: number, isStarting: boolean): Promise<CheckpointSnapshot>;
  /** Removes some snapshots at the origin if there are very many. Never rejects: those that stay only take up room. */
  thin(): Promise<void>;
  /** Makes the commit of a completed task's result, and moves the task's branch to it. */
  land(facts: CommitFacts): Promise<Landed>;
}

/** Makes the work tree of a leg. Rejects with a `LegFailed`, or with the reason why the leg is dropped or stopped. */
export async function openLegGit(
  state: LegState,
  spec: FleetSpec,
  leg: LegFolder,
): Promise<LegGit> {
  const { claim, world, dropped, over } = state;
  // A stop ends these calls, which make the tree, but not the pushes: what a run has left is still pushed.
  const git = { env: legEnvironment(world.env), runId: leg.runId, signal: over };
  const origin = { ...git, home: world.home, url: spec.repo };
  const mirror = openMirror(origin);
  const patience = createLegPatience({
    ...{ ms: world.originPatienceMs, dropped, over },
    tell: (sentence) => world.say(`${claim.taskId}: ${sentence}`),
  });
  const base = claim.task.base_commit ?? (await findBase(state, mirror, spec.base, patience));
  const kept = claim.checkpoint?.snapshot ?? null;
  const { unfiltered } = await patience('tree', () =>
    makeLegTree({
      ...git,
      ...{ mirror, folder: leg.folder, branch: spec.branch, url: spec.repo, snapshot: kept },
      head: kept === null ? base : kept.head,
      isSelfContained: isSandboxed(world.policy),
    }),
  );
  if (unfiltered.length > 0) {
    const names = somePaths(unfiltered);
    world.say(
      `${claim.taskId}: a filter did not write ${names}; the agent finds there what git stores`,
    );
  }
  const refs = refsOf(state, leg);
  for (const { name, commit, ref } of refs === null ? [] : earlierSnapshots(kept)) {
    await patience('tree', () => mirror.fetch([ref]));
    await setRef(gitIn(leg.tree, { ...git, timeoutMs: GIT_MS }), `${refs}/${name}`, commit);
  }
  const parts = {
    mirror: openMirror({ ...origin, signal: dropped }),
    patience,
    newest: kept,
    base,
  };
  return createLegGit(state, leg, { ...parts, env: git.env });
}

/** Returns the prefix of the task's snapshot refs in its work trees; null before the task's state was first stored. */
function refsOf({ claim: { taskId, checkpoint } }: LegState, leg: LegFolder): string | null {
  if (checkpoint === null) return null;
  return packedTask(pathsOf(leg, taskId), checkpoint.packed).git.snapshots;
}

const GIT_MS = 30_000;

/** Returns the snapshots of earlier legs that get refs in a new leg's work tree, with the names of these refs. */
export function earlierSnapshots(
  kept: CheckpointSnapshot | null,
): readonly (SnapshotBefore & { readonly name: string })[] {
  const nameOf = ({ iteration }: SnapshotBefore): string =>
    iteration <= 1 ? START : `${iteration}.0`;
  const all = [kept?.start, kept?.before ?? undefined].filter((each) => each !== undefined);
  return all
    .map((each) => ({ ...each, name: nameOf(each) }))
    .filter(({ name }, place, named) => named.findIndex((each) => each.name === name) === place);
}

/** Finds the commit from which the task begins, and stores it in the fleet. */
async function findBase(
  { claim, world, dropped }: LegState,
  mirror: Mirror,
  base: string | null,
  patience: LegPatience,
): Promise<string> {
  const { commit } = await patience('first-contact', () => mirror.resolve(base));
  await whenThere(dropped, () => world.queue.noteBase(claim, commit));
  return commit;
}

interface GitParts {
  readonly mirror: Mirror;
  readonly patience: LegPatience;
  readonly env: NodeJS.ProcessEnv;
  readonly newest: CheckpointSnapshot | null;
  readonly base: string;
}

/**
 * Makes sure that no other worker has the task when its branch is moved. If this worker was suspended after the
 * database's answer, it waits for the next renewal of its claim. Rejects with `RunDropped` if the claim is lost.
 */
async function requireClaim({ claim, world, dropped, lease }: LegState): Promise<void> {
  const sentAt = momentNow();
  const held = await whenThere(dropped, () => world.queue.beat([claim]));
  if (!held.has(claim.taskId)) throw new RunDropped('the claim is lost');
  lease.beaten(sentAt);
  await lease.fresh();
}

/** Returns a sentence on the files that the result lacks, and notes that the work tree has them; null for no files. */
function lackOf(state: LegState, leg: LegFolder, names: readonly string[]): string | null {
  const sentence = leftSentence(names);
  if (sentence === null) return null;
  state.hasMore = true;
  const { keepTrees, host } = state.world;
  if (keepTrees === 'none') return sentence;
  keepLegFolder(leg.folder);
  return `${sentence} The work tree is ${leg.tree} on ${host}.`;
}

function warningOf(sentences: readonly (string | null)[]): string | null {
  const said = sentences.filter((sentence) => sentence !== null);
  return said.length === 0 ? null : said.join(' ');
}

function createLegGit(
  state: LegState,
  leg: LegFolder,
  { mirror, patience, env, newest, base }: GitParts,
): LegGit {
  const { claim, world, dropped } = state;
  let keeper: TreeKeeper | null = null;
  let snapshots: LegSnapshots | null = null;
  let before = newest?.before ?? null;
  let start = newest?.start;
  const { taskId, fence } = claim;
  const requireOpen = (): { keeper: TreeKeeper; snapshots: LegSnapshots } => {
    if (keeper === null || snapshots === null) {
      throw new LegFailed('failed:repository', 'the work tree is no repository that git can open');
    }
    return { keeper, snapshots };
  };
  return {
    opened(found) {
      keeper = found;
      if (found === null) return;
      if (!isSamePlace(found.git.repository.root, leg.tree)) {
        throw new LegFailed(
          'failed:repository',
          'the folder of the task belongs to a repository other than that of --repo',
        );
      }
      found.git.shared = base;
      snapshots = openLegSnapshots({
        ...{ keeper: found, mirror, taskId, fence, newest, now: systemClock.now },
        notice: (sentence) => world.say(`${taskId}: ${sentence}`),
      });
    },
    async keepTree(iteration, isStarting) {
      const { snapshots: kept } = requireOpen();
      const stage = kept.newest === null ? 'first-push' : 'work';
      const { snapshot } = await patience(stage, () => kept.push(iteration));
      const { commit, ref } = snapshot;
      // A further attempt belongs to the same iteration, so the snapshot from before the first attempt is kept.
      if (isStarting && before?.iteration !== iteration) before = { commit, ref, iteration };
      if (before !== null && before.iteration <= 1) start ??= before;
      return { ...snapshot, before, start };
    },
    async thin() {
      const needed = [start, before].flatMap((each) => each?.ref ?? []);
      await thinSnapshotsAtOrigin(mirror, taskId, needed).catch(() => undefined);
    },
    async land(facts) {
      const { keeper: open, snapshots: all } = requireOpen();
      if (all.kept === null)
        throw new LegFailed('failed:repository', 'the work tree was never kept');
      const { commit, left: lacks } = await makeResult({
        ...{ keeper: open, kept: all.kept, base, facts, env, runId: leg.runId, signal: dropped },
        folder: `${leg.folder}/result`,
      });
      const { spec } = claim.task;
      const { objects } = open.git.repository;
      const left = claim.task.branch_commit;
      const landed = await patience('work', async () => {
        await requireClaim(state);
        return landResult({ mirror, taskId, commit, branch: spec.branch, left, objects });
      });
      const isOnBranch = landed.kind === 'landed';
      return {
        ...{ resultCommit: landed.commit, resultRef: landed.ref },
        branchCommit: isOnBranch ? landed.commit : null,
        warning: warningOf([isOnBranch ? null : landed.warning, lackOf(state, leg, lacks)]),
      };
    },
  };
}

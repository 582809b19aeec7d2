import type { TreeToSettle } from '../../../core/snapshots/settlement.ts';
import type { Timeline } from '../../../core/snapshots/timeline.ts';
import type { Git } from '../../git/git.ts';
import type { Patience } from '../../git/git-locks.ts';
import type { PrivateGit } from '../../git/private-git.ts';
import type { SnapshotStore } from '../../snapshots/snapshot-store.ts';
import type { GitSetup } from './git-setup.ts';

/** The iteration whose work is committed, and how. */
export interface CommitRequest {
  readonly git: PrivateGit;
  readonly store: SnapshotStore;
  readonly timeline: Timeline;
  readonly tree: TreeToSettle;
  readonly taskId: string;
  readonly template: string | null;
  /** The path of the file that lists this task and others. No commit includes its changes. Null if there is none. */
  readonly apart: string | null;
  /** The branches that `--protect-branch` names. */
  readonly protect: readonly string[];
  /** The hooks, filters and settings that a commit would have used when the task began. */
  readonly setup: GitSetup;
  /** Git as the user would run it, for calls that start no program. */
  readonly asUser: Git;
  /** Git as the user would run it, for calls that may start programs of the agent's: hooks, filters, the signing program. */
  readonly withPrograms: Git;
  readonly patience: Patience;
}

/** Why a path that the iteration changed is not in the commit. */
export type NotCommitted = 'others' | 'secret' | 'ignored' | 'conflict' | 'repository' | 'not-kept';

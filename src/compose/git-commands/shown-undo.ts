import { isRepository } from '../../core/snapshots/undo-plan.ts';
import type { PathChange, ShownMove } from '../../core/snapshots/undo-preview.ts';
import { oneLine } from '../../core/text/untrusted-text.ts';
import type { HeadMove } from '../../effects/snapshots/move-head.ts';
import type { BlockedReason } from '../../effects/snapshots/restore/restore-files.ts';
import type { LeftOutReason } from '../../effects/snapshots/tree-changes.ts';

/** Shown after a path that an undo does not remove, because git ignored it when the snapshot was taken. */
export const IGNORED_THEN = ' (in no snapshot then, so it may have been there)';

/** Shown after a path that an undo does not change, because the sandbox protects it. */
export const HELD = ' (the sandbox keeps the agent from writing there)';

/** Returns where an undo moves HEAD and the index, in the form that a person is shown. */
export function shownMove({ to, now, tip, index, ends }: HeadMove): ShownMove {
  const { branch } = to;
  const from = branch === null ? now.commit : tip;
  const switches = branch !== null && branch !== now.branch;
  return { branch, switches, from, to: to.commit, indexEntries: index.length, ends };
}

/** Why a path is in no snapshot, in a few words. */
export const LEFT_OUT: Readonly<Record<LeftOutReason, string>> = {
  'too-large': 'too large',
  unreadable: 'not readable',
  unnameable: 'git takes no such name',
  'empty-repository': 'a repository without a commit',
};

/** Says in half a sentence why a path could not be restored. */
export function inWords(reason: BlockedReason): string {
  switch (reason.kind) {
    case 'in-the-way':
      return 'something that is in no snapshot is there';
    case 'repository':
      return reason.commit === null
        ? 'it is a repository, whose files are in no snapshot'
        : `it is a repository, whose files are in no snapshot; in it, git checkout ${reason.commit} goes back`;
    case 'no-submodule':
      return 'its own repository, from which it could be filled, is gone or lacks the commit';
    case 'no-filter':
      return 'only its filter can bring it back, which failed or is not in your own configuration';
    case 'no-object':
      return "git's copy of it is gone, or somebody has replaced it";
    case 'failed':
      return oneLine(reason.why, 200);
  }
}

/** Returns what an undo does to a path. */
export function kindOf({
  now,
  before,
}: {
  readonly now: string | null;
  readonly before: string | null;
}): PathChange {
  if (before === null) return 'goes';
  return now === null && !isRepository(before) ? 'comes-back' : 'changes';
}

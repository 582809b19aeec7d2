import type { CheckResult } from '../completion/check-result.ts';
import type { CommandResult } from '../completion/command-result.ts';
import type { Check } from '../settings/checks.ts';
import type { Policy } from '../task/policy.ts';
import type { TaskState } from '../task/task-state.ts';
import { askedText } from '../text/untrusted-text.ts';
import { subjectOf } from './commit-message.ts';

/** How a landing brings the work of a task into the user's branch. */
export type LandingForm =
  | { readonly kind: 'squash' }
  /** As a merge commit, with the task's own commits behind it. */
  | { readonly kind: 'merge' }
  /** As a patch file at this absolute path; no branch moves. */
  | { readonly kind: 'patch'; readonly file: string };

/** Why a file that the task left uncommitted is not part of the landing. */
export type StaysReason =
  | 'secret'
  | 'too-large'
  | 'unreadable'
  /** The file matches `--snapshot-exclude`. */
  | 'excluded'
  | 'repository'
  /** A repository inside the tree. Its commit lands, but not the uncommitted changes in it. */
  | 'uncommitted-inside'
  /** The work tree is gone, and the task's branch has moved since the snapshot that contains the file. */
  | 'branch-moved';

/** The uncommitted paths that stay behind when the task's work lands, and why. */
export type Stays = ReadonlyMap<string, StaysReason>;

/** Other branches with commits of the task whose changes would not land, and how many such commits each has. */
export type Elsewhere = ReadonlyMap<string, number>;

/** How a landing ended. */
export type LandingEnd =
  | { readonly kind: 'landed'; readonly commit: string; readonly files: number }
  | { readonly kind: 'written'; readonly files: number }
  /** The work has landed before, as `commit`. */
  | { readonly kind: 'landed-already'; readonly commit: string }
  /** The user's branch already has the task's work, or its commits. `isEmpty`: no change of the task is known. */
  | { readonly kind: 'nothing-new'; readonly of: 'work' | 'commits'; readonly isEmpty: boolean }
  | { readonly kind: 'refused'; readonly why: LandingRefusal };

/** Why nothing has landed. Only `half-moved` has changed files. "The branch" is the one to which the work should go. */
export type LandingRefusal =
  | { readonly kind: 'conflict'; readonly paths: readonly string[] }
  /** The branch lacks only files that do not land. */
  | { readonly kind: 'left-out'; readonly stays: Stays }
  /** The branch lacks only commits of the task that are on other branches. */
  | { readonly kind: 'elsewhere'; readonly elsewhere: Elsewhere }
  /** The task's branch has no commit in common with the branch, because the repository is a shallow clone. */
  | { readonly kind: 'shallow' }
  /** The task's branch has no commit in common with the branch, because the task's history was replaced. */
  | { readonly kind: 'unrelated' }
  /** Neither the task's branch nor its work tree has any of the task's work. */
  | { readonly kind: 'empty'; readonly branch: string }
  /** The task's branch is gone, and nothing shows what was on it. */
  | { readonly kind: 'branch-gone'; readonly branch: string }
  | { readonly kind: 'setup-failed'; readonly result: CommandResult }
  | { readonly kind: 'checks-failed'; readonly failed: readonly CheckResult[] }
  /** The task's work tree is not on the task's branch; `head` is null if it is on none. */
  | { readonly kind: 'other-branch'; readonly folder: string; readonly head: string | null }
  /** A merge, rebase, cherry-pick, revert or bisect is under way in the task's work tree. */
  | { readonly kind: 'unfinished'; readonly folder: string; readonly what: string }
  /** Uncommitted files to which a git filter applies that only the repository's configuration defines. */
  | { readonly kind: 'filtered'; readonly paths: readonly string[] }
  /** The branch moved while the landing was being checked. */
  | { readonly kind: 'moved' }
  /** The branch is checked out, and uncommitted changes in that folder are in the way. */
  | { readonly kind: 'in-the-way'; readonly folder: string; readonly paths: readonly string[] }
  /** Git failed in the folder where the branch is checked out, and these files there could not be restored. */
  | {
      readonly kind: 'half-moved';
      readonly folder: string;
      readonly paths: readonly string[];
      /** Why git failed, as half a sentence. */
      readonly why: string;
    }
  | { readonly kind: 'file-exists' }
  | { readonly kind: 'stopped' }
  /** Another failure; `why` is half a sentence from git or the system. */
  | { readonly kind: 'failed'; readonly why: string };

/** Whether the task's agent can remove the cause of a refusal. */
export function canTaskFix(why: LandingRefusal): boolean {
  // The agent is told what it can fix. Told of a secret that was left out, it might commit it; a repository is harmless.
  if (why.kind === 'left-out') return [...why.stays.values()].every(isAboutRepository);
  return FIXABLE.includes(why.kind);
}

const FIXABLE = [
  'conflict',
  'elsewhere',
  'setup-failed',
  'checks-failed',
  'other-branch',
  'unfinished',
  'unrelated',
  'empty',
];

function isAboutRepository(why: StaysReason): boolean {
  return why === 'repository' || why === 'uncommitted-inside';
}

/** Returns the checks of a landing: the checks of the task, and its `--until` command if that completed it. */
export function landingChecks(
  { evidence }: Pick<TaskState, 'evidence'>,
  { verify, until }: Pick<Policy, 'verify' | 'until'>,
): readonly Check[] {
  if (until === null || evidence?.kind !== 'until') return verify;
  return [...verify, { name: until, command: until }];
}

/** Returns the message of a landing's commit. The subject is the first line of the task's prompt or task file. */
export function landingMessage(taskId: string, prompt: string): string {
  const line = askedText(prompt)
    .split('\n')
    .map((each) => each.replace(/^[#>*\s-]+/, '').trim())
    .find((each) => /[\p{L}\p{N}]/u.test(each));
  return `${subjectOf(line ?? `Land ${taskId}`)}\n\nRalph-Task: ${taskId}\n`;
}

import type { CheckResult } from '../completion/check-result.ts';
import type { CommandResult } from '../completion/command-result.ts';
import type { Check } from '../settings/checks.ts';
import type { Policy } from '../task/policy.ts';
import type { TaskState } from '../task/task-state.ts';

/** How a landing brings in what a task did. */
export type LandingForm =
  /** As one commit. */
  | { readonly kind: 'squash' }
  /** As a merge commit, with the task's own commits behind it. */
  | { readonly kind: 'merge' }
  /** As a patch file at this absolute path; no branch moves. */
  | { readonly kind: 'patch'; readonly file: string };

/** Why a file that the task left uncommitted does not land. */
export type StaysReason =
  | 'secret'
  | 'too-large'
  | 'unreadable'
  /** `--snapshot-exclude` names it. */
  | 'excluded'
  | 'repository'
  /** A repository of its own that lands as its commit, without what is uncommitted in it. */
  | 'uncommitted-inside'
  /** The work tree is gone, and the branch has moved since the snapshot that has it. */
  | 'branch-moved';

/** What the task left that does not land: paths and why. */
export type Stays = ReadonlyMap<string, StaysReason>;

/** The branches that have commits of the task which the landed branch lacks, and how many. */
export type Elsewhere = ReadonlyMap<string, number>;

/** How a landing ended. */
export type LandingEnd =
  | { readonly kind: 'landed'; readonly commit: string; readonly files: number }
  | { readonly kind: 'written'; readonly files: number }
  /** `commit` is the earlier landing. */
  | { readonly kind: 'landed-already'; readonly commit: string }
  /**
   * The branch has all that is known of the task: its work, or its commits alone. `isEmpty`: nothing is known that the
   * task has changed.
   */
  | { readonly kind: 'nothing-new'; readonly of: 'work' | 'commits'; readonly isEmpty: boolean }
  | { readonly kind: 'refused'; readonly why: LandingRefusal };

/** Why nothing has landed; nothing has changed, but for `half-moved`. */
export type LandingRefusal =
  | { readonly kind: 'conflict'; readonly paths: readonly string[] }
  /** Nothing but what does not land is missing on the branch. */
  | { readonly kind: 'left-out'; readonly stays: Stays }
  /** Nothing but commits of the task on other branches is missing on the branch. */
  | { readonly kind: 'elsewhere'; readonly elsewhere: Elsewhere }
  /** The repository is shallow, and both branches have no commit in common in it. */
  | { readonly kind: 'shallow' }
  /** Both branches have no commit in common: the task's one was given another history. */
  | { readonly kind: 'unrelated' }
  /** Nothing of what the task has done is on its branch, or in its work tree. */
  | { readonly kind: 'empty'; readonly branch: string }
  /** The task's branch is gone, and nothing tells what was on it. */
  | { readonly kind: 'branch-gone'; readonly branch: string }
  | { readonly kind: 'setup-failed'; readonly result: CommandResult }
  | { readonly kind: 'checks-failed'; readonly failed: readonly CheckResult[] }
  /** The task's work tree is not on the task's branch; `head` is null if it is on none. */
  | { readonly kind: 'other-branch'; readonly folder: string; readonly head: string | null }
  /** A merge, rebase, cherry-pick, revert or bisect is under way in the task's work tree. */
  | { readonly kind: 'unfinished'; readonly folder: string; readonly what: string }
  /** Files left uncommitted under a filter that only the repository's configuration names. */
  | { readonly kind: 'filtered'; readonly paths: readonly string[] }
  /** The branch has moved while the landing was checked. */
  | { readonly kind: 'moved' }
  /** The branch is checked out, and changes there stand in the way. */
  | { readonly kind: 'in-the-way'; readonly folder: string; readonly paths: readonly string[] }
  /** Git failed where the branch is checked out, and these files there could not be put back. */
  | {
      readonly kind: 'half-moved';
      readonly folder: string;
      readonly paths: readonly string[];
      /** Half a sentence. */
      readonly why: string;
    }
  /** The file of the patch exists. */
  | { readonly kind: 'file-exists' }
  | { readonly kind: 'stopped' }
  /** Half a sentence, by git or the system. */
  | { readonly kind: 'failed'; readonly why: string };

/** Whether the task's agent can do something about it. */
export function canTaskFix(why: LandingRefusal): boolean {
  // An agent that is told of a secret might commit it.
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

/** Whether something does not land since it is in a repository inside the tree. */
function isAboutRepository(why: StaysReason): boolean {
  return why === 'repository' || why === 'uncommitted-inside';
}

/** Returns the checks of a landing: those of the task, and the command that completed it. */
export function landingChecks(
  { evidence }: Pick<TaskState, 'evidence'>,
  { verify, until }: Pick<Policy, 'verify' | 'until'>,
): readonly Check[] {
  if (until === null || evidence?.kind !== 'until') return verify;
  return [...verify, { name: until, command: until }];
}

/** The longest first line of a commit message. */
const SUBJECT_CHARS = 72;

/** How the lines around the text of a task file begin: what stands before is the same for all of them. */
const FILE_BEGINS = '===== BEGIN DATA: the task file';
const FILE_ENDS = '===== END DATA';

/**
 * Returns the message of a landing's commit: its subject is the first line of the task's prompt, or of its
 * task file.
 */
export function landingMessage(taskId: string, prompt: string): string {
  const lines = prompt.split('\n');
  const line = lines
    .slice(lines.findIndex((each) => each.startsWith(FILE_BEGINS)) + 1)
    .filter((each) => !each.startsWith(FILE_ENDS))
    .map((each) => each.replace(/^[#>*\s-]+/, '').trim())
    .find((each) => /[\p{L}\p{N}]/u.test(each));
  const chars = [...(line ?? `Land ${taskId}`)];
  const subject =
    chars.length <= SUBJECT_CHARS
      ? chars.join('')
      : `${chars.slice(0, SUBJECT_CHARS - 1).join('')}…`;
  return `${subject}\n\nRalph-Task: ${taskId}\n`;
}

import type { CommandResult } from '../../core/completion/command-result.ts';
import type {
  Elsewhere,
  LandingEnd,
  LandingRefusal,
  Stays,
  StaysReason,
} from '../../core/snapshots/landing.ts';
import { oneLine, tailOf, withoutControls } from '../../core/text/untrusted-text.ts';
import { plural } from '../format.ts';

/** The facts that sentences about a landing mention. A landing merges a task's branch into another one. */
export interface LandingFacts {
  readonly taskId: string;
  /** The branch to merge into, without `refs/heads/`. */
  readonly onto: string;
  /** The patch file that is written in place of a merge, or null. */
  readonly file: string | null;
  readonly checks: number;
  /** The task's commits on branches that did not land. */
  readonly elsewhere: Elsewhere;
}

/** Says how a landing ended, in one sentence, with the end of a failed command's output below it. */
export function landingText(end: LandingEnd, facts: LandingFacts): string {
  const text = endText(end, facts);
  return facts.elsewhere.size === 0
    ? text
    : `${text}; not landed: ${elsewhereText(facts.elsewhere)}`;
}

function elsewhereText(elsewhere: Elsewhere): string {
  return few([...elsewhere].map(([name, count]) => `${plural(count, 'commit')} on ${shown(name)}`));
}

function endText(end: LandingEnd, facts: LandingFacts): string {
  const { taskId, onto, file, checks } = facts;
  const unchecked = checks === 0 ? '; it has no --verify, so nothing was checked' : '';
  switch (end.kind) {
    case 'landed':
      return `${taskId} has landed on ${onto} as ${end.commit.slice(0, 12)} (${plural(end.files, 'file')})${unchecked}`;
    case 'written':
      return `${file} has what ${taskId} changes on ${onto} (${plural(end.files, 'file')})${unchecked}`;
    case 'landed-already':
      return `${taskId} has landed on ${onto} already, as ${end.commit.slice(0, 12)}`;
    case 'nothing-new':
      return end.of === 'work'
        ? `${onto} holds everything that ${taskId} has done already, apart from what git ignores`
        : `${onto} holds everything that ${taskId} has committed already`;
    case 'refused':
      return end.why.kind === 'half-moved'
        ? `${taskId} has not landed, but its files are in a work tree: ${refusalText(end.why, facts)}`
        : `${taskId} has not landed, and nothing has changed: ${refusalText(end.why, facts)}`;
  }
}

/** Says which of the task's files do not land, and why; null if all do. */
export function staysText(stays: Stays): string | null {
  return stays.size === 0
    ? null
    : `not landed, since the task left it uncommitted: ${withReasons(stays)}`;
}

function withReasons(stays: Stays): string {
  return few([...stays].map(([name, why]) => `${shown(name)} (${STAYS[why]})`));
}

const STAYS: Readonly<Record<StaysReason, string>> = {
  secret: 'looks like a secret',
  'too-large': 'larger than --snapshot-limit',
  unreadable: 'cannot be read',
  excluded: 'left out by --snapshot-exclude',
  repository: 'a repository of its own',
  'uncommitted-inside': 'a repository of its own, with work that is not committed in it',
  'branch-moved': 'only in the newest snapshot, and the branch has moved since',
};

/** Returns what a person has to do so that the files can land, each thing once. */
function toLand(stays: Stays): string {
  const todos = [...stays.values()].map((why) =>
    why === 'repository'
      ? 'remove the .git of the repository inside, or make it a submodule'
      : why === 'uncommitted-inside'
        ? 'commit in the repository inside'
        : "commit it on the task's branch",
  );
  return [...new Set(todos)].join('; ');
}

/** Returns what the agent is told if its task continues because the landing failed. */
export function landingHint(why: LandingRefusal, facts: LandingFacts): string {
  const todo =
    why.kind === 'conflict'
      ? ` Merge ${facts.onto} into your branch, resolve the conflict, and commit.`
      : why.kind === 'checks-failed'
        ? `\nMerge ${facts.onto} into your branch, and fix it there.`
        : why.kind === 'unrelated'
          ? ` Move your branch to ${facts.onto}, and bring your work in there.`
          : why.kind === 'empty'
            ? ' Bring your work there.'
            : '';
  return `Your work was to be landed on the branch ${facts.onto}, and that failed: ${refusalText(why, facts)}${todo}`;
}

function refusalText(why: LandingRefusal, { onto, file, checks }: LandingFacts): string {
  switch (why.kind) {
    case 'conflict':
      return `${onto} has changed the same lines of ${few(why.paths.map(shown))}.`;
    case 'left-out':
      return `all that ${onto} lacks of it was left uncommitted: ${withReasons(why.stays)}. To land it, ${toLand(why.stays)}.`;
    case 'elsewhere':
      return `all that ${onto} lacks of it is on other branches: ${elsewhereText(why.elsewhere)}. To land it, merge it into the task's branch.`;
    case 'shallow':
      return `${onto} and its branch have no commit in common, since the repository is shallow: git fetch --unshallow, and land again.`;
    case 'unrelated':
      return `${onto} and its branch have no commit in common.`;
    case 'empty':
      return `nothing is changed on its branch ${shown(why.branch)}, nor in its work tree.`;
    case 'branch-gone':
      return `its branch ${shown(why.branch)} is gone.`;
    case 'setup-failed':
      return `--setup failed in the merged work tree: ${commandText(why.result)}`;
    case 'checks-failed':
      return `${why.failed.length === 1 ? 'its check' : `${why.failed.length} of its checks`} failed after the merge with ${onto}: ${why.failed.map((each) => commandText(each, OUTPUT_CHARS / why.failed.length)).join('\n')}`;
    case 'other-branch':
      return `its work tree ${why.folder} is on ${why.head ?? 'no branch'} instead of the task's own; check that out there.`;
    case 'unfinished':
      return `${why.what} is under way in its work tree ${why.folder}; finish it there.`;
    case 'filtered':
      return `${few(why.paths.map(shown))}: left uncommitted under a filter that only the repository's configuration defines, which ralph does not run; commit it yourself, or define the filter with git config --global.`;
    case 'moved':
      return `${onto} moved ${checks === 0 ? 'meanwhile' : 'while it was checked'}; land again.`;
    case 'in-the-way':
      return `changes in ${why.folder}, where ${onto} is checked out, are in the way: ${few(why.paths.map((name) => oneLine(name, 300)))}. Commit or move them.`;
    case 'half-moved':
      return `${withoutStop(why.why)}. Git had written files in ${why.folder} before it failed, and they could not be put back: ${few(why.paths.map(shown))}. Look at git status there; git restore --source=HEAD --staged --worktree -- PATH puts one back.`;
    case 'file-exists':
      return `${file} exists; name another file.`;
    case 'stopped':
      return 'it was stopped.';
    case 'failed':
      return `${withoutStop(why.why)}.`;
  }
}

function withoutStop(why: string): string {
  return oneLine(why, 300).replace(/\.$/, '');
}

const OUTPUT_CHARS = 4_000;

/** Says how a command failed. The end of its output, at most `room` characters, stands below. */
export function commandText(
  { command, exitCode, timedOut, output }: CommandResult,
  room = OUTPUT_CHARS,
): string {
  const end = timedOut
    ? 'took too long'
    : exitCode === null
      ? 'was killed'
      : `exited with ${exitCode}`;
  const text = tailOf(withoutControls(output).trimEnd(), Math.floor(room));
  return `${oneLine(command, 200)} ${end}.${text === '' ? '' : `\n${text}`}`;
}

const MOST_NAMES = 10;

function few(names: readonly string[]): string {
  const more = names.length - MOST_NAMES;
  return [...names.slice(0, MOST_NAMES), ...(more > 0 ? [`${more} more`] : [])].join(', ');
}

function shown(name: string): string {
  return oneLine(name, 300);
}

import type { Notice } from '../core/machine/action.ts';
import type { PutBack } from '../core/task/put-back.ts';
import type { TreeLacks } from '../core/task/tree-lacks.ts';
import { firstFew, oneLine } from '../core/text/untrusted-text.ts';
import { messageOf } from '../errors.ts';
import { commandHere } from '../printed-command.ts';
import { belowSections, formatDuration, plural } from './format.ts';

// The sentences about a run that do not describe one of its events: what a person should know before the run
// starts, and what ralph notices on the way. They are together so that they sound alike.

export function startLine(taskId: string, policy: StartFacts): string {
  return `task ${taskId}: up to ${plural(policy.maxIterations, 'iteration')} of ${formatDuration(policy.iterationTimeoutMs)}, ${formatDuration(policy.taskTimeoutMs)} in all; done when ${policy.completion}`;
}

export interface StartFacts {
  readonly maxIterations: number;
  readonly iterationTimeoutMs: number;
  readonly taskTimeoutMs: number;
  /** The completion rule in words. */
  readonly completion: string;
}

export function promptStatesPromise(promise: string): string {
  return `The prompt itself states the promise '${promise}' on a line of its own: an agent that repeats the prompt could count as done. Put the promise into a sentence instead.`;
}

/** Says that a limit from a variable or a configuration has no effect, since `agents` do not report what it counts. */
export function limitsNothing(where: string, agents: readonly string[], what: string): string {
  return `${where} has no effect: ${agents.join(' and ')} ${agents.length === 1 ? 'reports' : 'report'} no ${what}.`;
}

/** Says on which agents of the run a limit has no effect. */
export function limitNotHeld(where: string, agents: readonly string[]): string {
  return `${where} has no effect on ${agents.join(' and ')}.`;
}

/** Warns that an agent without permission checks and without a sandbox can do anything. */
export function mayDoEverything(): string {
  return 'The agent can do anything you can: --sandbox keeps it in this folder.';
}

/** Warns of a command that runs outside the sandbox and executes files of the work folder. */
export function runsAgentsFiles(where: string, command: string): string {
  return `${where} '${command}' runs outside the sandbox, and executes what the agent may have written.`;
}

/** Warns that the agent reads files that the prompt names with an `@`. */
export function promptIncludesFiles(agents: string, words: readonly string[]): string {
  const shown = words.slice(0, 3).join(', ');
  return `${agents} reads the files that the prompt names with an @ (${shown}${words.length > 3 ? ', …' : ''}) and puts their content into it; write \\@ to keep it text.`;
}

/** Says that the tasks of `ralph watch` work in the same files. */
export function tasksShareTree(concurrency: number, cwd: string): string {
  return `up to ${concurrency} tasks work in ${cwd} at the same time, in the same files; --worktree gives each its own`;
}

/** `why` is a clause. */
export function gitNotUsable(why: string): string {
  return `No snapshots, diff and undo: they need a git work tree, and ${why}.`;
}

/** `where` is the flag that names the plan. */
export function planNotThere(where: string, file: string): string {
  return `${where} names ${file}, and there is no such file: it completes nothing before the agent has written it.`;
}

export function planNotReadable(where: string, file: string): string {
  return `${where} names ${file}, which cannot be read as a plan: it completes nothing until it can.`;
}

/** `sections` are the headings below which checkboxes count; empty if all count. */
export function planHasNoBox(where: string, file: string, sections: readonly string[]): string {
  return `${where} names ${file}, which has no box${belowSections(sections)}: it completes nothing before the agent has written one.`;
}

/** Says what is missing in a new work tree. */
export function treeLacks({ submodules, ignored, hooks }: TreeLacks): readonly string[] {
  const shown = (name: string): string => oneLine(name, 200);
  return [
    ...(submodules.length === 0
      ? []
      : [
          `Its submodules are empty (${firstFew(submodules, shown)}): --setup "git submodule update --init".`,
        ]),
    ...(ignored.length === 0
      ? []
      : [`What git ignores is not in it: ${firstFew(ignored, shown)} (--setup, --copy).`]),
    ...(hooks === null
      ? []
      : [
          `No hook will run at a commit: the folder of the hooks, ${shown(hooks)}, is not in it, since git does not track it.`,
        ]),
  ];
}

export function protectsNothing(glob: string): string {
  return `--protect '${glob}' matches no file, so it protects nothing.`;
}

/** Names the files that decide the results of the checks, and so are watched. */
export function decidedBy(files: readonly string[]): string {
  return `watching what decides the checks: ${firstFew(files)}`;
}

/** Says which agent judges whether a task is done, and by how many criteria. `isWorker`: that agent also does the work. */
export function judgeNotice(
  judge: { readonly agent: string; readonly model: string | null },
  count: number,
  isWorker: boolean,
): string {
  const { agent, model } = judge;
  const who = `${agent}${model === null ? '' : ` (${oneLine(model, 80)})`}`;
  const same = isWorker ? '; it is the agent that does the work, too' : '';
  return `Claims are judged by ${who}, by ${count === 1 ? 'one criterion' : `${count} criteria`}${same}.`;
}

/** Says that a word in a check's command runs an unknown file, which is not watched. */
export function isNotWatched(word: string): string {
  return `What "${word}" runs is not watched; name it with --protect.`;
}

/** Says that files which a check runs are in no snapshot, and so may change unseen. */
export function notInSnapshots(files: readonly string[]): string {
  const are = files.length === 1 ? 'it is' : 'they are';
  return `Not watched, since git ignores ${files.length === 1 ? 'it' : 'them'} or ${are} outside the work tree: ${firstFew(files)}. What is not built can be named with --protect.`;
}

/** Says which files of the user the checks have changed. */
export function changedByChecks(files: readonly string[]): string {
  return `The checks changed ${firstFew(files)}.`;
}

export function unsupportedFlagNotice(what: Notice): string {
  return `This agent does not know ${what.flag}, which ralph adds by itself; ralph continues without it.`;
}

/** Returns the warning for a user's command that failed. `exitCode` is null if a signal ended it. */
export function commandFailed(flag: string, exitCode: number | null): string {
  return `${flag} ${exitCode === null ? 'was killed' : `exited with ${exitCode}`}.`;
}

/** Returns the notice about paths that an iteration changed and ralph does not commit. */
export function leftUncommitted(why: keyof typeof LEFT_BECAUSE, names: readonly string[]): string {
  return `Not committed: ${leftBecause(why, names)}.`;
}

/** Returns the paths, at most ten, and why they are not committed. */
export function leftBecause(why: keyof typeof LEFT_BECAUSE, names: readonly string[]): string {
  const shown = names.slice(0, 10).map((name) => oneLine(name, 200));
  const more = names.length > 10 ? ` and ${names.length - 10} more` : '';
  return `${shown.join(', ')}${more} (${LEFT_BECAUSE[why]})`;
}

const LEFT_BECAUSE = {
  others: 'it had changes of yours before',
  secret: 'a new file that looks like a secret by its name; add it to .gitignore',
  ignored: 'git ignores it, or did when the iteration began',
  conflict: 'it has a conflict',
  repository: 'a repository of its own; git submodule add makes it part of this one',
  'not-kept': 'no snapshot has it as it is now',
} as const;

export function branchMade(branch: string): string {
  return `The commits of this task go to the new branch ${branch}, which is now checked out: the branch before was protected, or HEAD was on none.`;
}

/** `paths` are in the form in which people read them. */
export function heldBack(paths: readonly string[]): string {
  return `Not restored, since the sandbox keeps the agent from writing there: ${oneLine(paths.join(', '), 300)}.`;
}

export function headNotMoved(iteration: number, why: string): string {
  return `The files are as before iteration ${iteration}, but the branch and the index stay as they are: ${why}.`;
}

/** `why` is a clause that names the lock. */
export function indexBehind(why: string): string {
  return `The repository's index is locked, so git status shows the last commit as taken back until ralph can bring it up to date: ${why}.`;
}

/** `why` is a clause. */
export function noSnapshots(why: string): string {
  return `No snapshot of the work tree could be made, so undo cannot bring back what the agent changes: ${why}`;
}

/** `missing` names the snapshot that does not exist, such as `of iteration 3`. */
export function noSnapshot(missing: string, why: string): string {
  return `${why}, so there is no snapshot ${missing}`;
}

/** `why` is a clause. */
export function proofNotKept(why: string): string {
  return `The proof of this task could not be written: ${why.replace(/\.$/, '')}.`;
}

export function stateNotKept(error: unknown): string {
  return `The state cannot be kept (${messageOf(error)}). The loop continues, but cannot be resumed.`;
}

export function journalNotKept(file: string, error: unknown): string {
  return `Cannot write events to ${file} (${messageOf(error)}). ralph tries again with each further event; until then \`ralph report\` does not show them.`;
}

/** Says what had happened to a task's file, and that it is in its place again. */
export function taskFilePutBack(name: string, what: PutBack): string {
  switch (what.kind) {
    case 'removed':
      return `${name} was removed, and ralph has put it back: its text is nowhere else.`;
    case 'emptied':
      return `${name} was emptied, and ralph has put its text back: it is nowhere else.`;
    case 'replaced':
      return `${name} was replaced, and ralph has put it back; what lay in its place is now ${what.aside}.`;
    case 'moved':
      return `${name} was moved to ${what.from}, and ralph has moved it back: there it would be a new task.`;
  }
}

export function taskFileNotPutBack(name: string, copy: string, why: string): string {
  return `${name} is gone and could not be put back (${why}); copy its text from ${copy}.`;
}

export function leftoverLine(
  what: 'left' | 'ended',
  processes: readonly { readonly pid: number; readonly command: string }[],
): string {
  const names = processes.map(({ pid, command }) => `${pid} (${command})`).join(', ');
  switch (what) {
    case 'left':
      return `still running in the background: ${names}`;
    case 'ended':
      return `ended leftover background processes: ${names}`;
  }
}

export function leftoversOfDeadDriver(count: number): string {
  return `ended ${count === 1 ? 'a process' : `${count} processes`} that the last run of this task left behind when it crashed`;
}

export function leftoversNotEnded(pids: readonly number[]): string {
  const [what, them] =
    pids.length === 1 ? ['a process', 'it'] : [`${pids.length} processes`, 'them'];
  return `${what} of the run named in this state still ${pids.length === 1 ? 'lives' : 'live'} (${pids.join(', ')}); end ${them} unless this task is a copy of another`;
}

export function baselineLost(): string {
  return 'The state of the files at the start of the task is lost (baseline.json is missing or damaged): changes are counted from now on.';
}

export function previousRunArchived(taskId: string, needsTrust: boolean): string {
  const resume = commandHere('resume', taskId, needsTrust ? ['--trust'] : []);
  return `An earlier run of ${taskId} was moved to the history, and this one starts over. What would have continued it: ${resume}`;
}

/** Returns the notice that a new run of a task cannot announce how an earlier run, which crashed, ended. */
export function endingNotAnnounced(taskId: string, why: string): string {
  return `cannot announce how the earlier run of ${taskId} ended (${why.replace(/\.$/, '')})`;
}

/** Returns the notice, printed even with `--quiet`, that a person takes over a task that somebody else wrote. */
export function takenOver(taskId: string, doubt: string, rights: readonly string[]): string {
  const asks = rights.length === 0 ? 'with nothing but its prompt' : `with ${rights.join(', ')}`;
  return `task '${taskId}' ${doubt}; --trust takes it over, ${asks}`;
}

/**
 * Returns the error for a completed task in the history without a valid signature. `problem` says why ralph
 * could not check the signature; null means that it is missing or wrong.
 */
export function completedByAnother(taskId: string, problem: string | null): string {
  const why =
    problem === null
      ? 'your ralph did not write that here'
      : `ralph cannot tell whether you wrote that (${problem})`;
  return `the state of ${taskId} says that it is completed, but ${why}; a run with --task-id ${taskId} does the work again`;
}

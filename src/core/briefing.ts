import type { ShownState, ShownTask } from './shown-task.ts';
import { isLive } from './shown-task.ts';
import { type IterationRecord, laterBy, msBetween, type TaskState } from './task-state.ts';

/** What the journal tells of a task within a span, beside its iterations. */
export interface Happening {
  readonly at: string;
  readonly kind:
    | 'started'
    | 'resumed'
    | 'asked-back'
    | 'near-miss'
    | 'held'
    | 'retried'
    | 'limited'
    | 'asked'
    | 'ended';
  readonly detail: string;
}

/** One line of the journal that a briefing is made of. */
export type JournalEntry =
  | { readonly kind: 'iteration'; readonly taskId: string; readonly iteration: BriefIteration }
  | {
      readonly kind: 'happening';
      readonly taskId: string;
      readonly happening: Happening;
      /** Of an ending: what the agent said last. */
      readonly finalMessage: string | null;
    };

/** An iteration, with its outcome in words where there is more to say than its kind. */
export type BriefIteration = IterationRecord & { readonly detail: string };

/** A task as it was found, whatever its state file is. */
export interface FoundRun {
  readonly shown: ShownTask;
  /** Null where the file could not be read. */
  readonly task: TaskState | null;
}

/** A note for a human that still lies in `Needs_Action`. */
export interface OpenNote {
  readonly file: string;
  /** The word in its name: `EXHAUSTED`. */
  readonly reason: string;
  readonly taskId: string;
  readonly at: string;
}

/** A request that still lies in `Pending_Approval`. */
export interface OpenRequest {
  readonly file: string;
  /** Null where its name tells none. */
  readonly taskId: string | null;
  readonly at: string;
}

export type BriefGroup = 'completed' | 'failed' | 'waiting' | 'running';

/** A task, with what happened to it within the span. */
export interface BriefTask extends FoundRun {
  readonly group: BriefGroup;
  readonly iterations: readonly BriefIteration[];
  readonly happenings: readonly Happening[];
  readonly finalMessage: string | null;
  readonly note: OpenNote | null;
  /** US dollars, of the iterations within the span. */
  readonly costUsd: number;
  /** Time in which an agent worked within the span. */
  readonly workMs: number;
}

/** Something that only a person can bring on. */
export type Need =
  | { readonly kind: 'task'; readonly task: BriefTask }
  /** A request or a note that goes with none of the tasks of the span. */
  | { readonly kind: 'request'; readonly request: OpenRequest }
  | { readonly kind: 'note'; readonly note: OpenNote };

export interface Briefing {
  readonly since: string;
  readonly until: string;
  readonly vault: string;
  readonly stateDir: string;
  /** The key that commands have to name, absolute; null where it is found without. */
  readonly keyFlag: string | null;
  /** What needs a person, the most pressing first. */
  readonly needs: readonly Need[];
  /** The newest first. */
  readonly tasks: readonly BriefTask[];
  readonly totals: BriefTotals;
}

type BriefTotals = Readonly<Record<BriefGroup, number>> & {
  /** Tasks that say they are completed, and that this user's ralph has not written. */
  readonly foreign: number;
  readonly iterations: number;
  readonly costUsd: number;
  readonly workMs: number;
};

/** All that a briefing is made from. */
export interface BriefingSources {
  readonly since: string;
  readonly until: string;
  readonly vault: string;
  readonly stateDir: string;
  /** The key that commands have to name, absolute; null where it is found without. */
  readonly keyFlag: string | null;
  readonly runs: readonly FoundRun[];
  readonly journal: readonly JournalEntry[];
  readonly notes: readonly OpenNote[];
  readonly requests: readonly OpenRequest[];
}

/** Makes a briefing of what was found; all pure. */
export function makeBriefing(sources: BriefingSources): Briefing {
  const { since, until, vault, stateDir, keyFlag, notes, requests } = sources;
  const told = attributed(sources.journal, sources.runs);
  const tasks = sources.runs
    .map((run) => briefTask(run, told.get(run) ?? [], notes, since))
    .filter((task) => isOfInterest(task, since))
    .sort((one, other) => compare(lastAt(other), lastAt(one)));
  return {
    since,
    until,
    vault,
    stateDir,
    keyFlag,
    tasks,
    needs: needsOf(tasks, requests, notes),
    totals: totalsOf(tasks),
  };
}

/** Which run of a task an entry is about: the last one that had begun by then. */
function attributed(
  journal: readonly JournalEntry[],
  runs: readonly FoundRun[],
): ReadonlyMap<FoundRun, readonly JournalEntry[]> {
  const byTask = new Map<string, FoundRun[]>();
  for (const run of runs) {
    if (run.task === null) continue;
    byTask.set(run.task.task_id, [...(byTask.get(run.task.task_id) ?? []), run]);
  }
  const told = new Map<FoundRun, JournalEntry[]>();
  for (const entry of journal) {
    const at = entry.kind === 'iteration' ? entry.iteration.started_at : entry.happening.at;
    const run = (byTask.get(entry.taskId) ?? [])
      .filter(({ task }) => task !== null && msBetween(task.started_at, at) >= 0)
      .reduce<FoundRun | null>((last, each) => (isLater(each, last) ? each : last), null);
    if (run === null) continue;
    const entries = told.get(run);
    if (entries === undefined) told.set(run, [entry]);
    else entries.push(entry);
  }
  return told;
}

function isLater({ task }: FoundRun, last: FoundRun | null): boolean {
  return (task?.started_at ?? '') > (last?.task?.started_at ?? '');
}

function briefTask(
  run: FoundRun,
  entries: readonly JournalEntry[],
  notes: readonly OpenNote[],
  since: string,
): BriefTask {
  const iterations = new Map<number, BriefIteration>();
  // The journal may be gone, and the state keeps the newest ones only: each fills in for the other.
  for (const record of run.task?.iterations ?? []) {
    if (msBetween(since, endOf(record)) >= 0)
      iterations.set(record.number, { ...record, detail: '' });
  }
  const happenings: Happening[] = [];
  let finalMessage: string | null = null;
  for (const entry of entries) {
    if (entry.kind === 'iteration') iterations.set(entry.iteration.number, entry.iteration);
    else {
      happenings.push(entry.happening);
      finalMessage = entry.finalMessage ?? finalMessage;
    }
  }
  const inOrder = [...iterations.values()].sort((one, other) => one.number - other.number);
  const note = notes.filter(({ taskId }) => taskId === run.shown.taskId);
  return {
    ...run,
    group: groupOf(run.shown.state),
    iterations: inOrder,
    happenings,
    finalMessage,
    note: run.shown.archived ? null : (note.at(-1) ?? null),
    costUsd: sum(inOrder.map(({ cost_usd }) => cost_usd)),
    workMs: sum(inOrder.map(({ duration_ms }) => duration_ms)),
  };
}

/** When an iteration ended. */
function endOf({ started_at, duration_ms }: IterationRecord): string {
  return laterBy(started_at, duration_ms);
}

function groupOf(state: ShownState): BriefGroup {
  switch (state) {
    case 'completed':
      return 'completed';
    case 'running':
    case 'pending':
      return 'running';
    case 'paused':
    case 'paused_awaiting_approval':
    case 'stopped':
    case 'interrupted':
      return 'waiting';
    default:
      return 'failed';
  }
}

/** What waits is of interest for as long as it does; what has ended, where that was in the span. */
function isOfInterest(task: BriefTask, since: string): boolean {
  if (task.iterations.length + task.happenings.length > 0) return true;
  if (!task.shown.archived && (isLive(task.shown.state) || task.group === 'waiting')) return true;
  return task.task === null ? !task.shown.archived : lastAt(task) >= since;
}

function lastAt({ shown, task }: BriefTask): string {
  return shown.finishedAt ?? task?.updated_at ?? '';
}

/** Approvals first, since work waits for them; then what cannot go on; then what was only held. */
function needsOf(
  tasks: readonly BriefTask[],
  requests: readonly OpenRequest[],
  notes: readonly OpenNote[],
): readonly Need[] {
  const pressing = tasks
    .filter(({ shown, group }) => !shown.archived && rankOf(shown.state, group) !== null)
    .sort(
      (one, other) =>
        (rankOf(one.shown.state, one.group) ?? 9) - (rankOf(other.shown.state, other.group) ?? 9),
    );
  const asking = new Set(tasks.filter(isAsking).map(({ shown }) => shown.taskId));
  const loose = requests.filter(({ taskId }) => taskId === null || !asking.has(taskId));
  const told = new Set(pressing.flatMap(({ note }) => note?.file ?? []));
  return [
    ...pressing.filter(isAsking).map((task) => ({ kind: 'task' as const, task })),
    ...loose.map((request) => ({ kind: 'request' as const, request })),
    ...pressing.filter((task) => !isAsking(task)).map((task) => ({ kind: 'task' as const, task })),
    ...notes.filter(({ file }) => !told.has(file)).map((note) => ({ kind: 'note' as const, note })),
  ];
}

function isAsking({ shown }: BriefTask): boolean {
  return shown.state === 'paused_awaiting_approval';
}

/** How pressing it is that a person looks; null where it goes on by itself. */
function rankOf(state: ShownState, group: BriefGroup): number | null {
  if (state === 'paused_awaiting_approval') return 0;
  if (state === 'failed' || state === 'corrupt' || state === 'unreadable') return 1;
  if (group === 'failed') return 2;
  return group === 'waiting' ? 3 : null;
}

function totalsOf(tasks: readonly BriefTask[]): BriefTotals {
  const count = (group: BriefGroup): number => tasks.filter((task) => task.group === group).length;
  const isForeign = ({ group, shown }: BriefTask): boolean => group === 'completed' && !shown.isOwn;
  const foreign = tasks.filter(isForeign).length;
  return {
    completed: count('completed') - foreign,
    foreign,
    failed: count('failed'),
    waiting: count('waiting'),
    running: count('running'),
    iterations: sum(tasks.map(({ iterations }) => iterations.length)),
    costUsd: sum(tasks.map(({ costUsd }) => costUsd)),
    workMs: sum(tasks.map(({ workMs }) => workMs)),
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function compare(one: string, other: string): number {
  return one === other ? 0 : one < other ? -1 : 1;
}

import type {
  BriefIteration,
  BriefingSources,
  FoundRun,
  Happening,
  JournalEntry,
  OpenNote,
  OpenRequest,
} from './briefing-sources.ts';
import { rowOfState } from './endings.ts';
import { isLive, type ShownState } from './shown-task.ts';
import { type IterationRecord, laterBy, msBetween } from './task-state.ts';

export type BriefGroup = 'completed' | 'failed' | 'waiting' | 'running';

/** A task with its events within the time span of the briefing. */
export interface BriefTask extends FoundRun {
  readonly group: BriefGroup;
  readonly iterations: readonly BriefIteration[];
  readonly happenings: readonly Happening[];
  readonly finalMessage: string | null;
  readonly note: OpenNote | null;
  /** US dollars, for the iterations within the span. */
  readonly costUsd: number;
  /** Milliseconds for which an agent worked within the span. */
  readonly workMs: number;
}

/** Something that needs a person. */
export type Need =
  | { readonly kind: 'task'; readonly task: BriefTask }
  /** A request or a note that belongs to no task in the briefing's time span. */
  | { readonly kind: 'request'; readonly request: OpenRequest }
  | { readonly kind: 'note'; readonly note: OpenNote };

export interface Briefing extends Omit<BriefingSources, 'runs' | 'journal' | 'notes' | 'requests'> {
  /** What needs a person, most urgent first. */
  readonly needs: readonly Need[];
  /** The newest task first. */
  readonly tasks: readonly BriefTask[];
  readonly totals: BriefTotals;
}

type BriefTotals = Readonly<Record<BriefGroup, number>> & {
  /** Tasks that are marked as completed, but whose state file lacks this user's seal (a keyed checksum). */
  readonly foreign: number;
  readonly iterations: number;
  readonly costUsd: number;
  readonly workMs: number;
};

/** Makes a briefing from its sources. */
export function makeBriefing(sources: BriefingSources): Briefing {
  const { runs, journal, notes, requests, ...others } = sources;
  const entriesOf = entriesByRun(journal, runs);
  const tasks = runs
    .map((run) => briefTask(run, entriesOf.get(run) ?? [], notes, others.since))
    .filter((task) => isOfInterest(task, others.since))
    .sort((one, other) => compare(lastAt(other), lastAt(one)));
  return {
    ...others,
    tasks,
    needs: needsOf(tasks, requests, notes),
    totals: totalsOf(tasks),
  };
}

/** Assigns each journal entry to a run of its task: the last run that had started at the time of the entry. */
function entriesByRun(
  journal: readonly JournalEntry[],
  runs: readonly FoundRun[],
): ReadonlyMap<FoundRun, readonly JournalEntry[]> {
  const byTask = new Map<string, FoundRun[]>();
  for (const run of runs) {
    if (run.task === null) continue;
    byTask.set(run.task.task_id, [...(byTask.get(run.task.task_id) ?? []), run]);
  }
  const entriesOf = new Map<FoundRun, JournalEntry[]>();
  for (const entry of journal) {
    const at = entry.kind === 'iteration' ? entry.iteration.started_at : entry.happening.at;
    const run = (byTask.get(entry.taskId) ?? [])
      .filter(({ task }) => task !== null && msBetween(task.started_at, at) >= 0)
      .reduce<FoundRun | null>((last, each) => (isLater(each, last) ? each : last), null);
    if (run === null) continue;
    const entries = entriesOf.get(run);
    if (entries === undefined) entriesOf.set(run, [entry]);
    else entries.push(entry);
  }
  return entriesOf;
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
  // The journal may be gone, and the state has only the newest iterations, so journal and state are read.
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

function endOf({ started_at, duration_ms }: IterationRecord): string {
  return laterBy(started_at, duration_ms);
}

function groupOf(state: ShownState): BriefGroup {
  switch (rowOfState(state, null)?.needs ?? state) {
    case 'nothing':
      return 'completed';
    case 'a resume':
      // A task at a usage limit counts as failed, since no person chose to pause it.
      return state === 'usage_limited' ? 'failed' : 'waiting';
    case 'interrupted':
      return 'waiting';
    case 'running':
    case 'pending':
      return 'running';
    default:
      return 'failed';
  }
}

/** Whether the briefing shows a task: it is open, or something happened to it within the span. */
function isOfInterest(task: BriefTask, since: string): boolean {
  if (task.iterations.length + task.happenings.length > 0) return true;
  if (!task.shown.archived && (isLive(task.shown.state) || task.group === 'waiting')) return true;
  return task.task === null ? !task.shown.archived : lastAt(task) >= since;
}

function lastAt({ shown, task }: BriefTask): string {
  return shown.finishedAt ?? task?.updated_at ?? '';
}

/** Returns what needs a person: first approvals, since work waits for them; then failed tasks; then paused ones. */
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
  const shownNotes = new Set(pressing.flatMap(({ note }) => note?.file ?? []));
  return [
    ...pressing.filter(isAsking).map((task) => ({ kind: 'task' as const, task })),
    ...loose.map((request) => ({ kind: 'request' as const, request })),
    ...pressing.filter((task) => !isAsking(task)).map((task) => ({ kind: 'task' as const, task })),
    ...notes
      .filter(({ file }) => !shownNotes.has(file))
      .map((note) => ({ kind: 'note' as const, note })),
  ];
}

function isAsking({ shown }: BriefTask): boolean {
  return shown.state === 'paused_awaiting_approval';
}

/** Returns how urgently a person is needed (0 is most urgent); null if the task continues by itself. */
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

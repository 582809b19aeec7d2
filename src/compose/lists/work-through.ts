import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { keptOf } from '../../core/list/agents-changes.ts';
import { itemEnd } from '../../core/list/item-end.ts';
import { itemStands, nextItem } from '../../core/list/item-order.ts';
import type { DoneItem } from '../../core/list/item-prompt.ts';
import { itemAsJson, nameAsJson } from '../../core/list/kept-items.ts';
import { type ListItem, type TaskList, withEdits } from '../../core/list/list-item.ts';
import {
  blockedIds,
  type ItemRecord,
  type ListState,
  withoutRecord,
  withRecord,
} from '../../core/list/list-state.ts';
import { readList } from '../../core/list/read-list.ts';
import { type EndedStatus, isEnded } from '../../core/task/endings.ts';
import type { Evidence } from '../../core/task/task-state.ts';
import { readListFile, writeListFile } from '../../effects/lists/list-file.ts';
import { ListCommandError } from '../../errors.ts';
import { EXIT_FAILED, exitCodeFor } from '../../exit-codes.ts';
import type { StopRequests } from '../../loop/ports.ts';
import { TaskAlreadyActiveError, UntrustedTaskError } from '../../task-errors.ts';
import { type ItemCalls, type ListSource, listOf } from './list-source.ts';
import type { UndoneItem } from './undo-item.ts';

/*
 * One item after the other. What is saved at each step, so that a kill at any instant loses nothing:
 *
 *   working, with the list as it is ──► the task runs ──► what the agent did to the list is put back,
 *                                                         and the item is ticked, in one write
 *                                                            │
 *   done, or blocked ◄───────────────────────────────────────┘
 *
 * A list that is no file has no ticks: what is saved says that ralph has done an item. Whoever has to be told of it, is
 * told after that; if it fails, the next run tells them.
 *
 * The next run finds an item that is `working`, and looks at its task: one that has completed is ticked without an
 * agent, one that has failed is blocked, any other goes on.
 */

const NOT_OWN = 'was not written by you here';

/** The task of an item, as the state folder has it. */
interface ItemTask {
  /** Whether this user's ralph wrote the state: one that somebody else wrote ticks nothing. */
  readonly isOwn: boolean;
  readonly startedAt: string;
  /** `live`, the status in which it ended, or another shown state. */
  readonly standing: string;
  readonly exitReason: string | null;
  readonly evidence: Evidence | null;
  /** The folder of its logs. */
  readonly folder: string;
}

/** How a run of an item's task ended. */
export interface ItemRun {
  readonly status: EndedStatus;
  readonly exitReason: string;
  readonly evidence: Evidence | null;
}

/** An item to start. */
export interface StartedItem {
  readonly item: ListItem;
  readonly taskId: string;
  /** Its place among the items that count, from 1, and how many there are. */
  readonly place: number;
  readonly count: number;
  readonly done: readonly DoneItem[];
}

/** What happens to the items of a list. */
export type ListEvent =
  | {
      readonly kind: 'done';
      readonly item: string;
      readonly taskId: string;
      readonly proof: string;
    }
  | {
      readonly kind: 'blocked';
      readonly item: string;
      readonly taskId: string;
      readonly reason: string;
      /** Whether its changes were taken back, or why they could not be. */
      readonly undone: UndoneItem;
    }
  /** Somebody else has it, as its source says. `why`: a clause. */
  | { readonly kind: 'left'; readonly item: string; readonly why: string }
  /** Its source could not be told that it is done. */
  | { readonly kind: 'not-told'; readonly item: string; readonly why: string }
  | {
      readonly kind: 'agent-changed-list';
      readonly item: string;
      readonly what: 'marks-put-back' | 'put-back';
      readonly why: string | null;
      /** Where the changed list is kept; null if it is not. */
      readonly keptAt: string | null;
    };

/** The outside world that a run over a list needs. */
export interface ListPorts {
  readonly stateDir: string;
  /** Absolute path of the file; null if the list is none. */
  readonly file: string | null;
  readonly source: ListSource;
  readonly calls: ItemCalls;
  /** The list as people name it. */
  readonly shown: string;
  readonly sections: readonly string[];
  readonly only: ReadonlySet<string> | null;
  readonly taskIdOf: (item: string) => string;
  readonly save: (state: ListState) => Promise<void>;
  readonly find: (taskId: string) => ItemTask | null;
  /** Resolves to the commit with the work of a task; null if it has none. */
  readonly commitOf: (taskId: string) => Promise<string | null>;
  /** Runs the task of an item from its beginning. A number is the exit code of what keeps all items from starting. */
  readonly start: (started: StartedItem) => Promise<ItemRun | number>;
  /** Goes on with the task of an item; null if it turns out to be completed. */
  readonly resume: (taskId: string) => Promise<ItemRun | number | null>;
  /** Takes back what a task has changed. Never rejects. */
  readonly undo: (taskId: string) => Promise<UndoneItem>;
  readonly report: (event: ListEvent) => void;
  readonly stops: StopRequests;
}

/** How a run over a list ended. */
export interface ListEnd {
  readonly exitCode: number;
  readonly state: ListState;
  /** The list at the end, without the items that were not there when the run began. */
  readonly list: TaskList;
  /** How many items there are that were not there when the run began. */
  readonly added: number;
  /** How many items were ticked without a proof. */
  readonly unproven: number;
  /** Whether something kept items from starting that could have been started. */
  readonly isCut: boolean;
  /** How many items were ticked. */
  readonly ticked: number;
  /** How many items somebody else has. */
  readonly left: number;
  /** The sentence about a command of the list that failed; null if none did. */
  readonly failure: string | null;
}

/** Works through a list until nothing more can be started. Rejects with a `UsageError` if it cannot be read. */
export async function workThrough(ports: ListPorts, begun: ListState): Promise<ListEnd> {
  let state = begun;
  let unproven = 0;
  let ticked = 0;
  const { file, source, calls } = ports;
  const there = new Set(listBefore(ports, state).items.map(({ id }) => id));
  const isThere = (item: ListItem): boolean => there.has(item.id) || source.isOlder(item);
  const left = new Set<string>();
  let failure: string | null = null;
  const save = async (next: ListState): Promise<void> => {
    await ports.save(next);
    state = next;
  };

  const end = (exitCode: number, isCut: boolean): ListEnd => {
    const { text, items } = source.last(state);
    const known = items.filter(isThere);
    const added = items.length - known.length;
    const counts = { added, unproven, ticked, left: left.size };
    return { exitCode, state, list: { text, items: known }, isCut, ...counts, failure };
  };

  /** Brings the list into the shape that the end of an item's task demands, and says what the agent did to it. */
  const settleList = async (item: ListItem, isDone: boolean): Promise<void> => {
    if (file === null) return;
    const before = listBefore(ports, state);
    const found = readListFile(file);
    const after = 'text' in found ? readList(ports.shown, found.text, ports.sections) : null;
    const why = 'problem' in found ? `the file cannot be used: ${found.problem}` : '';
    const kept = keptOf(before, after, why);
    const list = listOf(ports, kept.text);
    const kin = list.items.find(({ id }) => id === item.id);
    const text = isDone ? withEdits(list.text, kin?.tick ?? []) : list.text;
    const hasChanged = !('text' in found) || found.text !== text;
    // A tick that is there already was ralph's own, before it was killed.
    const isOwn = 'text' in found && isDone && found.text === text;
    if (!isOwn && (kept.what === 'put-back' || kept.what === 'marks-put-back')) {
      const folder = ports.find(ports.taskIdOf(item.id))?.folder ?? null;
      const isKept = kept.what === 'put-back' && 'text' in found && folder !== null;
      const keptAt = isKept ? keepChanged(folder, file, found.text) : null;
      const { what, why: because } = kept;
      ports.report({ kind: 'agent-changed-list', item: item.id, what, why: because, keptAt });
    }
    if (hasChanged) await writeListFile(file, text);
  };

  /** Tells the source of an item that it is done, unless that was done, or nobody is to be told. */
  const tell = async (record: ItemRecord): Promise<void> => {
    if (calls.done === null || record.told !== false || record.state !== 'done') return;
    const end = await calls.done(record);
    if (end.kind === 'passed') {
      await save(withRecord(state, { ...record, told: true, kept: nameAsJson(record.kept) }));
    } else {
      const why = end.kind === 'failed' ? end.why : 'ralph was stopped';
      ports.report({ kind: 'not-told', item: record.id, why });
    }
  };

  const finish = async (
    item: ListItem,
    record: ItemRecord,
    { status, exitReason, evidence }: ItemRun,
  ): Promise<number | null> => {
    const { id } = item;
    const { task_id: taskId } = record;
    switch (itemEnd(status, exitReason)) {
      case 'ends-list':
        // From here on only a person changes the list, until the next run goes on.
        await settleList(item, false);
        await save({ ...state, before: null });
        return exitCodeFor(status, exitReason);
      case 'done': {
        const proof = proofLine(evidence);
        await settleList(item, true);
        ticked += 1;
        if (evidence?.proof?.proven !== true) unproven += 1;
        const commit = await ports.commitOf(taskId);
        const kept = itemAsJson(item);
        const done: ItemRecord = {
          ...{ ...record, state: 'done', reason: null, proof },
          ...(commit === null ? {} : { commit }),
          ...(file === null ? { kept: nameAsJson(kept) } : {}),
          ...(calls.done === null ? {} : { kept, told: false }),
        };
        await save({ ...withRecord(state, done), before: null });
        ports.report({ kind: 'done', item: id, taskId, proof });
        await tell(done);
        return null;
      }
      case 'blocked': {
        const undone = await ports.undo(taskId);
        await settleList(item, false);
        const blocked = { ...record, state: 'blocked' as const, reason: exitReason };
        await save({ ...withRecord(state, blocked), before: null });
        ports.report({ kind: 'blocked', item: id, taskId, reason: exitReason, undone });
        return null;
      }
    }
  };

  /** Takes the record of an item away. One that a source may have been asked for stays: it may not be printed again. */
  const unbegun = (record: ItemRecord): ListState =>
    file === null
      ? withRecord(state, { ...record, state: 'open' })
      : withoutRecord(state, record.id);

  const begin = async (item: ListItem, list: TaskList): Promise<number | null> => {
    const taskId = ports.taskIdOf(item.id);
    const earlier = ports.find(taskId)?.startedAt ?? null;
    const record: ItemRecord = {
      ...{ id: item.id, state: 'working', task_id: taskId, earlier },
      ...{ reason: null, proof: null },
      ...(file === null ? { kept: itemAsJson(item) } : {}),
      ...(calls.claim === null ? {} : { claimed: true }),
    };
    await save({ ...withRecord(state, record), before: file === null ? null : list.text });
    if (calls.claim !== null) {
      const end = await calls.claim(item, taskId);
      if (end.kind === 'stopped') return null;
      if (end.kind === 'failed') {
        const rest = end.isBroken ? unbegun(record) : withoutRecord(state, item.id);
        await save({ ...rest, before: null });
        if (end.isBroken) {
          failure = `nothing can be claimed; ${end.why}.`;
          return EXIT_FAILED;
        }
        left.add(item.id);
        ports.report({ kind: 'left', item: item.id, why: end.why });
        return null;
      }
    }
    const wanted = list.items.filter(({ isWanted }) => isWanted);
    const proofs = new Map(state.items.map(({ id, proof }) => [id, proof]));
    const done = wanted.flatMap(({ id, name, standing }) =>
      standing === 'done' ? [{ id, name, proof: proofs.get(id) ?? null }] : [],
    );
    const place = wanted.indexOf(item) + 1;
    const ran = await ports.start({ item, taskId, place, count: wanted.length, done });
    if (typeof ran !== 'number') return finish(item, record, ran);
    await save({ ...unbegun(record), before: null });
    return ran;
  };

  /** Goes on where an earlier run left an item. */
  const goOn = async (record: ItemRecord): Promise<number | null> => {
    const task = ports.find(record.task_id);
    const list = listBefore(ports, state);
    const item = list.items.find(({ id }) => id === record.id);
    const isOfRecord = task !== null && task.startedAt !== record.earlier;
    if (item === undefined || !isOfRecord) {
      // It had not begun, or nobody wants it any more.
      await save({ ...unbegun(record), before: null });
      return null;
    }
    if (file === null && !item.isWanted && task.standing !== 'completed') {
      await save(withoutRecord(state, record.id));
      return null;
    }
    if (item.standing !== 'open') {
      // A person has decided it meanwhile. What is kept of the list may be about another item.
      await save(withoutRecord(state, record.id));
      return null;
    }
    const isMeant = ports.only?.has(record.id) ?? true;
    if (!isMeant && state.before === null) return null;
    if (!task.isOwn) {
      throw new UntrustedTaskError(record.task_id, ports.stateDir, NOT_OWN, []);
    }
    const { standing, exitReason, evidence } = task;
    if (standing === 'live') throw new TaskAlreadyActiveError(record.task_id, 'it is at work');
    if (!isMeant) {
      // It goes on later, but what its agent did to the list must not count until then.
      await settleList(item, false);
      await save({ ...state, before: null });
      return null;
    }
    const isOver = isEnded(standing) && itemEnd(standing, exitReason) !== 'ends-list';
    const known = isOver ? { status: standing, exitReason: exitReason ?? '', evidence } : null;
    if (state.before === null && file !== null) await save({ ...state, before: list.text });
    const ran = known ?? (await ports.resume(record.task_id));
    if (typeof ran === 'number') {
      await save({ ...state, before: null });
      return ran;
    }
    const completed = { status: 'completed' as const, exitReason: 'completed', evidence };
    return finish(item, record, ran ?? completed);
  };

  /** Ticks blocked items whose task a person has brought to its end. */
  const takeUpCompleted = async (): Promise<void> => {
    for (const record of state.items.filter((each) => each.state === 'blocked')) {
      const task = ports.find(record.task_id);
      const item = source.last(state).items.find(({ id }) => id === record.id);
      const isNew = task?.isOwn === true && task.startedAt !== record.earlier;
      if (item?.standing !== 'open' || !isNew || task.standing !== 'completed') continue;
      const { evidence } = task;
      await finish(item, record, { status: 'completed', exitReason: 'completed', evidence });
    }
  };

  const readAfter = async (isStale: boolean): Promise<TaskList> => {
    if (!isStale) return source.last(state);
    return source.read(state).catch((error: unknown) => {
      if (!(error instanceof ListCommandError)) throw error;
      failure = error.message;
      return source.last(state);
    });
  };

  const done = new Set(
    listBefore(ports, state).items.flatMap(({ id, standing }) => (standing === 'done' ? [id] : [])),
  );
  // A person may have opened an item of a file again.
  for (const record of state.items) if (done.has(record.id)) await tell(record);
  const working = state.items.filter((each) => each.state === 'working');
  for (const record of working) {
    const code = await goOn(record);
    if (code !== null) return end(code, true);
  }
  await takeUpCompleted();
  for (let list = await readAfter(working.length > 0); ; list = await readAfter(true)) {
    const cause = ports.stops.cause();
    if (cause !== null) return end(exitCodeFor('stopped', `stopped:${cause}`), true);
    if (failure !== null) return end(EXIT_FAILED, true);
    // What this run works on: what was asked for, and was there when it began.
    const items = list.items.filter((item) => isThere(item) && !left.has(item.id));
    const isMeant = ({ id }: ListItem): boolean => ports.only?.has(id) ?? true;
    const only = new Set(items.filter(isMeant).map(({ id }) => id));
    const item = nextItem(list.items, { blocked: blockedIds(state), only });
    if (item === null) return end(isAllDone({ ...list, items }, state, ports.only) ? 0 : 5, false);
    there.add(item.id);
    const code = await begin(item, list);
    if (code !== null) return end(code, true);
  }
}

function isAllDone(list: TaskList, state: ListState, only: ReadonlySet<string> | null): boolean {
  return itemStands(list.items, { blocked: blockedIds(state) }).every(
    ({ item, state: stand }) =>
      !item.isWanted ||
      (only !== null && !only.has(item.id)) ||
      stand === 'done' ||
      stand === 'left-out',
  );
}

/** Returns the list as it was when the item that is being worked on began; as it is now if none is. */
function listBefore(ports: ListPorts, state: ListState): TaskList {
  const { before } = state;
  return before === null ? ports.source.last(state) : listOf(ports, before);
}

function proofLine(evidence: Evidence | null): string {
  const proof = evidence?.proof;
  if (proof === undefined) return `not proven: ${evidence?.detail ?? 'nobody looked'}`;
  return `${proof.proven ? 'proven' : 'not proven'}: ${proof.text}`;
}

/** Keeps the list as the agent left it. Returns the path; null if it could not be written. */
function keepChanged(folder: string, file: string, text: string): string | null {
  const kept = path.join(folder, `list-${path.basename(file)}`);
  try {
    writeFileSync(kept, text, { mode: 0o600 });
    return kept;
  } catch {
    return null;
  }
}

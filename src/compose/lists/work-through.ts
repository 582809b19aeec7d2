import { isUsedUp, itemEnd, refusedItem } from '../../core/list/item-end.ts';
import { itemStands, nextItem } from '../../core/list/item-order.ts';
import { asksAsRecorded, itemAsJson, nameAsJson } from '../../core/list/kept-items.ts';
import type { UndoneItem } from '../../core/list/list-event.ts';
import type { ListItem, TaskList } from '../../core/list/list-item.ts';
import {
  blockedIds,
  type ItemRecord,
  type ListState,
  withoutRecord,
  withRecord,
} from '../../core/list/list-state.ts';
import { isEnded } from '../../core/task/endings.ts';
import type { Evidence } from '../../core/task/task-state.ts';
import { ListCommandError } from '../../errors.ts';
import { EXIT_FAILED, exitCodeFor, stopCode } from '../../exit-codes.ts';
import { sideBySide } from '../../rescue/side-by-side.ts';
import { TaskAlreadyActiveError, UntrustedTaskError } from '../../task-errors.ts';
import type { ItemLanding } from './land-item.ts';
import { openBook } from './list-book.ts';
import type { ItemRun, ListEnd, ListPorts } from './list-run.ts';

/*
 * A list is worked through one item after the other, or several side by side. Each step is saved, so that a kill at any
 * instant loses nothing:
 *
 *   working, with the list as it is ──► the task runs ──► it lands ──► what the agent did to the list is put back,
 *                                           ▲                │         and the item is ticked, in one write
 *                                           └── it cannot ◄──┘              │
 *   done, or blocked ◄──────────────────────────────────────────────────────┘
 *
 * A list that a command prints has no ticks: the saved state says which items ralph has done. After saving it, ralph
 * reports the item as done to the list's source. If the report fails, the next run makes it.
 *
 * If the next run finds an item that is `working`, it looks at the item's task: the work of a completed task lands and
 * the item is ticked without an agent; the item of a failed task is blocked; any other task is resumed. A task that
 * worked in the folder of the list has nothing to land.
 */

const NOT_OWN = 'was not written by you here';

/** Works through a list until nothing more can be started. Rejects with a `UsageError` if it cannot be read. */
export async function workThrough(ports: ListPorts, begun: ListState): Promise<ListEnd> {
  const book = openBook(ports, begun);
  const { file, source, calls } = ports;
  const left = new Set<string>();
  const unsettled = new Map<string, string>();
  let failure: string | null = null;
  let unproven = 0;
  let ticked = 0;
  /** The exit code if something ends the run while more items could be started; else null. */
  let code: number | null = null;
  const start = book.list();
  const there = new Set([...source.known, ...start.items.map(({ id }) => id)]);
  const isThere = ({ id }: ListItem): boolean => there.has(id);
  const working = begun.items.filter(({ state }) => state === 'working');
  /** Whether work on an item has ended since the list was last read (only for a list that a command prints). */
  let isStale = working.length > 0;

  const finish = async (
    item: ListItem,
    record: ItemRecord,
    { status, exitReason, evidence }: ItemRun,
  ): Promise<number | null> => {
    switch (itemEnd(status, exitReason)) {
      case 'ends-list':
        await book.settle(item);
        return exitCodeFor(status, exitReason);
      case 'done':
        return land(item, record, evidence);
      case 'blocked':
        await block(item, record, exitReason, await ports.undo(record.task_id));
        return null;
    }
  };

  const block = async (
    item: ListItem,
    record: ItemRecord,
    reason: string,
    undone: UndoneItem,
  ): Promise<void> => {
    const blocked = { ...record, state: 'blocked' as const, reason };
    await book.settle(item, (state) => withRecord(state, blocked));
    ports.report({ kind: 'blocked', item: item.id, taskId: record.task_id, reason, undone });
  };

  const tick = async (
    item: ListItem,
    record: ItemRecord,
    evidence: Evidence | null,
    { onto, commit }: Extract<ItemLanding, { kind: 'landed' }>,
  ): Promise<void> => {
    const proof = proofLine(evidence);
    const work = commit ?? (await ports.commitOf(record.task_id));
    const kept = itemAsJson(item);
    const done: ItemRecord = {
      ...{ ...record, state: 'done', reason: null, proof, done_at: new Date().toISOString() },
      ...(work === null ? {} : { commit: work }),
      ...(calls.done === null ? { kept: nameAsJson(kept) } : { kept, told: false }),
    };
    await book.settle(item, (state) => withRecord(state, done), true);
    ticked += 1;
    if (evidence?.proof?.proven !== true) unproven += 1;
    const { task_id: taskId } = record;
    ports.report({ kind: 'done', item: item.id, taskId, proof, onto, commit });
    await tell(done);
  };

  /** Reports to the source that an item is done, unless this was reported earlier or there is no command for it. */
  const tell = async (record: ItemRecord): Promise<void> => {
    if (calls.done === null || record.told !== false || record.state !== 'done') return;
    const end = await calls.done(record);
    if (end.kind === 'passed') {
      const told = { ...record, told: true, kept: nameAsJson(record.kept) };
      await book.record((state) => withRecord(state, told));
    } else {
      const why = end.kind === 'failed' ? end.why : 'ralph was stopped';
      unsettled.set(record.id, `is done, but its source was not told: ${why}`);
      ports.report({ kind: 'not-told', item: record.id, why });
      if (end.kind === 'failed' && end.isBroken) {
        failure = `nobody can be told what is done; ${why}.`;
        code ??= EXIT_FAILED;
      }
    }
  };

  /** Removes an item's record or, for a printed list, marks it as open: the command may not print the item again. */
  const unbegun = (record: ItemRecord) => (state: ListState) =>
    file === null
      ? withRecord(state, { ...record, state: 'open' })
      : withoutRecord(state, record.id);

  /** Claims an item at its source, or calls `doWithout`. Resolves to whether ralph has it, or to an exit code. */
  const claim = async (
    item: ListItem,
    record: ItemRecord,
    doWithout: (isBroken: boolean) => Promise<void>,
  ): Promise<boolean | number> => {
    const end = await calls.claim?.(item, record.task_id);
    if (end === undefined || end.kind === 'passed') return true;
    if (end.kind === 'stopped') return false;
    await doWithout(end.isBroken);
    if (end.isBroken) {
      failure = `nothing can be claimed; ${end.why}.`;
      return EXIT_FAILED;
    }
    left.add(item.id);
    unsettled.set(item.id, `is left to others: ${end.why}`);
    ports.report({ kind: 'left', item: item.id, why: end.why });
    return false;
  };

  /** If work on an item has ended since the list was printed, runs the command that prints it once more. */
  const readAgain = async (): Promise<void> => {
    if (file !== null || !isStale) return;
    isStale = false;
    try {
      await source.read(book.state());
    } catch (error) {
      if (!(error instanceof ListCommandError)) throw error;
      failure = error.message;
      code ??= stopCode(ports.stops.cause()) ?? EXIT_FAILED;
    }
  };

  /** Brings an item's completed work to the list's branch, and ticks the item. If that fails, the task may continue. */
  const land = async (
    item: ListItem,
    record: ItemRecord,
    evidence: Evidence | null,
  ): Promise<number | null> => {
    const { task_id: taskId, returned = 0 } = record;
    const landing = await ports.land(taskId);
    if (landing.kind === 'landed') {
      await tick(item, record, evidence, landing);
      return null;
    }
    const { why, sentence, hint } = landing;
    const task = ports.find(taskId);
    const meaning = refusedItem(why, {
      returned,
      isUsedUp: task !== null && isUsedUp(task.state, ports.maxCostUsd),
    });
    switch (meaning) {
      case 'stopped':
      case 'try-again':
        await book.settle(item);
        return stopCode(ports.stops.cause()) ?? EXIT_FAILED;
      case 'blocked':
      case 'blocks-list':
        await block(item, record, `not-landed:${why.kind}`, { kind: 'not-landed', sentence });
        return meaning === 'blocked' ? null : EXIT_FAILED;
      case 'goes-back': {
        const again = { ...record, returned: returned + 1 };
        await book.record((state) => withRecord(state, again));
        ports.report({ kind: 'returned', item: item.id, sentence, time: again.returned });
        const ran = await ports.goBack(taskId, hint);
        return carryOn(item, again, ran, evidence);
      }
    }
  };

  /** Finishes an item after its task was resumed; `ran` is null if the task was already completed. */
  const carryOn = async (
    item: ListItem,
    record: ItemRecord,
    ran: ItemRun | number | null,
    evidence: Evidence | null,
  ): Promise<number | null> => {
    if (typeof ran !== 'number') return finish(item, record, ran ?? { ...COMPLETED, evidence });
    await book.leave(item.id);
    return ran;
  };

  /** Chooses the next item and marks it as being worked on. Resolves to null if no item can start now. */
  const begin = async (): Promise<Job | null> => {
    await readAgain();
    if (code !== null || ports.stops.cause() !== null) return null;
    let wasClaimed = false;
    const begun = await book.enter((list, { state, atWork }) => {
      // This run starts only items that the person asked for and that the list had when the run began.
      const items = list.items.filter((item) => isThere(item) && !left.has(item.id));
      const isMeant = ({ id }: ListItem): boolean => ports.only?.has(id) ?? true;
      const only = new Set(items.filter(isMeant).map(({ id }) => id));
      const facts = { blocked: blockedIds(state), only, atWork };
      let item = nextItem(list.items, facts);
      while (item !== null && source.hasChanged(item)) {
        only.delete(item.id);
        there.delete(item.id);
        ports.report({ kind: 'rewritten', item: item.id });
        item = nextItem(list.items, facts);
      }
      if (item === null) return null;
      const { id } = item;
      wasClaimed = state.items.some((each) => each.id === id && each.claimed === true);
      const taskId = ports.taskIdOf(item.id);
      const earlier = ports.find(taskId)?.state.started_at ?? null;
      // Of an item of a file only its essence is kept: its done marks and notes may change meanwhile.
      const kept = itemAsJson(file === null ? item : { ...item, text: item.essence });
      const record: ItemRecord = {
        ...{ id: item.id, state: 'working', task_id: taskId, earlier },
        ...{ reason: null, proof: null, kept },
        ...(calls.claim === null ? {} : { claimed: true }),
      };
      return { item, record };
    });
    if (begun === null) return null;
    const { item, record, list } = begun;
    const wanted = list.items.filter(({ isWanted }) => isWanted);
    const proofs = new Map(book.state().items.map(({ id, proof }) => [id, proof]));
    const done = wanted.flatMap(({ id, name, standing }) =>
      standing === 'done' ? [{ id, name, proof: proofs.get(id) ?? null }] : [],
    );
    const place = wanted.indexOf(item) + 1;
    const started = { item, taskId: record.task_id, place, count: wanted.length, done };
    return async () => {
      const has = await claim(item, record, (isBroken) =>
        // The source may no longer list an item that ralph claimed earlier, so the state keeps the item.
        book.leave(
          item.id,
          isBroken || wasClaimed ? unbegun(record) : (state) => withoutRecord(state, item.id),
        ),
      );
      if (has !== true) return has === false ? null : has;
      const ran = await ports.start(started);
      if (typeof ran !== 'number') return finish(item, record, ran);
      await book.leave(item.id, unbegun(record));
      return ran;
    };
  };

  /** Looks at an item that an earlier run left unfinished. Resolves to the work that it still needs, or to null. */
  const leftBehind = async (record: ItemRecord): Promise<{ job: Job; isOver: boolean } | null> => {
    const { id, task_id: taskId } = record;
    const task = ports.find(taskId);
    const item = start.items.find((each) => each.id === id);
    const isOfRecord = task !== null && task.state.started_at !== record.earlier;
    if (item === undefined || !isOfRecord) {
      // The item's task had not begun, or the item is no longer on the list.
      await book.leave(id, unbegun(record));
      return null;
    }
    if (file === null && !item.isWanted) {
      await book.leave(id, unbegun(record));
      ports.report({ kind: 'withdrawn', item: id });
      return null;
    }
    if (item.standing !== 'open') {
      // A person has changed the item's checkbox. The state keeps the list's earlier text: another item may need it.
      await book.record((state) => withoutRecord(state, id));
      return null;
    }
    const isMeant = item.isWanted && (ports.only?.has(id) ?? true);
    if (!isMeant && book.state().before === null) return null;
    if (!task.isOwn) throw new UntrustedTaskError(taskId, ports.stateDir, NOT_OWN, []);
    const { standing, isInHistory } = task;
    const { exit_reason: exitReason, evidence } = task.state;
    if (standing === 'live') throw new TaskAlreadyActiveError(taskId, 'it is at work');
    if (!isMeant) {
      // A later run continues the item, but its agent's changes to the list must not count until then.
      await book.settle(item);
      return null;
    }
    if (!asksAsRecorded(record, item)) {
      await book.leave(id, unbegun(record));
      ports.report({ kind: 'starts-over', item: id });
      return null;
    }
    const isOver = isEnded(standing) && itemEnd(standing, exitReason) !== 'ends-list';
    // If ralph was killed while it recorded that the task is completed, a resume finishes that without an agent.
    const isHalfEnded = standing === 'completed' && !isInHistory;
    const known =
      isOver && !isHalfEnded ? { status: standing, exitReason: exitReason ?? '', evidence } : null;
    await book.enter(() => ({ item, record }));
    const job: Job = async () => {
      if (known !== null) return carryOn(item, record, known, evidence);
      // Somebody else may have claimed the item by now. Then its task stays as it is.
      const has = isOver || (await claim(item, record, () => book.settle(item)));
      if (has !== true) return has === false ? null : has;
      return carryOn(item, record, await ports.resume(taskId), evidence);
    };
    return { job, isOver };
  };

  /** Ticks a blocked item if a person has completed its task and the work can be brought to the branch. */
  const takeUp = async (record: ItemRecord): Promise<null> => {
    const task = ports.find(record.task_id);
    const item = book.list().items.find(({ id }) => id === record.id);
    if (file === null && item?.isWanted !== true) return null;
    const isNew = task?.isOwn === true && task.state.started_at !== record.earlier;
    if (item?.standing !== 'open' || !isNew || task.standing !== 'completed') return null;
    if (!asksAsRecorded(record, item)) {
      const sentence =
        'it has changed since its task began, which is completed and does not tick it.';
      ports.report({ kind: 'not-landed', item: item.id, sentence });
      return null;
    }
    const landing = await ports.land(record.task_id);
    if (landing.kind === 'landed') await tick(item, record, task.state.evidence, landing);
    else ports.report({ kind: 'not-landed', item: item.id, sentence: landing.sentence });
    return null;
  };

  const over: Job[] = [];
  const open: Job[] = [];
  const done = new Set(
    start.items.flatMap(({ id, standing, isWanted }) =>
      standing === 'done' && (file !== null || isWanted) ? [id] : [],
    ),
  );
  // Only items that still count as done are reported: a person may have opened one again, or withdrawn it.
  for (const record of begun.items) {
    if (code === null && done.has(record.id)) await tell(record);
  }
  for (const record of code === null ? working : []) {
    const left = await leftBehind(record);
    if (left !== null) (left.isOver ? over : open).push(left.job);
  }
  const blocked = begun.items.filter(({ state }) => state === 'blocked');
  const queue: Job[] = [...over, ...open, ...blocked.map((record) => () => takeUp(record))];
  await sideBySide(ports.places, async () => {
    if (code !== null || ports.stops.cause() !== null) return null;
    const job = queue.shift() ?? (await begin());
    return (
      job &&
      (async () => {
        const ended = await job();
        isStale = true;
        code ??= ended;
      })
    );
  });
  await book.close();
  const { text, items } = book.list();
  const list = { text, items: items.filter(isThere) };
  const added = items.length - list.items.length;
  const state = book.state();
  const cut = code ?? stopCode(ports.stops.cause());
  const own = { text, items: list.items.filter(({ id }) => !left.has(id)) };
  const isSettled = isAllDone(own, state, ports.only) && unsettled.size === 0;
  const exitCode = cut ?? (isSettled ? 0 : 5);
  const counts = { added, unproven, ticked, left: left.size, unsettled };
  return { exitCode, state, list, isCut: cut !== null, ...counts, failure };
}

/** Works on an item to its end. Resolves to an exit code if the whole run has to end, else to null. */
type Job = () => Promise<number | null>;

const COMPLETED = { status: 'completed', exitReason: 'completed' } as const;

function isAllDone(list: TaskList, state: ListState, only: ReadonlySet<string> | null): boolean {
  return itemStands(list.items, { blocked: blockedIds(state) }).every(
    ({ item, state: stand }) =>
      !item.isWanted ||
      (only !== null && !only.has(item.id)) ||
      stand === 'done' ||
      stand === 'left-out',
  );
}

function proofLine(evidence: Evidence | null): string {
  const proof = evidence?.proof;
  if (proof === undefined) return `not proven: ${evidence?.detail ?? 'nobody looked'}`;
  return `${proof.proven ? 'proven' : 'not proven'}: ${proof.text}`;
}

import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { keptOf } from '../../core/list/agents-changes.ts';
import type { ChangedList } from '../../core/list/list-event.ts';
import { type ListItem, type TaskList, withEdits } from '../../core/list/list-item.ts';
import type { ItemRecord, ListState } from '../../core/list/list-state.ts';
import { withRecord } from '../../core/list/list-state.ts';
import { readList } from '../../core/list/read-list.ts';
import { readListFile, writeListFile } from '../../effects/lists/list-file.ts';
import { inTurns } from '../../rescue/in-turns.ts';
import { type ListSource, listOf } from './list-source.ts';

type Change = (state: ListState) => ListState;

/** The outside world that a book needs. */
export interface BookPorts {
  /** Absolute path of the file; null if the list is no file. */
  readonly file: string | null;
  readonly source: ListSource;
  /** The list as people name it. */
  readonly shown: string;
  readonly sections: readonly string[];
  readonly taskIdOf: (item: string) => string;
  readonly save: (state: ListState) => Promise<void>;
  /** Returns the folder of the logs of a task. */
  readonly find: (taskId: string) => { readonly folder: string } | null;
  readonly report: (change: ChangedList) => void;
}

/** What is known when the next item is chosen. */
interface Chosen {
  readonly item: ListItem;
  readonly record: ItemRecord;
}

/** The file of a list and what is known of its items. Every change is made in turn, and none before it is saved. */
export interface ListBook {
  readonly state: () => ListState;
  /** The list as it has to be: no agent's word for it while one is at work. Throws a `UsageError`. */
  list(): TaskList;
  record(change: Change): Promise<void>;
  /** Begins with an item: from now on its agent may do anything to the file, which was `text`. */
  enter(id: string, text: string): Promise<void>;
  enterNext(
    choose: (
      list: TaskList,
      known: { readonly state: ListState; readonly atWork: ReadonlySet<string> },
    ) => Chosen | null,
  ): Promise<(Chosen & { readonly list: TaskList }) | null>;
  /** Ends with an item whose agent has not been started. */
  leave(id: string, change?: Change): Promise<void>;
  /** Ends with an item: puts back what agents did to the list, and ticks the item if it is done. */
  settle(item: ListItem, change?: Change, isDone?: boolean): Promise<void>;
  /** Puts back what agents did to the list of which nothing is at work any more: from now on only a person changes it. */
  close(): Promise<void>;
}

/** Opens the book of a list. */
export function openBook(ports: BookPorts, begun: ListState): ListBook {
  let state = begun;
  const atWork = new Set<string>();
  const inTurn = inTurns();
  const save = async (next: ListState): Promise<void> => {
    await ports.save(next);
    state = next;
  };
  const same: Change = (known) => known;
  const list = (): TaskList =>
    state.before === null ? ports.source.last(state) : listOf(ports, state.before);
  /** The list to keep while others are at work. */
  const kept = (text: string | null): string | null => (atWork.size === 0 ? null : text);

  /** Brings the file into the shape that the end of an item demands, and says what agents did to it. */
  const settleFile = async (item: ListItem | null, isDone: boolean): Promise<string | null> => {
    const { file } = ports;
    if (file === null) return null;
    const before = list();
    const found = readListFile(file);
    const after = 'text' in found ? readList(ports.shown, found.text, ports.sections) : null;
    const unread = 'problem' in found ? `the file cannot be used: ${found.problem}` : '';
    const { text: keptText, what, why } = keptOf(before, after, unread);
    const now = listOf(ports, keptText);
    const kin = now.items.find(({ id }) => id === item?.id);
    const text = isDone ? withEdits(now.text, kin?.tick ?? []) : now.text;
    const hasChanged = !('text' in found) || found.text !== text;
    // A tick that is there already was ralph's own, before it was killed.
    const isOwn = 'text' in found && isDone && found.text === text;
    if (!isOwn && (what === 'put-back' || what === 'marks-put-back')) {
      const folder = item && (ports.find(ports.taskIdOf(item.id))?.folder ?? null);
      const isKept = what === 'put-back' && 'text' in found && folder !== null;
      const keptAt = isKept ? keepChanged(folder, file, found.text) : null;
      const items = [...new Set([...(item === null ? [] : [item.id]), ...atWork])];
      ports.report({ kind: 'agent-changed-list', items, what, why, keptAt });
    }
    if (hasChanged) await writeListFile(file, text);
    return text;
  };

  return {
    state: () => state,
    list,
    record: (change) => inTurn(() => save(change(state))),
    enter: (id, text) =>
      inTurn(async () => {
        atWork.add(id);
        if (state.before === null && ports.file !== null) await save({ ...state, before: text });
      }),
    enterNext: (choose) =>
      inTurn(async () => {
        const now = list();
        const chosen = choose(now, { state, atWork });
        if (chosen === null) return null;
        atWork.add(chosen.item.id);
        const before = ports.file === null ? null : (state.before ?? now.text);
        await save({ ...withRecord(state, chosen.record), before });
        return { ...chosen, list: now };
      }),
    leave: (id, change = same) =>
      inTurn(async () => {
        atWork.delete(id);
        const next = change(state);
        // What an earlier run left of another item's agent is still to be looked at.
        const isLast = atWork.size === 0 && !next.items.some((each) => isAnother(each, id));
        await save({ ...next, before: isLast ? null : state.before });
      }),
    settle: (item, change = same, isDone = false) =>
      inTurn(async () => {
        const text = await settleFile(item, isDone);
        atWork.delete(item.id);
        await save({ ...change(state), before: kept(text) });
      }),
    close: () =>
      inTurn(async () => {
        if (state.before === null) return;
        await settleFile(null, false);
        await save({ ...state, before: null });
      }),
  };
}

function isAnother({ id, state }: ItemRecord, than: string): boolean {
  return state === 'working' && id !== than;
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

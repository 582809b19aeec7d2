import { copyFileSync, existsSync, lstatSync, renameSync } from 'node:fs';
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

/** What a book (a list and the state of its items) needs of the outside world. */
export interface BookPorts {
  /** Absolute path of the list's file; null if the list is not a file. */
  readonly file: string | null;
  readonly source: ListSource;
  readonly shown: string;
  readonly sections: readonly string[];
  readonly taskIdOf: (item: string) => string;
  readonly save: (state: ListState) => Promise<void>;
  readonly find: (taskId: string) => { readonly paths: { readonly folder: string } } | null;
  readonly report: (change: ChangedList) => void;
}

interface Chosen {
  readonly item: ListItem;
  readonly record: ItemRecord;
}

/** The file of a list and the state of its items. Changes happen one after the other, and count once they are saved. */
export interface ListBook {
  readonly state: () => ListState;
  /** Returns the list without the changes of agents that are still at work. Throws a `UsageError`. */
  list(): TaskList;
  record(change: Change): Promise<void>;
  /** Records the item that begins. Its agent may do anything to the file, so the list before that is kept. */
  enter(
    choose: (
      list: TaskList,
      known: { readonly state: ListState; readonly atWork: ReadonlySet<string> },
    ) => Chosen | null,
  ): Promise<(Chosen & { readonly list: TaskList }) | null>;
  /** Records that work on an item is over, though its agent was not started. */
  leave(id: string, change?: Change): Promise<void>;
  /** Records the end of an item: undoes what agents did to the list, and ticks the item if it is done. */
  settle(item: ListItem, change?: Change, isDone?: boolean): Promise<void>;
  /** Undoes what agents did to the list; call it when none is at work any more. Later changes count as a person's. */
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
  /** Returns the list's text to keep, which is needed only while other items are being worked on. */
  const kept = (text: string | null): string | null => (atWork.size === 0 ? null : text);

  /** Writes the list's file as it has to be after an item's end, and reports what agents changed in it. */
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
    // If the file already has exactly this text, ralph itself wrote it before it was killed.
    const isOwn = 'text' in found && isDone && found.text === text;
    if (!isOwn && (what === 'put-back' || what === 'marks-put-back')) {
      const folder = item && (ports.find(ports.taskIdOf(item.id))?.paths.folder ?? null);
      const keptAt = what === 'put-back' && folder !== null ? keepChanged(folder, file) : null;
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
    enter: (choose) =>
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
        // The agent of another item, left by an earlier run, may have changed the file, so the text is still needed.
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

/** Keeps the list's file, as the agent left it, in a task's folder. Returns its path there; null if that fails. */
function keepChanged(folder: string, file: string): string | null {
  const name = path.basename(file);
  let kept = path.join(folder, `list-${name}`);
  for (let number = 2; existsSync(kept); number += 1) {
    kept = path.join(folder, `list-${number}-${name}`);
  }
  try {
    const stats = lstatSync(file);
    if (stats.isSymbolicLink()) return null;
    if (stats.isFile()) copyFileSync(file, kept);
    // A folder has to make room for the list.
    else renameSync(file, kept);
    return kept;
  } catch {
    return null;
  }
}

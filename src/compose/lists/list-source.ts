import { asksTheSame, itemAsJson, withRecords } from '../../core/list/kept-items.ts';
import type { ListItem, TaskList } from '../../core/list/list-item.ts';
import { readPrinted, type SourceCommands } from '../../core/list/list-sources.ts';
import type { ItemRecord, ListState } from '../../core/list/list-state.ts';
import { readList } from '../../core/list/read-list.ts';
import { oneLine } from '../../core/text/untrusted-text.ts';
import { readListFile } from '../../effects/lists/list-file.ts';
import { ListCommandError, UsageError } from '../../errors.ts';
import { exitCodeFor } from '../../exit-codes.ts';
import type { StopRequests } from '../../loop/ports.ts';
import type { CommandEnd, RunListCommand } from './list-commands.ts';

/** Where the items of a list come from. */
export interface ListSource {
  /** Reads the list. Rejects with a `UsageError` or a `ListCommandError`. */
  read(state: ListState): Promise<TaskList>;
  /** Returns the list as it was read last, with what ralph has done since. */
  last(state: ListState): TaskList;
  /** The items that a run may come to, beside those of the list as it was when it began. */
  readonly known: ReadonlySet<string>;
  /** Whether an item asks for other work than when the run began. */
  hasChanged(item: ListItem): boolean;
}

/** Returns the source of a list that is a file. */
export function fileSource(place: {
  readonly file: string;
  readonly shown: string;
  readonly sections: readonly string[];
}): ListSource {
  const now = (): TaskList => {
    const found = readListFile(place.file);
    if ('text' in found) return listOf(place, found.text);
    throw new UsageError([`${place.shown} expects a list that can be read; ${found.problem}.`]);
  };
  // An agent may write what it likes into a new item.
  return { read: async () => now(), last: now, known: new Set(), hasChanged: () => false };
}

/** Reads the text of a file with a list. Throws a `UsageError`. */
export function listOf(
  { shown, sections }: { readonly shown: string; readonly sections: readonly string[] },
  text: string,
): TaskList {
  const read = readList(shown, text, sections);
  if ('problems' in read) throw new UsageError(read.problems);
  return read.list;
}

/** Who is asked for an item, and who is told that one is done; null if nobody is. */
export interface ItemCalls {
  readonly claim: ((item: ListItem, taskId: string) => Promise<CommandEnd>) | null;
  readonly done: ((record: ItemRecord) => Promise<CommandEnd>) | null;
}

/** A list that is no file. */
export interface PrintedList {
  /** `github`, `beads` or `from`. */
  readonly name: string;
  /** The list in words, for problems. */
  readonly shown: string;
  readonly commands: SourceCommands;
  /** The label of the issues; null if they need none. */
  readonly label: string | null;
  readonly sections: readonly string[];
  readonly run: RunListCommand;
}

/** Has a list printed. Rejects with a `UsageError` or a `ListCommandError`. */
export async function printList(
  { name, shown, commands, label, sections, run }: PrintedList,
  stops: StopRequests,
): Promise<TaskList> {
  const end = await run(commands.list, stops);
  if (end.kind === 'stopped') {
    const code = exitCodeFor('stopped', `stopped:${stops.cause() ?? 'SIGTERM'}`);
    throw new ListCommandError('stopped while the list was read.', code);
  }
  if (end.kind === 'failed') throw new ListCommandError(`${shown} cannot be read; ${end.why}.`);
  const read = readPrinted(name, `what ${shown} prints`, end.output, {
    tags: sections,
    label: label ?? '',
  });
  if ('problems' in read) throw new UsageError(read.problems);
  return read.list;
}

/** Whether a claim takes an item off a list. GitHub lists issues by their label, also those that somebody works on. */
export function claimsHide({ name }: Pick<PrintedList, 'name'>): boolean {
  return name !== 'github';
}

/** Returns the source of a list that was `printed` when the run began, and may come to what was `known` then. */
export function printedSource(
  list: PrintedList,
  printed: TaskList,
  { known, stops }: { readonly known: ReadonlySet<string>; readonly stops: StopRequests },
): ListSource {
  const first = new Map(printed.items.map((item) => [item.id, item]));
  const seen = new Set(first.keys());
  let latest = printed;
  const last = ({ items }: ListState): TaskList =>
    withRecords(latest, items, seen, claimsHide(list));
  return {
    ...{ last, known },
    hasChanged(item) {
      const was = first.get(item.id);
      return was !== undefined && !asksTheSame(was, item);
    },
    async read(state) {
      // A person who has stopped ralph does not wait for a tracker.
      if (stops.signal.aborted) return last(state);
      const now = await printList(list, stops).catch((error: unknown) => {
        if (!(error instanceof UsageError)) throw error;
        throw new ListCommandError(error.problems.join('\n'));
      });
      if (now.repository !== printed.repository) {
        const [was, is] = [printed.repository, now.repository];
        throw new ListCommandError(
          `${list.shown} shows ${is} now, and showed ${was} when the run began; see what git remote -v says.`,
        );
      }
      latest = now;
      for (const item of latest.items) {
        seen.add(item.id);
        if (!first.has(item.id)) first.set(item.id, item);
      }
      return last(state);
    },
  };
}

/** Returns the calls to the commands of a person. */
export function itemCalls(
  { claim, done }: Pick<SourceCommands, 'claim' | 'done'>,
  run: RunListCommand,
  stops: StopRequests,
): ItemCalls {
  const call = (
    command: string,
    item: string,
    id: string,
    more: {
      readonly task_id: string;
      readonly proof?: string | null;
      readonly commit?: string | null;
    },
  ) =>
    run(command, stops, {
      variables: { RALPH_ITEM_ID: id, RALPH_ITEM_PROOF: oneLine(more.proof ?? '', 1_000) },
      input: `${JSON.stringify({ ...JSON.parse(item), ...more })}\n`,
    });
  return {
    claim:
      claim === null
        ? null
        : (item, task_id) => call(claim, itemAsJson(item), item.id, { task_id }),
    done:
      done === null
        ? null
        : ({ id, kept = '{}', task_id, proof, commit = null }) =>
            call(done, kept, id, { task_id, proof, commit }),
  };
}

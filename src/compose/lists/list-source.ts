import { asksTheSame, itemAsJson, withRecords } from '../../core/list/kept-items.ts';
import type { ListItem, TaskList } from '../../core/list/list-item.ts';
import { readPrinted, type SourceCommands } from '../../core/list/list-sources.ts';
import type { ItemRecord, ListState } from '../../core/list/list-state.ts';
import { readList } from '../../core/list/read-list.ts';
import { oneLine } from '../../core/text/untrusted-text.ts';
import { readListFile } from '../../effects/lists/list-file.ts';
import { CommandError, ListCommandError, UsageError } from '../../errors.ts';
import { exitCodeFor } from '../../exit-codes.ts';
import type { StopRequests } from '../../loop/ports.ts';
import type { CommandEnd, RunListCommand } from './list-commands.ts';

/** Where the items of a list come from. */
export interface ListSource {
  /** Reads the list. Rejects with a `UsageError` or a `ListCommandError`. */
  read(state: ListState): Promise<TaskList>;
  /** Returns the list as it was last read, with the changes that ralph has made since. */
  last(state: ListState): TaskList;
  /** The ids of further items, which were not in the list when the run began, but may be started if they appear in it. */
  readonly known: ReadonlySet<string>;
  /** Whether the item's text now asks for other work than when the run began. */
  hasChanged(item: ListItem): boolean;
}

/** Returns the source of a list that is a file. */
export function fileSource(place: {
  readonly file: string;
  readonly shown: string;
  readonly sections: readonly string[];
}): ListSource {
  // The run has begun, so that a list which cannot be read any more is no wrong command line.
  const now = (): TaskList => {
    const found = readListFile(place.file);
    if ('problem' in found)
      throw new CommandError(`${place.shown} cannot be read: ${found.problem}.`);
    const read = readList(place.shown, found.text, place.sections);
    if ('problems' in read) throw new CommandError(read.problems.join('\n'));
    return read.list;
  };
  // No further item is known in advance, because an agent may write anything into a new item of the file.
  return { read: async () => now(), last: now, known: new Set(), hasChanged: () => false };
}

/** Parses the text of a list file. Throws a `UsageError`. */
export function listOf(
  { shown, sections }: { readonly shown: string; readonly sections: readonly string[] },
  text: string,
): TaskList {
  const read = readList(shown, text, sections);
  if ('problems' in read) throw new UsageError(read.problems);
  return read.list;
}

/** The commands that claim an item and that report an item as done; null if there is no such command. */
export interface ItemCalls {
  readonly claim: ((item: ListItem, taskId: string) => Promise<CommandEnd>) | null;
  readonly done: ((record: ItemRecord) => Promise<CommandEnd>) | null;
}

/** A list that a command prints. */
export interface PrintedList {
  /** `github`, `beads` or `from`. */
  readonly name: string;
  /** The name of the list in error messages. */
  readonly shown: string;
  readonly commands: SourceCommands;
  /** The label that the issues must have; null if none is needed. */
  readonly label: string | null;
  readonly sections: readonly string[];
  readonly run: RunListCommand;
}

/** Runs the command that prints a list, and parses the output. Rejects with a `UsageError` or a `ListCommandError`. */
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

/** Whether a claimed item is no longer printed. GitHub lists issues by label, even those that somebody works on. */
export function claimsHide({ name }: Pick<PrintedList, 'name'>): boolean {
  return name !== 'github';
}

/** Returns the source of a list that was `printed` when the run began. Items with ids in `known` may start later. */
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
      // After a request to stop, nothing is fetched, so that the person need not wait for the issue tracker.
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

/** Returns functions that run the user's commands for an item: to claim it, and to report that it is done. */
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

import type { DoneItem } from '../../core/list/item-prompt.ts';
import type { ListEvent, UndoneItem } from '../../core/list/list-event.ts';
import type { ListItem, TaskList } from '../../core/list/list-item.ts';
import type { ListState } from '../../core/list/list-state.ts';
import type { EndedStatus } from '../../core/task/endings.ts';
import type { Evidence, TaskState } from '../../core/task/task-state.ts';
import type { StopRequests } from '../../loop/ports.ts';
import type { ItemLanding } from './land-item.ts';
import type { BookPorts } from './list-book.ts';
import type { ItemCalls } from './list-source.ts';

interface ItemTask {
  /** Whether this user's ralph wrote the state. A state that somebody else wrote must not tick the item. */
  readonly isOwn: boolean;
  readonly state: Pick<
    TaskState,
    'started_at' | 'exit_reason' | 'evidence' | 'current_iteration' | 'max_iterations' | 'usage'
  >;
  /** `live`, the status with which the task ended, or another state that `ralph status` shows. */
  readonly standing: string;
  readonly isInHistory: boolean;
  readonly paths: { readonly folder: string };
}

/** How a run of an item's task ended. */
export interface ItemRun {
  readonly status: EndedStatus;
  readonly exitReason: string;
  readonly evidence: Evidence | null;
}

export interface StartedItem {
  readonly item: ListItem;
  readonly taskId: string;
  /** The item's place among the items that count, from 1. `count` is the number of these items. */
  readonly place: number;
  readonly count: number;
  readonly done: readonly DoneItem[];
}

/** What a run over a list needs of the outside world. */
export interface ListPorts extends BookPorts {
  readonly stateDir: string;
  readonly calls: ItemCalls;
  readonly only: ReadonlySet<string> | null;
  readonly places: number;
  /** The most that a task of the list may cost in US dollars; null for no limit. */
  readonly maxCostUsd: number | null;
  readonly find: (taskId: string) => ItemTask | null;
  /** Resolves to the commit with the work of a task; null if it has none. */
  readonly commitOf: (taskId: string) => Promise<string | null>;
  /** Runs a new task for an item. Resolves to an exit code instead if something keeps all items from starting. */
  readonly start: (started: StartedItem) => Promise<ItemRun | number>;
  /** Resumes the task of an item. Resolves to null if the task turns out to be completed. */
  readonly resume: (taskId: string) => Promise<ItemRun | number | null>;
  /** Lands the work of a completed task, one task at a time. */
  readonly land: (taskId: string) => Promise<ItemLanding>;
  /** Continues a completed task whose landing failed, and tells its agent why it failed. */
  readonly goBack: (taskId: string, hint: string) => Promise<ItemRun | number | null>;
  /** Undoes what a task has changed in the folder of the list. Never rejects. */
  readonly undo: (taskId: string) => Promise<UndoneItem>;
  readonly report: (event: ListEvent) => void;
  readonly stops: StopRequests;
}

/** How a run over a list ended. */
export interface ListEnd {
  readonly exitCode: number;
  readonly state: ListState;
  /** The list at the end, without items that were added during the run. */
  readonly list: TaskList;
  /** How many items were added during the run. */
  readonly added: number;
  /** How many items were ticked though no check has proven them. */
  readonly unproven: number;
  /** Whether the run ended although more items could have been started. */
  readonly isCut: boolean;
  readonly ticked: number;
  /** How many items were left to others, who have claimed them. */
  readonly left: number;
  /** Why a person has to look at items that are not blocked: a clause for each, by the item's id. */
  readonly unsettled: ReadonlyMap<string, string>;
  /** The sentence about a command of the list that failed; null if no command failed. */
  readonly failure: string | null;
}

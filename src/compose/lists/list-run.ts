import type { DoneItem } from '../../core/list/item-prompt.ts';
import type { ListEvent, UndoneItem } from '../../core/list/list-event.ts';
import type { ListItem, TaskList } from '../../core/list/list-item.ts';
import type { ListState } from '../../core/list/list-state.ts';
import type { EndedStatus } from '../../core/task/endings.ts';
import type { Evidence } from '../../core/task/task-state.ts';
import type { StopRequests } from '../../loop/ports.ts';
import type { ItemLanding } from './land-item.ts';
import type { BookPorts } from './list-book.ts';
import type { ItemCalls } from './list-source.ts';

/** The task of an item, as the state folder has it. */
interface ItemTask {
  /** Whether this user's ralph wrote the state: one that somebody else wrote ticks nothing. */
  readonly isOwn: boolean;
  readonly startedAt: string;
  /** `live`, the status in which it ended, or another shown state. */
  readonly standing: string;
  /** Whether a kill came before all of its end was written; then a resume finishes that, without an agent. */
  readonly isHalfEnded: boolean;
  readonly exitReason: string | null;
  readonly evidence: Evidence | null;
  /** Whether it would end at once if it went on. */
  readonly isUsedUp: boolean;
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

/** The outside world that a run over a list needs. */
export interface ListPorts extends BookPorts {
  readonly stateDir: string;
  readonly calls: ItemCalls;
  readonly only: ReadonlySet<string> | null;
  readonly places: number;
  readonly find: (taskId: string) => ItemTask | null;
  /** Resolves to the commit with the work of a task; null if it has none. */
  readonly commitOf: (taskId: string) => Promise<string | null>;
  /** Runs the task of an item from its beginning. A number is the exit code of what keeps all items from starting. */
  readonly start: (started: StartedItem) => Promise<ItemRun | number>;
  /** Goes on with the task of an item; null if it turns out to be completed. */
  readonly resume: (taskId: string) => Promise<ItemRun | number | null>;
  /** Lands what a completed task did, one task at a time. */
  readonly land: (taskId: string) => Promise<ItemLanding>;
  /** Goes on with a completed task whose landing failed, and tells its agent why. */
  readonly goBack: (taskId: string, hint: string) => Promise<ItemRun | number | null>;
  /** Takes back what a task has changed where the list lies. Never rejects. */
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
  /** Why a person has to look at items that are not blocked, by their ids: clauses. */
  readonly unsettled: ReadonlyMap<string, string>;
  /** The sentence about a command of the list that failed; null if none did. */
  readonly failure: string | null;
}

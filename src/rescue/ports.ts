import type {
  FileFacts,
  FileOutcome,
  Leave,
  StartAction,
  VaultFile,
  VaultNote,
} from '../core/rescue/vault-files.ts';
import type { EndedStatus } from '../core/task/endings.ts';
import type { Clock, StopRequests } from '../loop/ports.ts';

/** The outside world that a pass (one round through a vault's task files) needs. */
export interface VaultPorts {
  readonly vault: Vault;
  readonly records: RescueRecords;
  readonly notes: VaultNotes;
  /**
   * Runs a task to its end. Resolves to a `Leave` (the file stays) if a live process runs the task or the pass may not
   * run it, and to `NoRoom` if the daily budget is spent; rejects if the task cannot start for another reason.
   */
  readonly runTask: (request: TaskRequest) => Promise<RanTask | Leave | NoRoom>;
  readonly report: (file: VaultFile, outcome: FileOutcome) => void;
  readonly clock: Clock;
  readonly stops: StopRequests;
}

/** The folders of the vault. */
export interface Vault {
  /** Lists the files in `In_Progress`, and on request those in `Needs_Action`. Rejects if a folder cannot be read. */
  list(folders: { readonly withNew: boolean }): Promise<readonly FileFacts[]>;
  /** Resolves to the current facts of a file, or to null if the file is gone. */
  look(file: VaultFile): Promise<FileFacts | null>;
  /** Locks a file against other passes until `release`. Resolves to null if another pass has locked it. */
  hold(ownId: string): Promise<{ release(): void } | null>;
  /** Moves a file without overwriting another. Resolves to its new path, relative to the vault. */
  move(file: VaultFile, to: 'done' | 'quarantine'): Promise<string>;
}

/** The records of rescues (tasks that finish a stuck file) across runs. Call a method only while the file is locked. */
interface RescueRecords {
  /** Counts the failed rescue that began at `startedAt`, but only once. Resolves to the number of failed rescues. */
  countFailed(rescueId: string, startedAt: string): Promise<number>;
  /** Allows later passes to resume the file's own task. */
  adopt(rescueId: string): Promise<void>;
  /** Ends the record of a file at `at` (ISO), so a later file of this name starts with a count of zero. */
  close(rescueId: string, at: string): Promise<void>;
}

/** The notes for a human in the vault. */
export interface VaultNotes {
  /** Writes a note, unless the same note exists. Resolves to its path, or to null if it could not be written. */
  write(note: VaultNote): Promise<string | null>;
  /** Removes the note of a single run, because a note of the whole pass replaces it. */
  remove(file: string): Promise<void>;
  /** Removes the note which says that no file can be processed. */
  clearBlocked(): Promise<void>;
}

/** A task to run, and its file. */
export type TaskRequest = StartAction & { readonly file: VaultFile };

/** A task was not started, because the daily budget is spent. */
export interface NoRoom {
  readonly kind: 'no-room';
  /** When the next day begins, as an ISO instant. */
  readonly until: string;
  /** Whether the daily budget of the whole pass is spent, and not only a lower daily budget of this task. */
  readonly isForAll: boolean;
}

/** How a task ended. */
export interface RanTask {
  readonly kind: 'ended';
  readonly status: EndedStatus;
  readonly exitReason: string;
  readonly exitCode: number;
  readonly startedAt: string;
  /** Path of the note that the task left, or null. */
  readonly note: string | null;
}

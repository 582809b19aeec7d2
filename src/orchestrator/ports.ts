import type { EndedStatus } from '../core/task-state.ts';
import type { FileFacts, FileOutcome, VaultFile, VaultNote } from '../core/vault-work.ts';
import type { Clock, StopRequests } from '../loop/ports.ts';

/** The outside world, as a pass over the vault sees it. */
export interface VaultPorts {
  readonly vault: Vault;
  readonly books: RescueBooks;
  readonly notes: VaultNotes;
  /** Runs a task to its end. Rejects for what keeps it from starting, but for a live driver. */
  readonly runTask: (request: TaskRequest) => Promise<TaskEnd>;
  /** Tells people what became of a file. */
  readonly tell: (file: VaultFile, outcome: FileOutcome) => void;
  readonly clock: Clock;
  readonly stops: StopRequests;
}

/** The folders in which files are found, and to which they are moved. */
export interface Vault {
  /** What lies in `In_Progress`, and on request in `Needs_Action`. Rejects where that cannot be read. */
  list(folders: { readonly withNew: boolean }): Promise<readonly FileFacts[]>;
  /** How a file stands now; null where it is gone. */
  look(file: VaultFile): Promise<FileFacts | null>;
  /** Keeps every other pass from a file until released; null where another one has it. */
  hold(ownId: string): Promise<{ release(): void } | null>;
  /** Moves a file, never over another one. Resolves to where it is now, relative to the vault. */
  move(file: VaultFile, to: 'done' | 'quarantine'): Promise<string>;
}

/** What is known of a file's rescues beyond one run. To be called while the file is held. */
export interface RescueBooks {
  /** Counts a rescue that says something about the file, each once. Resolves to how many there are. */
  countFailed(rescueId: string, startedAt: string): Promise<number>;
  /** From now on the file's own task is one that a pass may go on with. */
  adopt(rescueId: string): Promise<void>;
  /** The file is dealt with: what comes under this name later begins anew. */
  close(rescueId: string): Promise<void>;
}

export interface VaultNotes {
  /** Leaves a note, unless it is there. Resolves to its path, or null where it could not be written. */
  leave(note: VaultNote): Promise<string | null>;
  /** Takes back the note that a run has left, where one of the pass's own stands for it. */
  takeBack(file: string): Promise<void>;
  /** Takes back the note of what kept every file from being worked on. */
  clearBlocked(): Promise<void>;
}

/** A task that is to be run. */
export type TaskRequest =
  | { readonly kind: 'new'; readonly taskId: string; readonly file: VaultFile }
  | {
      readonly kind: 'rescue';
      readonly taskId: string;
      readonly file: VaultFile;
      readonly stuckForMs: number;
    }
  | { readonly kind: 'resume'; readonly taskId: string };

export type TaskEnd =
  | {
      readonly kind: 'ended';
      readonly status: EndedStatus;
      readonly exitReason: string;
      readonly exitCode: number;
      readonly startedAt: string;
      /** The note it has left, or null. */
      readonly note: string | null;
    }
  /** A live loop has it already. */
  | { readonly kind: 'taken' }
  /** It is not for a pass to run. */
  | {
      readonly kind: 'refused';
      readonly reason: 'not-yours' | 'beyond-pass';
      readonly detail: string;
    };

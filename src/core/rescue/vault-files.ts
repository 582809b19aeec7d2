import type { ShownState } from '../task/shown-task.ts';

/**
 * The types of `ralph rescue` and `ralph watch`: what is known about a file in the vault (the folder of task files),
 * and what is done with it. A rescue is a task that finishes a file which is stuck in `In_Progress`.
 */

/** Which folder a file was found in. */
export type WorkFolder = 'In_Progress' | 'Needs_Action';

/** The fields of a file's front matter that decide what ralph does with the file. */
export interface FileFrontMatter {
  /** The type as it is written; null if there is none. */
  readonly type: string | null;
  /** What is invalid in the front matter, as a phrase; null if it is valid. */
  readonly problem: string | null;
}

/** A file in a folder of the vault. Instants are ISO strings. */
export interface VaultFile {
  /** If the name is not valid UTF-8, it contains `\xff` in place of each byte that is not ASCII. */
  readonly name: string;
  readonly folder: WorkFolder;
  /** `unnamed` is a regular file whose name is not valid UTF-8, so no path given as text can open it. */
  readonly kind: 'regular' | 'link' | 'unnamed' | 'other';
  /** When the content of the file last changed. */
  readonly touchedAt: string;
  /** When anything about the file last changed, including its folder. */
  readonly changedAt: string;
  readonly sizeBytes: number;
  /** Its content; null if it is not text, too large, or unreadable. */
  readonly text: string | null;
  readonly frontMatter: FileFrontMatter;
  /** Whether another file takes precedence, since both would be a task with the same id. */
  readonly hasNamesake: boolean;
}

/** The current state of a file's task. */
export interface FileTask {
  readonly standing: 'live' | ShownState;
  /** Whether a ralph process of this user wrote the task's state; otherwise the task is left alone. */
  readonly isOwn: boolean;
  readonly exitReason: string | null;
  readonly startedAt: string;
  readonly finishedAt: string | null;
  /** Whether a program stores its state through the library. */
  readonly isKeptByProgram: boolean;
  /** Whether a person rejected the task's last request for approval. */
  readonly isRejected: boolean;
  readonly approval: {
    /** The request's name in `Pending_Approval`. */
    readonly file: string;
    readonly expiresAt: string;
    readonly isAnswered: boolean;
  } | null;
}

/** Everything on which a decision about a file depends. */
export interface FileFacts {
  readonly file: VaultFile;
  /** The id of the file's own task, which may not exist. */
  readonly ownId: string;
  /** The file's own task; null if it does not exist. */
  readonly own: FileTask | null;
  /** The id of a task that rescues the file; `rescue` is that task, or null if it does not exist. */
  readonly rescueId: string;
  readonly rescue: FileTask | null;
  /** Whether a pass (one run over all files of the vault) has started or resumed the file's own task. */
  readonly isOurs: boolean;
  /** Number of rescues that failed because of the file. */
  readonly failedRescues: number;
  /** The name of the note that the file's own task left for a person; null if there is none. */
  readonly ownNote: string | null;
}

/** Why a file is left where it is. */
export type LeaveReason =
  | 'no-task'
  | 'own-note'
  | 'link'
  | 'namesake'
  | 'live'
  | 'taken'
  | 'fresh'
  | 'unsettled'
  | 'held'
  | 'not-yours'
  | 'beyond-pass'
  | 'no-room'
  | 'unreadable-state'
  | 'noted'
  | 'rejected'
  | 'completed'
  | 'no-text'
  | 'unnamed'
  | 'empty'
  | 'gone';

type HumanReason = 'payment' | 'too-large' | 'front-matter';

/** What a pass over the vault does with a file. */
export type FileAction =
  /** Leaves the file where it is. `detail` is for example a status or the name of a note. */
  | { readonly kind: 'leave'; readonly reason: LeaveReason; readonly detail: string }
  /** Resumes the file's own task, or the task that rescues the file. */
  | { readonly kind: 'resume'; readonly taskId: string }
  | { readonly kind: 'rescue'; readonly taskId: string; readonly stuckForMs: number }
  | { readonly kind: 'start-new'; readonly taskId: string }
  /** Moves the file of a completed task out of `In_Progress`, since that was not done yet. */
  | { readonly kind: 'finish'; readonly taskId: string }
  | { readonly kind: 'to-human'; readonly why: HumanReason; readonly detail: string }
  | { readonly kind: 'needs-approval'; readonly request: string }
  /** No person answered in time; `overdueMs` is how long ago the time was over. */
  | { readonly kind: 'overdue-approval'; readonly request: string; readonly overdueMs: number }
  | { readonly kind: 'quarantine'; readonly failedRescues: number };

/** The action that leaves a file where it is. */
export type Leave = Extract<FileAction, { kind: 'leave' }>;

/** An action that runs a task. */
export type StartAction = Extract<FileAction, { kind: 'resume' | 'rescue' | 'start-new' }>;

export function leave(reason: LeaveReason, detail = ''): Leave {
  return { kind: 'leave', reason, detail };
}

/** The outcome of a file in a pass over the vault: how its task ended, or what was done without running one. */
export type FileOutcome =
  | Extract<FileAction, { kind: 'leave' | 'needs-approval' | 'overdue-approval' }>
  | {
      readonly kind: 'ran';
      readonly how: StartAction['kind'];
      readonly taskId: string;
      readonly status: string;
      readonly exitReason: string;
      /** How many rescues have failed because of the file, if this was one of them; otherwise null. */
      readonly failedRescues: number | null;
    }
  | { readonly kind: 'finished'; readonly movedTo: string }
  | { readonly kind: 'for-human'; readonly why: HumanReason; readonly note: string | null }
  | { readonly kind: 'quarantined'; readonly movedTo: string; readonly failedRescues: number }
  /** The file could not be handled, for a reason that has nothing to do with its content. */
  | { readonly kind: 'problem'; readonly message: string };

/** A note from a pass over the vault to a person. Only one note of each kind and task is kept. */
export type VaultNote = { readonly taskId: string } & (
  | ({
      /** The file's current path, relative to the vault. */
      readonly file: string;
    } & (
      | { readonly kind: 'for-human'; readonly why: HumanReason; readonly detail: string }
      | { readonly kind: 'overdue'; readonly request: string }
      | { readonly kind: 'quarantined'; readonly failedRescues: number }
    ))
  /** A problem that prevents work on any file. */
  | { readonly kind: 'blocked'; readonly status: string; readonly exitReason: string }
);

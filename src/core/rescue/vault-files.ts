import type { ShownState } from '../task/shown-task.ts';

/** The words of rescue and watch: what is known of a file in the vault, and what is done with it. */

/** Which folder a file was found in. */
export type WorkFolder = 'In_Progress' | 'Needs_Action';

/** What a file's front matter says, as far as it matters here. */
export interface FileFrontMatter {
  /** As it is written; null where none is. */
  readonly type: string | null;
  /** What cannot be understood in it, half a sentence; null where all is well. */
  readonly problem: string | null;
}

/** A file in a folder of the vault. Instants are ISO strings. */
export interface VaultFile {
  /** Of one whose name is no text: that name with `\xff` for each byte that is no ASCII. */
  readonly name: string;
  readonly folder: WorkFolder;
  /** `unnamed` is a regular file whose name is no text in UTF-8: nothing that takes a path as a text finds it. */
  readonly kind: 'regular' | 'link' | 'unnamed' | 'other';
  /** When its content changed last. */
  readonly touchedAt: string;
  /** When anything of it changed last, its place included. */
  readonly changedAt: string;
  readonly sizeBytes: number;
  /** Its content; null where it is no text, too large, or cannot be read. */
  readonly text: string | null;
  readonly frontMatter: FileFrontMatter;
  /** Another file comes first that would be a task of the same id. */
  readonly hasNamesake: boolean;
}

/** A task of a file, as it stands now. */
export interface FileTask {
  readonly standing: 'live' | ShownState;
  /** This user's ralph has written its state: only then it is acted on. */
  readonly isOwn: boolean;
  readonly exitReason: string | null;
  readonly startedAt: string;
  readonly finishedAt: string | null;
  /** A program keeps it by the library. */
  readonly isKeptByProgram: boolean;
  /** A person has refused what it asked for last. */
  readonly isRejected: boolean;
  /** What it waits to be allowed; null where it waits for nothing. */
  readonly approval: {
    /** The request's name in `Pending_Approval`. */
    readonly file: string;
    readonly expiresAt: string;
    readonly isAnswered: boolean;
  } | null;
}

/** All that a decision about a file goes by. */
export interface FileFacts {
  readonly file: VaultFile;
  /** The id of the task that the file itself is, and that task; null where there is none. */
  readonly ownId: string;
  readonly own: FileTask | null;
  /** Likewise of its rescue. */
  readonly rescueId: string;
  readonly rescue: FileTask | null;
  /** A pass has begun the file's own task, or gone on with it. */
  readonly isOurs: boolean;
  /** Rescues that ended in a way that says something about the file. */
  readonly failedRescues: number;
  /** The note that a run of the file itself has left for a human, by name; null where there is none. */
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
  | 'unreadable-state'
  | 'noted'
  | 'rejected'
  | 'completed'
  | 'no-text'
  | 'unnamed'
  | 'empty'
  | 'gone';

/** Why a person has to see to a file. */
type HumanReason = 'payment' | 'too-large' | 'front-matter';

/** The one thing that is done with a file in a pass. */
export type FileAction =
  /** `detail` says more: a status, a note's name. */
  | { readonly kind: 'leave'; readonly reason: LeaveReason; readonly detail: string }
  /** Its own task, or its rescue, is gone on with. */
  | { readonly kind: 'resume'; readonly taskId: string }
  | { readonly kind: 'rescue'; readonly taskId: string; readonly stuckForMs: number }
  | { readonly kind: 'start-new'; readonly taskId: string }
  /** Its task is completed, but it was not moved. */
  | { readonly kind: 'finish'; readonly taskId: string }
  | { readonly kind: 'to-human'; readonly why: HumanReason; readonly detail: string }
  | { readonly kind: 'needs-approval'; readonly request: string }
  /** Nobody has answered in time; `overdueMs` says since when. */
  | { readonly kind: 'overdue-approval'; readonly request: string; readonly overdueMs: number }
  | { readonly kind: 'quarantine'; readonly failedRescues: number };

/** What became of a file in a pass: a run's end, or what was done without one. */
export type FileOutcome =
  | { readonly kind: 'left'; readonly action: Extract<FileAction, { kind: 'leave' }> }
  | {
      readonly kind: 'ran';
      readonly how: 'rescue' | 'resume' | 'start-new';
      readonly taskId: string;
      readonly status: string;
      readonly exitReason: string;
      /** Of a rescue that says something about the file; null of any other. */
      readonly failedRescues: number | null;
    }
  | { readonly kind: 'finished'; readonly movedTo: string }
  | { readonly kind: 'for-human'; readonly why: HumanReason; readonly note: string | null }
  | { readonly kind: 'needs-approval'; readonly request: string }
  | { readonly kind: 'approval-overdue'; readonly request: string; readonly overdueMs: number }
  | { readonly kind: 'quarantined'; readonly movedTo: string; readonly failedRescues: number }
  /** Something went wrong that is not the file's fault. */
  | { readonly kind: 'problem'; readonly message: string };

/** What a pass tells a person in a note of its own; one of a kind and task is kept. */
export type VaultNote =
  | {
      readonly kind: 'for-human';
      readonly taskId: string;
      /** The file, relative to the vault. */
      readonly file: string;
      readonly why: HumanReason;
      readonly detail: string;
    }
  | {
      readonly kind: 'overdue';
      readonly taskId: string;
      readonly file: string;
      readonly request: string;
    }
  | {
      readonly kind: 'quarantined';
      readonly taskId: string;
      /** Where it lies now. */
      readonly file: string;
      readonly failedRescues: number;
    }
  /** What keeps every file from being worked on. */
  | {
      readonly kind: 'blocked';
      readonly taskId: string;
      readonly status: string;
      readonly exitReason: string;
    };

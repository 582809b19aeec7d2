import path from 'node:path';
import type { StoredRun } from '../../core/settings/stored-run.ts';
import type { LandingForm } from '../../core/snapshots/landing.ts';
import type { TaskState } from '../../core/task/task-state.ts';
import type { TaskPaths } from '../../effects/state/task-folder.ts';
import type { Seal } from '../../effects/trust/seal.ts';

/** What a landing needs to know of its task, and of the command that asks for it. */
export interface TaskToLand {
  readonly state: TaskState;
  readonly stored: StoredRun;
  /** Where an open task of this id lies, even if this one is in the history. */
  readonly paths: TaskPaths;
  /** Where it lies, in the history if it is completed. */
  readonly folder: string;
  readonly seal: Seal;
  readonly vault: string;
  /** The key that the user named; null for the default one. */
  readonly keyFile: string | null;
  /** The branch that the user named, or null. */
  readonly onto: string | null;
  readonly form: LandingForm;
  /** Absolute path of a file of the work tree in which the task was started, whose changes do not land; or null. */
  readonly apart: string | null;
  /** Whether the task's work tree is removed once all in it has landed. */
  readonly removesTree: boolean;
  readonly env: NodeJS.ProcessEnv;
  /** Called once if another landing is under way. */
  readonly onWait: (pid: number | null) => void;
  readonly warn: (sentence: string) => void;
}

/** The absolute path of the folder in which the task was started, or which `--cwd` named. */
export function startFolderOf({ startDir, settings }: StoredRun): string {
  return path.resolve(startDir, settings.cwd ?? '.');
}

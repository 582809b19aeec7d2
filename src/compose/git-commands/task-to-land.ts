import type { StoredRun } from '../../core/settings/stored-run.ts';
import type { LandingForm } from '../../core/snapshots/landing.ts';
import type { TaskState } from '../../core/task/task-state.ts';
import type { TaskPaths } from '../../effects/state/task-folder.ts';
import type { Seal } from '../../effects/trust/seal.ts';

/** What is needed to land a task, which means to bring its work to a branch. */
export interface TaskToLand {
  readonly state: TaskState;
  readonly stored: StoredRun;
  /** The paths of an open task with this id, even if this task is in the history. */
  readonly paths: TaskPaths;
  /** The task's folder; in the history if the task is completed. */
  readonly folder: string;
  readonly seal: Seal;
  readonly vault: string;
  /** The key that the user named; null for the default one. */
  readonly keyFile: string | null;
  /** The branch to land on that the user named; null for the usual one. */
  readonly onto: string | null;
  readonly form: LandingForm;
  /** Absolute path of a file whose changes do not land, in the work tree where the task was started; or null. */
  readonly apart: string | null;
  /** Whether to remove the task's work tree once everything in it has landed. */
  readonly removesTree: boolean;
  readonly env: NodeJS.ProcessEnv;
  /** Called once if another landing must end first; `pid` is that of its process, if known. */
  readonly onWait: (pid: number | null) => void;
  readonly warn: (sentence: string) => void;
}

import type { NewTask } from '../core/task/task-state.ts';
import type { RunPlan } from '../effects/plan/run-plan.ts';
import type { SignalWatch } from '../effects/processes/signals.ts';
import type { TaskPaths } from '../effects/state/task-folder.ts';
import type { Seal } from '../effects/trust/seal.ts';
import type { RunClock } from '../loop/ports.ts';
import type { RunEnd } from '../loop/run-loop.ts';
import type { View } from '../report/terminal/view.ts';
import type { holdTask } from './open-task.ts';

export interface RunOptions {
  readonly plan: RunPlan;
  readonly view: View;
  /** Said once the task is this process's to drive. */
  readonly announcements?: readonly string[];
  /** Given how it ended, before what is needed to go on with it is put away: whoever dies before has told nobody. */
  readonly tell?: (fields: RunEnd['fields']) => void;
  /** Given where a task is gone on with. */
  readonly resume?: Resume;
  /** Who may ask the loop to stop; signals, if nobody is named. */
  readonly stops?: SignalWatch;
  /** Aborts, with the error, where something is thrown that nobody waits for. */
  readonly bugs?: AbortSignal;
  /** Whether somebody sits at a terminal and watches: then the machine is kept awake where that works. */
  readonly isAttended?: boolean;
  /** Told how many bytes the agent has just said. */
  readonly onOutput?: (bytes: number) => void;
  /** Words between the agent's program and its arguments: for a program that is a script. */
  readonly agentPrefixArgs?: readonly string[];
}

/** What is known of a task that is gone on with, beside its plan. */
export interface Resume {
  /** How long its whole time was before. */
  readonly previousTimeoutMs: number;
  /** The folder that it worked in before, absolute. */
  readonly previousCwd: string;
  /** A person has looked at what somebody else has written, and takes it over. */
  readonly isTrusted: boolean;
  /** How the task ended is told, since its driver died before it had, and nothing else is done. */
  readonly tellsOnly?: boolean;
}

/** A task that this process drives. */
export interface HeldRun extends RunOptions {
  readonly paths: TaskPaths;
  readonly warn: (sentence: string) => void;
  readonly driver: NonNullable<NewTask['driver']>;
  readonly hold: Awaited<ReturnType<typeof holdTask>>;
  readonly stops: SignalWatch;
  readonly clock: RunClock;
  readonly seal: Seal;
}

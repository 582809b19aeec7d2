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
  /** Printed once this process drives the task. */
  readonly announcements?: readonly string[];
  /** Called with the ending before the resume data is archived, so a crash in between repeats it. */
  readonly tell?: (fields: RunEnd['fields']) => void;
  /** Set if the task is resumed. */
  readonly resume?: Resume;
  /** Source of stop requests; defaults to signals. */
  readonly stops?: SignalWatch;
  /** Aborts with the error if something is thrown that nothing awaits. */
  readonly bugs?: AbortSignal;
  /** Whether somebody watches at a terminal. If so, the machine is kept awake where that is possible. */
  readonly isAttended?: boolean;
  /** Called with the number of bytes that the agent has just written. */
  readonly onOutput?: (bytes: number) => void;
  /** Words between the agent's program and its arguments, for a program that is a script. */
  readonly agentPrefixArgs?: readonly string[];
}

/** What is known about a resumed task besides its plan. */
export interface Resume {
  /** The previous time limit of the whole task. */
  readonly previousTimeoutMs: number;
  /** The folder in which it worked before, absolute. */
  readonly previousCwd: string;
  /** A person has reviewed a task that somebody else wrote, and trusts it. */
  readonly isTrusted: boolean;
  /** Only announce how the task ended, because its driver died before it could. */
  readonly tellsOnly?: boolean;
}

/** A run whose task this process drives. */
export interface HeldRun extends RunOptions {
  readonly paths: TaskPaths;
  readonly warn: (sentence: string) => void;
  readonly driver: NonNullable<NewTask['driver']>;
  readonly hold: Awaited<ReturnType<typeof holdTask>>;
  readonly stops: SignalWatch;
  readonly clock: RunClock;
  readonly seal: Seal;
}

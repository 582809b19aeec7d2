// The package's public API. Anything that is not exported here may change at any time.

export type { RalphEvent } from './core/machine/events.ts';
export type { IterationReport } from './core/machine/loop-event.ts';
export type { SandboxRefusal } from './core/sandbox/rules.ts';
export type { Status, TaskState } from './core/task/task-state.ts';
export { SandboxError, StateTooNewError, UsageError } from './errors.ts';
export {
  type CountedTask,
  type EndedTask,
  RalphService,
  type StartedTask,
} from './service/ralph-service.ts';
export { type RunTaskResult, runTask } from './service/run-task.ts';
export type { RunTaskOptions } from './service/run-task-options.ts';
export type { RalphServiceOptions } from './service/service-options.ts';
export type { NamedCheck } from './service/setting-options.ts';
export type {
  CompleteTaskOptions,
  CompletionStrategy,
  ProgressUpdate,
  StartTaskOptions,
} from './service/task-options.ts';
export {
  ApprovalPendingError,
  BaselineMisfitError,
  InvalidPromptError,
  InvalidStateError,
  MaxIterationsExceededError,
  MaxIterationsExceededError as MaxIterationsError,
  StateCorruptedError,
  TaskAlreadyActiveError,
  type TaskErrorJson,
  TaskNotFoundError,
  TimeoutError,
  UntrustedTaskError,
} from './task-errors.ts';

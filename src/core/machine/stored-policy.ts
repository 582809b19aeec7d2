import { promiseInForce } from '../completion/conditions/conditions.ts';
import { untagged } from '../completion/promise.ts';
import type { Policy } from '../task/policy.ts';
import type { TaskState } from '../task/task-state.ts';

/** The settings stored next to a task's state, by their configuration keys. */
export type KeptSettings = ReadonlyMap<string, unknown>;

/**
 * Builds the completion policy of a task from its state and its stored settings, for code that checks the
 * task without driving it. Limits that only a driver enforces are off.
 */
export function keptPolicy(task: TaskState, settings: KeptSettings): Policy {
  const conditions = {
    watchGlobs: task.watch_glob,
    watchFile: task.watch_file,
    doneFolder: task.done_folder,
    until: textAt(settings, 'until'),
    signals: textsAt(settings, 'signal'),
    planFile: textAt(settings, 'plan_file'),
  };
  const abortPromise = textAt(settings, 'abort_promise');
  return {
    ...UNDRIVEN,
    ...conditions,
    agent: settings.get('agent') === 'command' ? 'command' : 'claude',
    promise: promiseInForce({ ...conditions, promise: task.completion_promise }),
    match: task.match,
    verify: textAt(settings, 'verify'),
    confirm: countAt(settings, 'confirm') ?? 1,
    minIterations: countAt(settings, 'min_iterations') ?? 1,
    protect: textsAt(settings, 'protect'),
    abortPromise: abortPromise === null ? null : untagged(abortPromise),
    maxIterations: task.max_iterations,
    iterationTimeoutMs: countAt(settings, 'iteration_timeout') ?? UNDRIVEN.iterationTimeoutMs,
  };
}

const UNDRIVEN: Omit<
  Policy,
  | 'agent'
  | 'promise'
  | 'match'
  | 'watchGlobs'
  | 'watchFile'
  | 'doneFolder'
  | 'until'
  | 'signals'
  | 'planFile'
  | 'maxIterations'
> = {
  verify: null,
  confirm: 1,
  minIterations: 1,
  protect: [],
  acceptRefused: [],
  abortPromise: null,
  askBack: false,
  maxCostUsd: null,
  maxUsagePercent: null,
  noProgressLimit: 0,
  sameErrorLimit: 0,
  session: 'fresh',
  after: null,
  approvalRequired: null,
  approvalTimeoutMs: 0,
  noWait: true,
  iterationTimeoutMs: 180_000,
  idleTimeoutMs: null,
  delayMs: 0,
  retries: 0,
  maxWaitMs: 0,
  timeZone: 'UTC',
  context: 'last',
  contextChars: 20_000,
};

function textAt(settings: KeptSettings, key: string): string | null {
  const value = settings.get(key);
  return typeof value === 'string' && value !== '' ? value : null;
}

function textsAt(settings: KeptSettings, key: string): readonly string[] {
  const value = settings.get(key);
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}

function countAt(settings: KeptSettings, key: string): number | null {
  const value = settings.get(key);
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : null;
}

import { AGENTS, DEFAULT_AGENT } from '../agent/agents/agents.ts';
import { promiseInForce } from '../completion/conditions/conditions.ts';
import { untagged } from '../completion/promise.ts';
import { judgeOf } from '../settings/judge-setting.ts';
import type { SourcedSettings, Sources } from '../settings/setting-source.ts';
import type { Settings } from '../settings/settings.ts';
import { agentsOf } from '../settings/settings-problems.ts';
import type { Policy } from '../task/policy.ts';
import type { TaskState } from '../task/task-state.ts';

/** The facts that a policy needs besides the settings. */
interface PolicyFacts {
  /** The path of the task's own file in the work folder, or null. It is watched if `--watch-file` names no other. */
  readonly fileInWork: string | null;
  readonly doneFolder: string;
  /** What a person has to approve before the first iteration; null for nothing. */
  readonly approvalRequired: string | null;
  /** Returns the time zone. It is called only when needed, since finding the time zone takes 15 ms. */
  readonly timeZone: () => string;
}

/** Builds the policy of a task, which is what the loop reads. Settings that need no change are copied all at once. */
export function policyOf({ settings, sources }: SourcedSettings, facts: PolicyFacts): Policy {
  const agents = agentsOf({ settings, sources });
  const given = {
    ...settings,
    promise: settings.promise === null ? null : untagged(settings.promise),
    watchGlobs: settings.watchGlob,
    doneFolder: facts.doneFolder,
    signals: settings.signal,
  };
  return {
    ...given,
    agent: agents[0] ?? DEFAULT_AGENT,
    agents,
    judge: judgeOf(settings),
    promise: promiseInForce(given),
    watchFile: settings.watchFile ?? facts.fileInWork,
    abortPromise: settings.abortPromise === null ? null : untagged(settings.abortPromise),
    // Only agents that can resume their session can be asked about their answer.
    askBack: settings.askBack && agents.every((agent) => AGENTS[agent].takes.includes('askBack')),
    maxCostUsd: settings.maxCost,
    maxUsagePercent: settings.maxUsage,
    approvalRequired: facts.approvalRequired,
    approvalTimeoutMs: settings.approvalTimeout,
    iterationTimeoutMs: Math.min(settings.iterationTimeout, settings.timeout),
    idleTimeoutMs: settings.idleTimeout,
    delayMs: settings.delay,
    maxWaitMs: settings.maxWait,
    inSandbox: null,
    get timeZone() {
      return facts.timeZone();
    },
  };
}

/** Returns a sentence about the problem if the promise (the text for "done") is empty. */
export function promiseProblems({ promise }: Policy, sources: Sources): readonly string[] {
  if (promise !== '') return [];
  return [
    `${sources.promise.where} expects the words by which the agent states completion; found an empty text, which every message would contain.`,
  ];
}

/** Builds the policy of a stored task whose work is checked without a loop. */
export function storedPolicy(task: TaskState, { settings, sources }: SourcedSettings): Policy {
  return policyOf(
    { settings: { ...settings, ...settingsIn(task) }, sources },
    {
      fileInWork: null,
      doneFolder: task.done_folder,
      approvalRequired: null,
      timeZone: () => 'UTC',
    },
  );
}

/** Returns the settings in a state file. If another program wrote the state, these are the task's only settings. */
export function settingsIn(task: TaskState): Partial<Settings> {
  return {
    maxIterations: task.max_iterations,
    match: task.match,
    ...(task.completion_promise === null ? {} : { promise: task.completion_promise }),
    ...(task.watch_glob.length === 0 ? {} : { watchGlob: task.watch_glob }),
    ...(task.watch_file === null
      ? {}
      : { watchFile: task.watch_file, doneFolder: task.done_folder }),
  };
}

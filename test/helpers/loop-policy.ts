import type { Policy } from '../../src/core/task/policy.ts';

/**
 * The defaults of `ralph run` with the promise DONE, but for what is given. The circuit breaker is
 * off, so that a test which is not about it may idle or fail as often as it likes.
 */
export function loopPolicy(changes: Partial<Policy> = {}): Policy {
  return {
    agent: 'claude',
    promise: 'DONE',
    match: 'statement',
    watchGlobs: [],
    watchFile: null,
    doneFolder: 'Done',
    until: null,
    signals: [],
    planFile: null,
    verify: null,
    confirm: 1,
    minIterations: 1,
    protect: [],
    acceptRefused: [],
    abortPromise: null,
    askBack: true,
    maxCostUsd: null,
    maxUsagePercent: null,
    noProgressLimit: 0,
    sameErrorLimit: 0,
    session: 'fresh',
    after: null,
    approvalRequired: null,
    approvalTimeoutMs: 24 * 3_600_000,
    noWait: false,
    maxIterations: 5,
    iterationTimeoutMs: 180_000,
    idleTimeoutMs: null,
    delayMs: 2_000,
    retries: 5,
    maxWaitMs: 6 * 3_600_000,
    timeZone: 'UTC',
    context: 'last',
    contextChars: 20_000,
    ...changes,
  };
}

import type { Policy } from '../../src/core/policy.ts';

/** The defaults of `ralph run` with the promise DONE, but for what is given. */
export function loopPolicy(changes: Partial<Policy> = {}): Policy {
  return {
    agent: 'claude',
    promise: 'DONE',
    match: 'statement',
    watchGlobs: [],
    watchFile: null,
    doneFolder: 'Done',
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

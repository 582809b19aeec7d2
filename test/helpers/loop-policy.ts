import { policyOf } from '../../src/core/policy/policy-of.ts';
import { resolveSettings } from '../../src/core/settings/resolve-settings.ts';
import type { Policy } from '../../src/core/task/policy.ts';

/**
 * The defaults of `ralph run` with the promise DONE, but for what is given. The circuit breaker is
 * off, so that a test which is not about it may idle or fail as often as it likes, and the work may be
 * empty.
 */
export function loopPolicy(changes: Partial<Policy> = {}): Policy {
  const facts = { fileInWork: null, doneFolder: 'Done', approvalRequired: null };
  return {
    ...policyOf(resolveSettings([]), { ...facts, timeZone: () => 'UTC' }),
    promise: 'DONE',
    noProgressLimit: 0,
    sameErrorLimit: 0,
    acceptEmpty: true,
    ...changes,
  };
}

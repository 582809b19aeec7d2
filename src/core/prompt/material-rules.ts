import { AGENTS } from '../agent/agents/agents.ts';
import type { Policy } from '../task/policy.ts';
import type { MaterialRules } from '../text/untrusted-text.ts';

/** The rules for quoting untrusted text to the agent of this policy. */
export function rulesFor(policy: Policy): MaterialRules {
  return AGENTS[policy.agent];
}

import { AGENTS } from '../agent/agents/agents.ts';
import type { Policy } from '../task/policy.ts';
import type { MaterialRules } from '../text/untrusted-text.ts';

/** Returns the rules for quoting untrusted text to the agent that `policy` names. */
export function rulesFor(policy: Policy): MaterialRules {
  return AGENTS[policy.agent];
}

import { readChecks } from '../settings/checks.ts';
import type { Evidence } from '../task/task-state.ts';
import { asCheckResult, type CheckResult, type JudgeRules, judgeCheck } from './check-result.ts';
import type { Sightings } from './sightings.ts';

/** The evidence of one condition that the task is complete, before the gates have checked it. */
export interface Claim {
  readonly evidence: Evidence;
  readonly byWords: boolean;
}

/**
 * Returns the command that decided the claim, as a check: what the agent could have bent about it is the same. Empty if
 * no command decided.
 */
export function decidingCheck(
  { evidence }: Claim,
  { commands = {} }: Sightings,
  rules: JudgeRules,
): readonly CheckResult[] {
  const result = commands[evidence.kind];
  const [check] = result === undefined ? [] : (readChecks(result.command) ?? []);
  if (result === undefined || check === undefined) return [];
  return [judgeCheck(asCheckResult(check, result), null, rules)];
}

import { readChecks } from '../settings/checks.ts';
import type { Evidence } from '../task/task-state.ts';
import { asCheckResult, type CheckResult, type JudgeRules, judgeCheck } from './check-result.ts';
import type { Sightings } from './sightings.ts';

/** A claim that the task is complete: a completion condition holds. Whether to accept the claim is still undecided. */
export interface Claim {
  readonly evidence: Evidence;
  readonly byWords: boolean;
}

/** Returns the result of the command that led to the claim, in the form of a check's result; empty if none did. */
export function decidingCheck(
  { evidence }: Claim,
  { commands }: Sightings,
  rules: JudgeRules,
): readonly CheckResult[] {
  const result = commands[evidence.kind];
  const [check] = result === undefined ? [] : (readChecks(result.command) ?? []);
  if (result === undefined || check === undefined) return [];
  return [judgeCheck(asCheckResult(check, result), null, rules)];
}

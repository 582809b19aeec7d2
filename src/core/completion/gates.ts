import type { AttemptFacts, RefusedTool } from '../agent/attempt.ts';
import { isAccepted } from '../agent/tool-pattern.ts';
import type { Policy } from '../task/policy.ts';
import type { Evidence } from '../task/task-state.ts';
import { type CheckResult, failedChecks } from './check-result.ts';
import type { Sightings } from './sightings.ts';

/** What a gate knows about a claim. */
export interface ClaimView {
  readonly claim: Claim;
  readonly iteration: number;
  /** Refused tools that did not succeed later in the iteration. */
  readonly refused: readonly RefusedTool[];
  /** Sub-agents that the system stopped in the iteration. */
  readonly stoppedSubAgents: number;
  readonly sightings: Sightings;
  /** How the checks of `--verify` ended; null before they were run. */
  readonly verified: readonly CheckResult[] | null;
  /** Consecutive iterations, including this one, in which a claim passed every earlier gate. */
  readonly confirmations: number;
  readonly policy: Policy;
}

/** Which gate blocks a claim, and why, for the events and the reminder. */
export type Blocker =
  | { readonly gate: 'min-iterations'; readonly from: number }
  | {
      readonly gate: 'refused-tools';
      readonly tools: readonly RefusedTool[];
      /** The failed checks, which could have proven the claim; empty if there are no checks. */
      readonly failed: readonly CheckResult[];
    }
  | { readonly gate: 'protect'; readonly files: readonly string[] }
  | { readonly gate: 'verify'; readonly failed: readonly CheckResult[] }
  | { readonly gate: 'stopped-subagents'; readonly count: number }
  | { readonly gate: 'confirm'; readonly so_far: number; readonly of: number };

type GateAnswer = { readonly kind: 'passed' } | { readonly kind: 'ask-verify' } | HeldAnswer;
type HeldAnswer = { readonly kind: 'held'; readonly held: Blocker };

const PASSED: GateAnswer = { kind: 'passed' };

/** The gates, in the order in which they check. A new gate is one more row. */
const GATES: readonly ((view: ClaimView) => GateAnswer)[] = [
  minIterations,
  refusedTools,
  protectedFiles,
  verification,
  stoppedSubAgents,
  confirmation,
];

/** Checks a claim against the gates in order. The first gate that does not pass it decides. */
export function askGates(view: ClaimView): GateAnswer {
  for (const gate of GATES) {
    const answer = gate(view);
    if (answer.kind !== 'passed') return answer;
  }
  return PASSED;
}

function minIterations({ iteration, policy }: ClaimView): GateAnswer {
  if (iteration >= policy.minIterations) return PASSED;
  return held({ gate: 'min-iterations', from: policy.minIterations });
}

/**
 * Blocks a claim by words if tools were refused: an agent that was not allowed to act cannot have done the
 * task. Checks that pass outweigh this.
 */
function refusedTools({ claim, refused, verified, policy }: ClaimView): GateAnswer {
  const open = refused.filter((refusal) => !isAccepted(refusal, policy.acceptRefused));
  if (!claim.byWords || open.length === 0) return PASSED;
  if (policy.verify.length === 0) return held({ gate: 'refused-tools', tools: open, failed: [] });
  if (verified === null) return { kind: 'ask-verify' };
  const failed = failedChecks(verified);
  return failed.length === 0 ? PASSED : held({ gate: 'refused-tools', tools: open, failed });
}

/** Blocks a claim if protected files have changed, since they may decide whether the task is complete. */
function protectedFiles({ sightings }: ClaimView): GateAnswer {
  const files = sightings.protectedChanged;
  return files.length === 0 ? PASSED : held({ gate: 'protect', files });
}

function verification({ verified, policy }: ClaimView): GateAnswer {
  if (policy.verify.length === 0) return PASSED;
  if (verified === null) return { kind: 'ask-verify' };
  const failed = failedChecks(verified);
  return failed.length === 0 ? PASSED : held({ gate: 'verify', failed });
}

/** Blocks a claim if sub-agents were stopped, since work may be missing. All checks have passed here. */
function stoppedSubAgents({ stoppedSubAgents: count, policy }: ClaimView): GateAnswer {
  if (count === 0 || policy.verify.length > 0) return PASSED;
  return held({ gate: 'stopped-subagents', count });
}

function confirmation({ confirmations, policy }: ClaimView): GateAnswer {
  if (confirmations >= policy.confirm) return PASSED;
  return held({ gate: 'confirm', so_far: confirmations, of: policy.confirm });
}

function held(what: Blocker): HeldAnswer {
  return { kind: 'held', held: what };
}

/** What the gates decided about the claims of an iteration. */
export type ClaimVerdict =
  | { readonly kind: 'no-claim' }
  | { readonly kind: 'passed'; readonly claim: Claim }
  | { readonly kind: 'held'; readonly claim: Claim; readonly held: Blocker };

/** Returns the refused tools that did not succeed later in the iteration. */
export function openRefusals({ refused }: Pick<AttemptFacts, 'refused'>): readonly RefusedTool[] {
  return refused.filter((refusal) => !refusal.laterSucceeded);
}

/** The evidence of one condition that the task is complete, before the gates have checked it. */
export interface Claim {
  readonly evidence: Evidence;
  readonly byWords: boolean;
}

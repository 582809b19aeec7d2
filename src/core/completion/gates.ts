import type { AttemptFacts, RefusedTool } from '../agent/attempt.ts';
import { isAccepted } from '../agent/tool-pattern.ts';
import type { Policy } from '../task/policy.ts';
import type { Evidence } from '../task/task-state.ts';
import type { CommandResult, Sightings } from './sightings.ts';

/** All that a gate may look at. */
export interface ClaimView {
  readonly claim: Claim;
  readonly iteration: number;
  /** Refusals that nothing in the iteration made good. */
  readonly refused: readonly RefusedTool[];
  /** Sub-agents that the system stopped in the iteration. */
  readonly stoppedSubAgents: number;
  readonly sightings: Sightings;
  /** How `--verify` ended; null before it was run. */
  readonly verified: CommandResult | null;
  /** Iterations running, this one included, in which a claim passed every earlier gate. */
  readonly confirmations: number;
  readonly policy: Policy;
}

/** What holds a claim, as the events and the reminder name it. */
export type Held =
  | { readonly gate: 'min-iterations'; readonly from: number }
  | {
      readonly gate: 'refused-tools';
      readonly tools: readonly RefusedTool[];
      /** How the command that could have vouched for the claim failed; null where there is none. */
      readonly verified: CommandResult | null;
    }
  | { readonly gate: 'protect'; readonly files: readonly string[] }
  | { readonly gate: 'verify'; readonly result: CommandResult }
  | { readonly gate: 'stopped-subagents'; readonly count: number }
  | { readonly gate: 'confirm'; readonly so_far: number; readonly of: number };

type GateAnswer = { readonly kind: 'passed' } | { readonly kind: 'ask-verify' } | HeldAnswer;
type HeldAnswer = { readonly kind: 'held'; readonly held: Held };

const PASSED: GateAnswer = { kind: 'passed' };

/** The gates in their order. A new one is one more row. */
const GATES: readonly ((view: ClaimView) => GateAnswer)[] = [
  minIterations,
  refusedTools,
  protectedFiles,
  verification,
  stoppedSubAgents,
  confirmation,
];

/** Puts a claim before the gates: it passes all, is held by the first that holds, or must wait. */
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
 * Words from an iteration in which tools were refused are not believed: an agent that was allowed to
 * do nothing cannot have done it. A command of the user's that vouches for the result is.
 */
function refusedTools({ claim, refused, verified, policy }: ClaimView): GateAnswer {
  const open = refused.filter((refusal) => !isAccepted(refusal, policy.acceptRefused));
  if (!claim.byWords || open.length === 0) return PASSED;
  if (policy.verify === null) return held({ gate: 'refused-tools', tools: open, verified: null });
  if (verified === null) return { kind: 'ask-verify' };
  return verified.exitCode === 0 ? PASSED : held({ gate: 'refused-tools', tools: open, verified });
}

/** The agent could edit its own judge. */
function protectedFiles({ sightings }: ClaimView): GateAnswer {
  const files = sightings.protectedChanged;
  return files.length === 0 ? PASSED : held({ gate: 'protect', files });
}

function verification({ verified, policy }: ClaimView): GateAnswer {
  if (policy.verify === null) return PASSED;
  if (verified === null) return { kind: 'ask-verify' };
  return verified.exitCode === 0 ? PASSED : held({ gate: 'verify', result: verified });
}

/** Nobody has done what they were to do. A command that has passed by now vouches for the result. */
function stoppedSubAgents({ stoppedSubAgents: count, policy }: ClaimView): GateAnswer {
  if (count === 0 || policy.verify !== null) return PASSED;
  return held({ gate: 'stopped-subagents', count });
}

function confirmation({ confirmations, policy }: ClaimView): GateAnswer {
  if (confirmations >= policy.confirm) return PASSED;
  return held({ gate: 'confirm', so_far: confirmations, of: policy.confirm });
}

function held(what: Held): HeldAnswer {
  return { kind: 'held', held: what };
}

/** What became of an iteration's claims. */
export type Judged =
  | { readonly kind: 'no-claim' }
  | { readonly kind: 'passed'; readonly claim: Claim }
  | { readonly kind: 'held'; readonly claim: Claim; readonly held: Held };

/** Refusals that nothing in the iteration made good. */
export function openRefusals({ refused }: Pick<AttemptFacts, 'refused'>): readonly RefusedTool[] {
  return refused.filter((refusal) => !refusal.laterSucceeded);
}

/** A statement that the task is complete, before it is verified. */
export interface Claim {
  readonly evidence: Evidence;
  readonly byWords: boolean;
}

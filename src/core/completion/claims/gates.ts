import type { AttemptFacts, RefusedTool } from '../../agent/attempt.ts';
import { isAccepted } from '../../agent/tool-pattern.ts';
import type { JudgeVerdict } from '../../judge/verdict.ts';
import type { Finding } from '../../proof/findings.ts';
import type { FindingProof } from '../../proof/statement.ts';
import type { Check } from '../../settings/checks.ts';
import { type CheckResult, failedChecks, redChecks } from '../check-result.ts';
import { type Claim, decidingCheck } from '../claim.ts';
import type { CommandResult } from '../command-result.ts';
import type { Examination, ExamPart, JudgeAnswer } from '../examination.ts';
import {
  failedExamOf,
  findAgainst,
  judgedIn,
  needsOldExam,
  needsStartTests,
} from './claim-findings.ts';
import type { ClaimProof } from './claim-proof.ts';
import type { FindingsView } from './findings-view.ts';

/** What a gate (a condition for accepting a claim of completion) knows. It lets the claim pass or blocks it. */
export interface ClaimView extends Omit<FindingsView, 'checks' | 'examination'> {
  readonly iteration: number;
  /** Refused tools that did not succeed later in the iteration. */
  readonly refused: readonly RefusedTool[];
  /** How many sub-agents were stopped in the iteration before they had finished. */
  readonly stoppedSubAgents: number;
  /** The results of the checks of `--verify`; null before they were run. */
  readonly verified: readonly CheckResult[] | null;
  /** What was found out about the claim; null if it is not examined. */
  readonly examination: Examination | null;
  /** Consecutive iterations, including this one, in which a claim passed every earlier gate. */
  readonly confirmations: number;
}

/** Which gate blocks a claim, and why. The events and the next prompt report it. */
export type Blocker =
  | { readonly gate: 'min-iterations'; readonly from: number }
  | {
      readonly gate: 'refused-tools';
      readonly tools: readonly RefusedTool[];
      /** The failed checks; had they passed, the refusals would not matter. Empty if there are no checks. */
      readonly failed: readonly CheckResult[];
    }
  | { readonly gate: 'protect'; readonly files: readonly string[] }
  | { readonly gate: 'verify'; readonly failed: readonly CheckResult[] }
  /** Findings block the claim. The gate is named after the first one. */
  | {
      readonly gate: Finding['finding'];
      readonly findings: readonly Finding[];
      /** The checks that failed when they ran with tests or deciding files as they were at the start. */
      readonly failed: readonly CheckResult[];
      /** Why the checks could not run that way, as a clause; absent or null if they could or did not have to. */
      readonly why?: string | null;
    }
  | {
      readonly gate: 'clean-checkout';
      readonly failed: readonly CheckResult[];
      /** Why the checks could not be run in the checkout, as a clause; null if they were run. */
      readonly why: string | null;
      readonly setup: CommandResult | null;
      /** The folder where a person can look at the checkout; null if it was removed. */
      readonly folder: string | null;
    }
  | { readonly gate: 'judge'; readonly verdict: JudgeVerdict }
  | { readonly gate: 'confirm'; readonly so_far: number; readonly of: number };

type GateAnswer = { readonly kind: 'passed' } | Wanted | Undecided | HeldAnswer;
/** The judge has given no verdict, and the claim may not pass without one. */
export type Undecided = { readonly kind: 'undecided'; readonly answer: JudgeAnswer };
/** Asks for what a gate has to know before it can decide: results of the checks, or a part of the examination. */
export type Wanted =
  | { readonly kind: 'ask-verify' }
  | { readonly kind: 'ask-examine'; readonly part: ExamPart; readonly checks: readonly Check[] };
type HeldAnswer = { readonly kind: 'held'; readonly held: Blocker };

const PASSED: GateAnswer = { kind: 'passed' };

const GATES: readonly ((view: ClaimView) => GateAnswer)[] = [
  minIterations,
  refusedTools,
  protectedFiles,
  verification,
  stoppedSubAgents,
  findings,
  cleanCheckout,
  secondAgent,
  confirmation,
];

/** Checks a claim against the gates in order. The first gate that does not let it pass decides. */
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

/** Blocks a claim by the agent's words if tools were refused and no checks pass, since work may be missing. */
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

/** Blocks a claim without checks if sub-agents were stopped, since work may be missing. */
function stoppedSubAgents({ stoppedSubAgents: count, policy }: ClaimView): GateAnswer {
  if (count === 0 || policy.verify.length > 0) return PASSED;
  const finding = 'stopped-subagents';
  return held({ gate: finding, findings: [{ finding, count }], failed: [] });
}

/** Returns the results of all checks of a claim, including the command that decided it. */
export function checksOfClaim({
  claim,
  sightings,
  verified,
  policy,
}: Pick<ClaimView, 'claim' | 'sightings' | 'verified' | 'policy'>): readonly CheckResult[] {
  return [...(verified ?? []), ...decidingCheck(claim, sightings, policy)];
}

/** Returns what the search for findings needs; null if the claim is not examined. */
function findingsView(view: ClaimView): FindingsView | null {
  const { examination } = view;
  return examination === null ? null : { ...view, examination, checks: checksOfClaim(view) };
}

/** Whether ralph looks for findings before this gate blocks a claim: true of the gate of findings and later gates. */
export function wasLookedInto(held: Blocker): boolean {
  const isFinding = 'findings' in held && held.gate !== 'stopped-subagents';
  return isFinding || AFTER_FINDINGS.has(held.gate);
}

const AFTER_FINDINGS: ReadonlySet<string> = new Set(['clean-checkout', 'judge', 'confirm']);

function findings(view: ClaimView): GateAnswer {
  const seen = findingsView(view);
  if (seen === null) return PASSED;
  const { examination, checks } = seen;
  if (checks.length > 0 && examination.deciders === undefined) {
    return { kind: 'ask-examine', part: 'deciders', checks };
  }
  if (examination.oldExam === undefined && needsOldExam(seen)) {
    return { kind: 'ask-examine', part: 'oldExam', checks };
  }
  if (examination.startTests === undefined && needsStartTests(seen)) {
    return { kind: 'ask-examine', part: 'startTests', checks };
  }
  const open = findAgainst(seen).filter((each) => each.held);
  const [first] = open;
  if (first === undefined) return PASSED;
  const exam = failedExamOf(seen);
  return held({
    gate: first.found.finding,
    findings: open.map(({ found }) => found),
    ...(exam === null ? { failed: [] } : { failed: exam.failed, why: exam.why }),
  });
}

/** Blocks a claim whose checks pass in the agent's folder but fail in a clean checkout. */
function cleanCheckout(view: ClaimView): GateAnswer {
  const seen = findingsView(view);
  if (seen === null || !view.policy.verifyClean || seen.checks.length === 0) return PASSED;
  const { cleanCheckout: rerun } = seen.examination;
  const gate = 'clean-checkout';
  if (rerun === undefined) {
    return { kind: 'ask-examine', part: 'cleanCheckout', checks: seen.checks };
  }
  const { folder } = rerun;
  if (rerun.kind === 'not-made') {
    return held({ gate, failed: [], why: rerun.why, setup: rerun.setup, folder });
  }
  const failed = redChecks(judgedIn(rerun, seen));
  return failed.length === 0 ? PASSED : held({ gate, failed, why: null, setup: null, folder });
}

/** Whether a claim is blocked because no clean checkout can be made, which the agent cannot change. */
export function isWithoutCheckout(held: Blocker): boolean {
  return held.gate === 'clean-checkout' && held.why !== null && held.setup === null;
}

/**
 * Blocks a claim if the judge, a second agent, rejects it. Without a verdict, the claim passes only if `proof` is
 * `tell` and the judge was not stopped. The judge is asked after the checks, so it costs nothing while they fail.
 */
function secondAgent(view: ClaimView): GateAnswer {
  const { examination, policy } = view;
  if (policy.judge === null || examination === null) return PASSED;
  const { judge } = examination;
  if (judge === undefined)
    return { kind: 'ask-examine', part: 'judge', checks: checksOfClaim(view) };
  const { verdict, trouble } = judge;
  if (verdict.verdict === 'not-met') return held({ gate: 'judge', verdict });
  if (verdict.verdict !== 'none') return PASSED;
  const mayPass = policy.proof === 'tell' && trouble?.kind !== 'stopped';
  return mayPass ? PASSED : { kind: 'undecided', answer: judge };
}

function confirmation({ confirmations, policy }: ClaimView): GateAnswer {
  if (confirmations >= policy.confirm) return PASSED;
  return held({ gate: 'confirm', so_far: confirmations, of: policy.confirm });
}

function held(what: Blocker): HeldAnswer {
  return { kind: 'held', held: what };
}

/** The decision of the gates about the claims of an iteration. */
export type ClaimVerdict =
  | { readonly kind: 'no-claim' }
  | {
      readonly kind: 'passed';
      readonly claim: Claim;
      readonly proof: ClaimProof;
    }
  | {
      readonly kind: 'held';
      readonly claim: Claim;
      readonly held: Blocker;
      /** Absent if no gate has looked for findings. */
      readonly findings?: readonly FindingProof[];
    };

/** Returns the refused tools that did not succeed later in the iteration. */
export function openRefusals({ refused }: Pick<AttemptFacts, 'refused'>): readonly RefusedTool[] {
  return refused.filter((refusal) => !refusal.laterSucceeded);
}

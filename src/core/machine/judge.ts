import { describeOutcome } from '../agent/outcome.ts';
import { type ApprovalRequest, readApprovalRequest } from '../completion/approval-request.ts';
import { type CheckResult, failedChecks } from '../completion/check-result.ts';
import { claimProof, findingProof, findingProofs } from '../completion/claims/claim-proof.ts';
import { describeHeld, describeTools } from '../completion/claims/describe-held.ts';
import type { FindingsView } from '../completion/claims/findings-view.ts';
import {
  askGates,
  type Blocker,
  type ClaimVerdict,
  type ClaimView,
  checksOfClaim,
  openRefusals,
  type Undecided,
  type Wanted,
  wasLookedInto,
} from '../completion/claims/gates.ts';
import { findClaims, statesOneOf } from '../completion/conditions/conditions.ts';
import type { Examination } from '../completion/examination.ts';
import { readProgressReport } from '../completion/progress-report.ts';
import type { PromptText } from '../completion/promise.ts';
import { NOTHING_SEEN, type Sightings } from '../completion/sightings.ts';
import { addWork, NO_WORK, type WorkSeen } from '../completion/work-seen.ts';
import { criterionLine } from '../judge/verdict.ts';
import { promptTexts } from '../prompt/prompt.ts';
import { acceptingFlags, findingDetail } from '../proof/findings.ts';
import type { FindingProof } from '../proof/statement.ts';
import { preview } from '../secrets/secrets.ts';
import { breakerVerdict } from '../task/breaker.ts';
import type { Policy } from '../task/policy.ts';
import { oneLine } from '../text/untrusted-text.ts';
import { askPerson } from './approval.ts';
import { type Decided, type Decision, type End, type Moment, publish } from './decision.ts';
import { end, endUndecided, stoppedBy, TIME_OVER } from './ending.ts';
import type { CountedAnswer, Judgement, LoopState } from './loop-state.ts';
import { endBudget, endUsage, nextIteration } from './next-iteration.ts';
import { furtherEvents, iteratedEvent, record } from './record-iteration.ts';
import { wayToSettle } from './settling.ts';

/*
 * Decides what follows an iteration. A claim is a statement that the task is complete, and gates are the conditions for
 * accepting it. The breaker ends a task that gets nowhere. The first question in this order that applies decides:
 *
 *   abort promise ─► approval request ─► completed? ─► budget ─► breaker ─► time ─► iterations ─► the next one
 *                       │
 *                       └─ claim ─► gates ─► (the checks, separate actions, then back here)
 */

/** What is known of an iteration when it is judged. */
interface Observed {
  readonly answer: CountedAnswer;
  readonly sightings: Sightings;
  /** How the checks ended; null before they were run. */
  readonly verified: readonly CheckResult[] | null;
  /** What was found out about the claim; absent before a gate asks for it. */
  readonly examination?: Examination;
}

/** Judges a counted iteration by what the agent said and what was observed. */
export function judgeIteration(state: LoopState, observed: Observed, moment: Moment): Decided {
  const { answer, sightings, verified, examination = {} } = observed;
  const { policy } = moment;
  const { own, message, isAborted } = wordsOf(state, answer, policy);
  const signals = statesOneOf(policy.signals, message, own) ? state.streaks.signals + 1 : 0;
  // An agent that asks for an approval is not done, so the request is read before the claims.
  const approval = isAborted ? null : readApproval(message, own, sightings);
  const work = addWork(state.work ?? NO_WORK, sightings.progress, answer.facts);
  const judged =
    isAborted || approval !== null || wasCutOff(state, examination)
      ? NO_CLAIM
      : judgeClaims(state, { ...observed, examination, work }, signals, policy);
  const isEachWanted =
    policy.verifyEach && policy.verify.length > 0 && answer.outcome.kind === 'answered';
  const saysEnough = isAborted || approval !== null || verified !== null;
  if (judged.kind === 'ask-verify' || (isEachWanted && !saysEnough)) {
    const forClaim = judged.kind === 'ask-verify';
    return { state, decision: { kind: 'verifying', answer, sightings, results: [], forClaim } };
  }
  if (judged.kind === 'undecided') {
    const undecided = { answer, sightings };
    return { state: { ...state, undecided }, decision: endUndecided(state, judged.answer) };
  }
  if (judged.kind === 'ask-examine') {
    const { part, checks } = judged;
    const step = { kind: 'examining' as const, answer, sightings, verified, examination };
    return { state, decision: { ...step, part, checks } };
  }
  const report = readProgressReport(answer.facts.finalMessage ?? '', own);
  const checks = verified === null ? {} : { checks: verified };
  const failed = failedChecks(verified ?? []);
  const recorded = record(state, answer, sightings, judged, { signals, report, failed, work });
  return {
    state: recorded,
    announced: [publish(iteratedEvent(recorded, answer)), ...furtherEvents(answer, judged)],
    decision: settleIteration(recorded, { answer, judged, isAborted, approval, ...checks }, moment),
  };
}

/** Whether a stop cut off checks in a separate checkout. What they found then says nothing about the claim. */
function wasCutOff({ stopRequested }: LoopState, examination: Examination): boolean {
  if (stopRequested === null) return false;
  const reruns = [examination.oldExam, examination.startTests, examination.cleanCheckout];
  return reruns.some((rerun) => {
    if (rerun === undefined) return false;
    const results =
      rerun.kind === 'ran' ? rerun.results : rerun.setup === null ? [] : [rerun.setup];
    return results.some(({ exitCode, timedOut }) => exitCode === null && !timedOut);
  });
}

/**
 * Returns the texts of ralph's prompt, the agent's message (null if the agent did not end well), and whether that
 * message gives the task up, by stating the abort promise.
 */
function wordsOf(state: LoopState, { outcome, facts }: CountedAnswer, policy: Policy) {
  const own = promptTexts(policy, state.carry, state.task.current_iteration);
  const message = outcome.kind === 'answered' ? facts.finalMessage : null;
  const { abortPromise } = policy;
  const isAborted = abortPromise !== null && statesOneOf([abortPromise], message, own);
  return { own, message, isAborted };
}

/** Whether the agent gives the task up or asks a person, so that its statement of completion does not matter. */
export function saysOtherwise(state: LoopState, answer: CountedAnswer, policy: Policy): boolean {
  const { own, message, isAborted } = wordsOf(state, answer, policy);
  return isAborted || readApproval(message, own, NOTHING_SEEN) !== null;
}

/** Decides to commit or revert the iteration's changes if the user wants that, or else what follows the iteration. */
export function settleIteration(state: LoopState, judgement: Judgement, moment: Moment): Decision {
  const by = wayToSettle(judgement, moment.policy);
  return by === null ? follow(state, judgement, moment) : { ...judgement, kind: 'settling', by };
}

/** Runs the user's `--after` command if there is one; otherwise decides what follows the iteration. */
export function follow(state: LoopState, judgement: Judgement, moment: Moment): Decision {
  return moment.policy.after === null
    ? followed(state, judgement, moment)
    : { ...judgement, kind: 'following' };
}

/** Returns the approval that the agent asks for, in its message or in a file; null if there is none. */
function readApproval(
  message: string | null,
  own: readonly PromptText[],
  { approvalFile }: Sightings,
): ApprovalRequest | null {
  if (approvalFile !== null) {
    return { id: idFromName(approvalFile.name), what: approvalFile.what, file: approvalFile.name };
  }
  return message === null ? null : readApprovalRequest(message, own);
}

function idFromName(name: string): string {
  const id = name
    .replace(/\.[^.]*$/, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '');
  return id.slice(0, 40) || 'request';
}

const NO_CLAIM: ClaimVerdict = { kind: 'no-claim' };

/** Checks each claim against the gates; one claim that passes is enough. */
function judgeClaims(
  state: LoopState,
  { answer, sightings, verified, examination, work }: Required<Observed> & { work: WorkSeen },
  signalsInARow: number,
  policy: Policy,
): ClaimVerdict | Wanted | Undecided {
  const { outcome, verdict } = answer;
  let judged: ClaimVerdict = NO_CLAIM;
  for (const claim of findClaims({ outcome, verdict, sightings, signalsInARow, policy })) {
    const view: ClaimView = {
      claim,
      iteration: answer.record.number,
      refused: openRefusals(answer.facts),
      stoppedSubAgents: answer.facts.stoppedSubAgents,
      sightings,
      verified,
      checksAtStart: state.checksAtStart ?? null,
      work,
      examination,
      confirmations: state.streaks.confirmations + 1,
      policy,
    };
    const gates = askGates(view);
    const seen = { ...view, examination, checks: checksOfClaim(view) };
    if (gates.kind === 'passed') return { kind: 'passed', claim, proof: claimProof(seen) };
    if (gates.kind !== 'held') return gates;
    if (judged.kind === 'no-claim') {
      const findings = findingsOf(gates.held, seen);
      judged = { kind: 'held', claim, held: gates.held, findings };
    }
  }
  return judged;
}

/** Returns the findings to report about a blocked claim; empty if a gate blocked it before findings were looked for. */
function findingsOf(held: Blocker, view: FindingsView): readonly FindingProof[] {
  if (held.gate === 'stopped-subagents') {
    return held.findings.map((found) => findingProof({ found, held: true }));
  }
  return wasLookedInto(held) ? findingProofs(view) : [];
}

/** Ends the task after a judged iteration, asks a person, or continues with the next iteration. */
export function followed(
  state: LoopState,
  { answer, judged, isAborted, approval }: Judgement,
  moment: Moment,
): Decision {
  const { at, policy } = moment;
  if (isAborted) {
    const error = `the agent stated that the task cannot be done: ${policy.abortPromise ?? ''}`;
    return end('failed', 'failed:aborted', { error });
  }
  if (approval !== null) return askPerson(state.task, approval, moment);
  if (judged.kind === 'passed') {
    const { claim, proof } = judged;
    const shown = {
      ...claim.evidence,
      detail: preview(claim.evidence.detail, 200),
      ...(proof === undefined ? {} : { proof: proof.evidence }),
    };
    return end('completed', 'completed', { evidence: shown });
  }
  // A stop comes before the other endings, since they may rest on a check that the stop cut short.
  if (state.stopRequested !== null) return stoppedBy(state.stopRequested);
  return (
    endBudget(state, moment) ??
    endUsage(answer.facts.rateLimit, moment) ??
    endStalled(state, answer, judged, policy) ??
    (answer.outcome.kind === 'timed-out' && answer.outcome.limit === 'task'
      ? TIME_OVER
      : nextIteration(state, at, policy.delayMs))
  );
}

/**
 * Ends a task that gets nowhere: claims blocked or iterations cut again and again, no progress, or the same error.
 * Otherwise returns null.
 */
function endStalled(
  { streaks, task, judging }: LoopState,
  { outcome }: CountedAnswer,
  judged: ClaimVerdict,
  policy: Policy,
): End | null {
  const held = judged.kind === 'held' ? judged.held : null;
  if (held?.gate === 'refused-tools' && streaks.refusedClaims >= 2) {
    const tools = oneLine(describeTools(held.tools), 600);
    const error = `the task was stated complete twice while these tools were refused: ${tools}`;
    return end('stalled', 'refused', { error });
  }
  if (held !== null && streaks.unprovenClaims >= 2) {
    const found =
      'findings' in held ? held.findings.map(findingDetail).join('; ') : describeHeld(held);
    const error = `the task was stated complete twice, and both times this was found: ${oneLine(found, 600)}`;
    const accepting = 'findings' in held ? [...new Set(held.findings.flatMap(acceptingFlags))] : [];
    return end('stalled', 'unproven', { error, accepting });
  }
  if (held?.gate === 'judge' && (judging?.held ?? 0) > policy.judgeRounds) {
    const open = held.verdict.criteria.filter(({ verdict }) => verdict === 'not-met');
    const error = `the judge ${held.verdict.agent} has held ${policy.judgeRounds} claims, and still says: ${open.map(criterionLine).join('; ')}`;
    return end('stalled', 'judged', { error: oneLine(error, 2_000) });
  }
  if (outcome.kind === 'cut' && outcome.by.sign !== 'money' && streaks.cuts >= 2) {
    const error = `two iterations in a row were cut: ${describeOutcome(outcome)}`;
    return end('stalled', `supervisor:${outcome.by.sign}`, { error });
  }
  const opened = breakerVerdict(task.breaker, policy);
  if (opened === null) return null;
  const { reason, count, flag } = opened;
  const seen =
    reason === 'no-progress'
      ? `no progress in ${count} iterations: no commit, no change of a file, no progress reported`
      : `the same error in ${count} iterations: ${describeOutcome(outcome)}`;
  return end('stalled', reason, { error: `${seen} (${flag} 0 turns this off)` });
}

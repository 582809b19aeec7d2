import { describeOutcome } from '../agent/outcome.ts';
import { type ApprovalRequest, readApprovalRequest } from '../completion/approval-request.ts';
import { findClaims, needsLook, statesOneOf } from '../completion/conditions/conditions.ts';
import { askGates, type Judged, openRefusals } from '../completion/gates.ts';
import type { OwnText } from '../completion/promise.ts';
import { type CommandResult, NOTHING_SEEN, type Sightings } from '../completion/sightings.ts';
import { preview } from '../secrets/preview.ts';
import type { Policy } from '../task/policy.ts';
import { oneLine } from '../text/untrusted-text.ts';
import { askApproval } from './approval.ts';
import { breakerVerdict } from './breaker.ts';
import { end, endStopped, type HowItEnded } from './ending.ts';
import { describeTools, iteratedEvent, tell } from './iteration-events.ts';
import type { Action, Answer, LoopState, Step, Transition } from './loop-state.ts';
import { endBudget, endByTime, endUsage, goOn } from './next-iteration.ts';
import { ownTexts } from './prompt.ts';
import { readOwnReport, record } from './record-iteration.ts';

/*
 * Decides what follows an iteration. The checks run in this order; the first that applies decides:
 *
 *   abort promise ─► approval request ─► completed? ─► budget ─► breaker ─► time ─► iterations ─► the next one
 *                       │
 *                       └─ claim ─► gates ─► (verify, a separate action, then back here)
 */

/** Judges a counted iteration, after observing the workspace if the policy needs that. */
export function lookOrJudge(
  state: LoopState,
  answer: Answer,
  at: string,
  policy: Policy,
): Transition {
  if (!needsLook(policy)) return judge(state, answer, NOTHING_SEEN, null, at, policy);
  return { state: { ...state, step: { kind: 'looking', answer } }, actions: [{ kind: 'look' }] };
}

/** Judges a counted iteration by what the agent said and what was observed. */
export function judge(
  state: LoopState,
  answer: Answer,
  sightings: Sightings,
  verified: CommandResult | null,
  at: string,
  policy: Policy,
): Transition {
  const { own, message, isAborted } = wordsOf(state, answer, policy);
  const signals = statesOneOf(policy.signals, message, own) ? state.streaks.signals + 1 : 0;
  // Before the claims: an agent that asks for an approval is not done.
  const approval = isAborted ? null : readApproval(message, own, sightings);
  const judged =
    isAborted || approval !== null
      ? NO_CLAIM
      : judgeClaims(state, answer, sightings, verified, signals, policy);
  if (judged.kind === 'ask-verify') {
    return {
      state: { ...state, step: { kind: 'verifying', answer, sightings } },
      actions: [{ kind: 'verify', command: policy.verify ?? '' }],
    };
  }
  const report = readOwnReport(answer, own);
  const recorded = record(state, answer, sightings, judged, { signals, report });
  const next =
    policy.after === null
      ? nextAfter(recorded, { answer, judged, isAborted, approval }, at, policy)
      : follow(recorded, { answer, judged, isAborted, approval }, policy.after);
  const tellings: Action[] = [
    { kind: 'publish', body: iteratedEvent(recorded, answer) },
    ...tell(answer, judged),
  ];
  return { state: next.state, actions: [...tellings, ...next.actions] };
}

/** The agent's message if it ended well, and whether the agent gives the task up. */
function wordsOf(state: LoopState, { outcome, facts }: Answer, policy: Policy) {
  const own = ownTexts(policy, state.carry, state.task.current_iteration);
  const message = outcome.kind === 'answered' ? facts.finalMessage : null;
  const { abortPromise } = policy;
  const isAborted = abortPromise !== null && statesOneOf([abortPromise], message, own);
  return { own, message, isAborted };
}

/** Whether the agent gives the task up or asks a person, so that its promise does not matter. */
export function saysOtherwise(state: LoopState, answer: Answer, policy: Policy): boolean {
  const { own, message, isAborted } = wordsOf(state, answer, policy);
  return isAborted || readApproval(message, own, NOTHING_SEEN) !== null;
}

/** What the next step needs to know of a judged iteration. */
type Judgement = Omit<Extract<Step, { kind: 'following' }>, 'kind'>;

/** Runs the user's `--after` command. */
export function follow(state: LoopState, judgement: Judgement, command: string): Transition {
  return {
    state: { ...state, step: { kind: 'following', ...judgement } },
    actions: [{ kind: 'run-after', command, body: iteratedEvent(state, judgement.answer) }],
  };
}

/**
 * The approval that the agent asks for, in its message or in a file. An echo of the prompt's own example
 * is not a request.
 */
function readApproval(
  message: string | null,
  own: readonly OwnText[],
  { approvalFile }: Sightings,
): ApprovalRequest | null {
  if (approvalFile !== null) {
    return { id: idFromName(approvalFile.name), what: approvalFile.what, file: approvalFile.name };
  }
  if (message === null) return null;
  const examples = own
    .filter(({ kind }) => kind === 'sentence-wise')
    .flatMap(({ text }) => readApprovalRequest(text)?.what ?? []);
  return readApprovalRequest(message, examples);
}

/** Turns the name of the agent's request file into a valid id. */
function idFromName(name: string): string {
  const id = name
    .replace(/\.[^.]*$/, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '');
  return id.slice(0, 40) || 'request';
}

const NO_CLAIM: Judged = { kind: 'no-claim' };

/** Checks each claim against the gates; one claim that passes is enough. */
function judgeClaims(
  state: LoopState,
  answer: Answer,
  sightings: Sightings,
  verified: CommandResult | null,
  signalsInARow: number,
  policy: Policy,
): Judged | { readonly kind: 'ask-verify' } {
  const { outcome, verdict } = answer;
  let judged: Judged = NO_CLAIM;
  for (const claim of findClaims({ outcome, verdict, sightings, signalsInARow, policy })) {
    const gates = askGates({
      claim,
      iteration: answer.record.number,
      refused: openRefusals(answer.facts),
      stoppedSubAgents: answer.facts.stoppedSubAgents,
      sightings,
      verified,
      confirmations: state.streaks.confirmations + 1,
      policy,
    });
    if (gates.kind === 'passed') return { kind: 'passed', claim };
    if (gates.kind === 'ask-verify') return gates;
    if (judged.kind === 'no-claim') judged = { kind: 'held', claim, held: gates.held };
  }
  return judged;
}

/** Ends the task after a judged iteration, asks a person, or continues with the next iteration. */
export function nextAfter(
  state: LoopState,
  { answer, judged, isAborted, approval }: Judgement,
  at: string,
  policy: Policy,
): Transition {
  if (isAborted) {
    return end(state, at, {
      status: 'failed',
      exitReason: 'failed:aborted',
      error: `the agent stated that the task cannot be done: ${policy.abortPromise ?? ''}`,
    });
  }
  if (approval !== null) return askApproval(state, approval, at, policy);
  if (judged.kind === 'passed') {
    const { evidence } = judged.claim;
    return end(state, at, {
      status: 'completed',
      exitReason: 'completed',
      evidence: { ...evidence, detail: preview(evidence.detail, 200) },
    });
  }
  // Before the other endings: a check that a signal cut short says nothing about the claim.
  if (state.stopRequested !== null) return endStopped(state, at, state.stopRequested);
  return (
    endBudget(state, at, policy) ??
    endUsage(state, answer.facts.rateLimit, at, policy) ??
    endStalled(state, answer, judged, at, policy) ??
    (answer.outcome.kind === 'timed-out' && answer.outcome.limit === 'task'
      ? endByTime(state, at)
      : goOn(state, at, policy))
  );
}

/** Ends a stuck task: no progress, the same error repeatedly, or claims that cannot be believed. */
function endStalled(
  state: LoopState,
  answer: Answer,
  judged: Judged,
  at: string,
  policy: Policy,
): Transition | null {
  const stalled = (
    exitReason: Extract<HowItEnded, { status: 'stalled' }>['exitReason'],
    error: string,
  ): Transition =>
    end(state, at, {
      status: 'stalled',
      exitReason,
      error,
    });
  if (
    state.streaks.refusedClaims >= 2 &&
    judged.kind === 'held' &&
    judged.held.gate === 'refused-tools'
  ) {
    const tools = oneLine(describeTools(judged.held.tools), 600);
    return stalled(
      'refused',
      `the task was stated complete twice while these tools were refused: ${tools}`,
    );
  }
  if (
    state.streaks.unprovenClaims >= 2 &&
    judged.kind === 'held' &&
    judged.held.gate === 'stopped-subagents'
  ) {
    return stalled(
      'unproven',
      `the task was stated complete twice after the system had stopped sub-agents: ${judged.held.count} of them`,
    );
  }
  const opened = breakerVerdict(state.task.breaker, policy);
  if (opened === null) return null;
  const seen =
    opened.reason === 'no-progress'
      ? `no progress in ${opened.count} iterations: no commit, no change of a file, no progress reported`
      : `the same error in ${opened.count} iterations: ${describeOutcome(answer.outcome)}`;
  return stalled(opened.reason, `${seen} (${opened.flag} 0 turns this off)`);
}

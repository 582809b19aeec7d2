import { outputOf, type RefusedTool } from './attempt.ts';
import { afterIteration, breakerVerdict } from './breaker.ts';
import {
  type Claim,
  type CommandResult,
  findClaims,
  type Sightings,
  statesOneOf,
} from './completion.ts';
import { end, endStopped } from './ending.ts';
import { askGates, type Held } from './gates.ts';
import type { Action, Answer, LoopState, Transition } from './machine.ts';
import { oneLine } from './material.ts';
import { endBudget, endByTime, endUsage, goOn } from './next-iteration.ts';
import { describeOutcome, isCounted } from './outcome.ts';
import type { Policy } from './policy.ts';
import { type ProgressReport, readProgressReport } from './progress-report.ts';
import type { OwnText } from './promise.ts';
import { type Carry, type Missing, ownTexts } from './prompt.ts';
import { type Progress, withIteration } from './task-state.ts';

/*
 * What one iteration amounts to, in this order; the first that applies decides:
 *
 *   abort promise ─► completed? ─► budget ─► breaker ─► time ─► iterations ─► the next one
 *                       │
 *                       └─ claim ─► gates ─► (verify, an action of its own, and back here)
 */

/** Judges a counted iteration by what the agent said and what was seen. */
export function judge(
  state: LoopState,
  answer: Answer,
  sightings: Sightings,
  verified: CommandResult | null,
  at: string,
  policy: Policy,
): Transition {
  const own = ownTexts(policy, state.carry, state.task.current_iteration);
  const message = answer.outcome.kind === 'answered' ? answer.facts.finalMessage : null;
  const isAborted =
    policy.abortPromise !== null && statesOneOf([policy.abortPromise], message, own);
  const signals = statesOneOf(policy.signals, message, own) ? state.streaks.signals + 1 : 0;
  const judged = isAborted
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
  const next = nextAfter(recorded, answer, judged, isAborted, at, policy);
  const iterated = iteratedEvent(recorded, answer);
  const tellings: Action[] = [
    { kind: 'publish', body: iterated },
    ...(policy.after === null
      ? []
      : [{ kind: 'run-after' as const, command: policy.after, body: iterated }]),
    ...tell(answer, judged),
  ];
  return { state: next.state, actions: [...tellings, ...next.actions] };
}

type Judged =
  | { readonly kind: 'no-claim' }
  | { readonly kind: 'passed'; readonly claim: Claim }
  | { readonly kind: 'held'; readonly claim: Claim; readonly held: Held };

const NO_CLAIM: Judged = { kind: 'no-claim' };

/** Puts each claim before the gates; one that passes is enough. */
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
      refused: openRefusals(answer),
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

function openRefusals({ facts }: Answer): readonly RefusedTool[] {
  return facts.refused.filter((refusal) => !refusal.laterSucceeded);
}

/** Writes the iteration down: its record, its streaks, its progress, what the next one is told. */
function record(
  state: LoopState,
  answer: Answer,
  sightings: Sightings,
  judged: Judged,
  { signals, report }: { readonly signals: number; readonly report: ProgressReport | null },
): LoopState {
  const { facts, outcome } = answer;
  const { git, watched } = sightings.progress;
  const signs = [
    git === null ? null : git.commits > 0 || git.filesChanged > 0,
    watched,
    report === null ? null : report.done > (state.task.progress?.steps_completed ?? 0),
  ].filter((sign) => sign !== null);
  const error = isCounted(outcome) && outcome.kind !== 'answered' && outcome.kind !== 'bounded';
  const held = judged.kind === 'held' ? judged.held : null;
  // An iteration that is asked to check and not to go on moves nothing, and should not.
  const progress = signs.length === 0 || held?.gate === 'confirm' ? null : signs.includes(true);
  const task = withIteration(state.task, {
    ...answer.record,
    completed: judged.kind === 'passed',
    files_changed: git?.filesChanged ?? null,
  });
  return {
    ...state,
    task: {
      ...task,
      progress: report === null ? task.progress : progressOf(report),
      breaker: afterIteration(task.breaker, {
        progress,
        error: error ? describeOutcome(outcome) : null,
      }),
    },
    carry: carryFrom(answer, held),
    finalMessage: facts.finalMessage,
    streaks: {
      signals,
      refusedClaims: held?.gate === 'refused-tools' ? state.streaks.refusedClaims + 1 : 0,
      confirmations: held?.gate === 'confirm' ? state.streaks.confirmations + 1 : 0,
    },
  };
}

/** What the agent reports; the example that the prompt gives, said back, is no report. */
function readOwnReport({ facts }: Answer, own: readonly OwnText[]): ProgressReport | null {
  const report = readProgressReport(facts.finalMessage ?? '');
  if (report === null) return null;
  const examples = own
    .filter(({ kind }) => kind === 'sentence-wise')
    .map(({ text }) => readProgressReport(text));
  return examples.some((example) => isSameReport(example, report)) ? null : report;
}

function isSameReport(one: ProgressReport | null, other: ProgressReport): boolean {
  return one?.done === other.done && one.total === other.total && one.step === other.step;
}

function progressOf({ done, total, step }: ProgressReport): Progress {
  return {
    steps_total: total,
    steps_completed: done,
    current_step: step,
    percentage: Math.round((1_000 * done) / total) / 10,
  };
}

function nextAfter(
  state: LoopState,
  answer: Answer,
  judged: Judged,
  isAborted: boolean,
  at: string,
  policy: Policy,
): Transition {
  if (isAborted) {
    return end(state, at, {
      status: 'failed',
      exitReason: 'failed:aborted',
      event: 'task_failed',
      evidence: null,
      note: 'FAILED',
      error: `the agent stated that the task cannot be done: ${policy.abortPromise ?? ''}`,
      until: null,
    });
  }
  if (judged.kind === 'passed') {
    const { evidence } = judged.claim;
    return end(state, at, {
      status: 'completed',
      exitReason: 'completed',
      event: 'task_completed',
      evidence: { ...evidence, detail: oneLine(evidence.detail, 200) },
      note: null,
      error: null,
      until: null,
    });
  }
  // A check that a signal has cut says nothing about the claim.
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

/** The circuit breaker: nothing moves, the same error again and again, nothing but refused tools. */
function endStalled(
  state: LoopState,
  answer: Answer,
  judged: Judged,
  at: string,
  policy: Policy,
): Transition | null {
  const stalled = (exitReason: string, error: string): Transition =>
    end(state, at, {
      status: 'stalled',
      exitReason,
      event: 'task_stalled',
      evidence: null,
      note: 'STALLED',
      error,
      until: null,
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
  const opened = breakerVerdict(state.task.breaker, policy);
  if (opened === null) return null;
  const seen =
    opened.reason === 'no-progress'
      ? `no progress in ${opened.count} iterations: no commit, no change of a file, no progress reported`
      : `the same error in ${opened.count} iterations: ${describeOutcome(answer.outcome)}`;
  return stalled(opened.reason, `${seen} (${opened.flag} 0 turns this off)`);
}

function carryFrom(answer: Answer, held: Held | null): Carry {
  const { facts, outcome, verdict } = answer;
  const missing: Missing[] = [];
  const isHeldForTools = held?.gate === 'refused-tools';
  const refused = isHeldForTools ? held.tools : openRefusals(answer);
  if (isCounted(outcome) && outcome.kind !== 'answered') {
    missing.push({ kind: 'not-ended-well', outcome });
  }
  if (verdict.kind === 'near-miss') {
    missing.push({ kind: 'near-miss', line: verdict.line, why: verdict.why });
  }
  if (held !== null && held.gate !== 'refused-tools') missing.push({ kind: 'held', held });
  if (refused.length > 0) {
    const verified = isHeldForTools ? held.verified : null;
    missing.push({ kind: 'refused', tools: refused, held: isHeldForTools, verified });
  }
  if (outcome.kind === 'answered' && /\?\s*$/.test(facts.finalMessage ?? '')) {
    missing.push({ kind: 'question' });
  }
  return { output: outputOf(facts), wasCut: facts.end.kind === 'cut', missing, hints: [] };
}

function iteratedEvent({ task }: LoopState, answer: Answer) {
  const { number, ...fields } = task.iterations.at(-1) ?? answer.record;
  return {
    event: 'task_iterated' as const,
    iteration: number,
    ...fields,
    detail: oneLine(describeOutcome(answer.outcome), 300),
  };
}

function tell(answer: Answer, judged: Judged): readonly Action[] {
  const iteration = answer.record.number;
  const actions: Action[] = [];
  if (answer.verdict.kind === 'near-miss' && judged.kind !== 'passed') {
    const { why } = answer.verdict;
    const line = oneLine(answer.verdict.line, 200);
    actions.push({ kind: 'publish', body: { event: 'near_miss', iteration, line, why } });
  }
  if (judged.kind === 'held') {
    const detail = oneLine(describeHeld(judged.held), 300);
    const { gate } = judged.held;
    actions.push({ kind: 'publish', body: { event: 'claim_held', iteration, gate, detail } });
  }
  return actions;
}

/** One line for people: why a claim was not accepted. */
function describeHeld(held: Held): string {
  switch (held.gate) {
    case 'min-iterations':
      return `not before iteration ${held.from}`;
    case 'refused-tools':
      return `refused: ${describeTools(held.tools)}`;
    case 'protect':
      return `protected files have changed: ${held.files.slice(0, 5).join(', ')}`;
    case 'verify':
      return `${held.result.command} ${held.result.timedOut ? 'ran out of time' : `exited with ${held.result.exitCode ?? 'a signal'}`}`;
    case 'confirm':
      return `confirmed ${held.so_far} of ${held.of} times`;
  }
}

function describeTools(tools: readonly RefusedTool[]): string {
  return tools
    .slice(0, 5)
    .map(({ tool, target }) => (target === '' ? tool : `${tool}: ${target}`))
    .join('; ');
}

import { outputOf } from './attempt.ts';
import { type Claim, findClaims, type Sightings } from './completion.ts';
import { end } from './ending.ts';
import type { Action, Answer, LoopState, Transition } from './machine.ts';
import { oneLine } from './material.ts';
import { endByTime, goOn } from './next-iteration.ts';
import { describeOutcome, isCounted } from './outcome.ts';
import type { Policy } from './policy.ts';
import type { Carry, Missing } from './prompt.ts';
import { withIteration } from './task-state.ts';

/**
 * Judges a counted iteration: is there a claim, does it pass the gates, and if not, does the loop
 * go on? Completion comes before every limit: done on the last iteration is done.
 */
export function judge(
  state: LoopState,
  answer: Answer,
  sightings: Sightings,
  at: string,
  policy: Policy,
): Transition {
  const claims = findClaims({ outcome: answer.outcome, verdict: answer.verdict, sightings });
  const passed = claims.find((claim) => heldBy(claim, answer) === null);
  const held = passed === undefined ? claims[0] : undefined;
  const heldClaims = held === undefined ? 0 : state.trouble.heldClaims + 1;
  const recorded: LoopState = {
    ...state,
    task: withIteration(state.task, { ...answer.record, completed: passed !== undefined }),
    carry: carryFrom(answer, held !== undefined),
    finalMessage: answer.facts.finalMessage,
    trouble: { ...state.trouble, heldClaims },
  };
  const tellings = tell(answer, passed, held);
  const next = nextAfter(recorded, answer, passed, at, policy);
  return { state: next.state, actions: [...tellings, ...next.actions] };
}

function nextAfter(
  state: LoopState,
  answer: Answer,
  passed: Claim | undefined,
  at: string,
  policy: Policy,
): Transition {
  if (passed !== undefined) {
    return end(state, at, {
      status: 'completed',
      exitReason: 'completed',
      event: 'task_completed',
      evidence: { ...passed.evidence, detail: oneLine(passed.evidence.detail, 200) },
      note: null,
      error: null,
      until: null,
    });
  }
  if (state.trouble.heldClaims >= 2) {
    return end(state, at, {
      status: 'stalled',
      exitReason: 'refused',
      event: 'task_stalled',
      evidence: null,
      note: 'STALLED',
      error: `the task was stated complete twice while these tools were refused: ${answer.record.refused.slice(0, openRefusals(answer).length).join('; ')}`,
      until: null,
    });
  }
  if (answer.outcome.kind === 'timed-out' && answer.outcome.limit === 'task') {
    return endByTime(state, at);
  }
  return goOn(state, at, policy);
}

/**
 * The gates in their order; the first that holds the claim is named.
 * Refused tools: words from an iteration in which tools were refused are not believed, unless the
 * same tool succeeded later on.
 */
function heldBy(claim: Claim, answer: Answer): 'refused-tools' | null {
  if (claim.byWords && openRefusals(answer).length > 0) return 'refused-tools';
  return null;
}

function openRefusals({ facts }: Answer): Answer['facts']['refused'] {
  return facts.refused.filter((refusal) => !refusal.laterSucceeded);
}

function carryFrom(answer: Answer, held: boolean): Carry {
  const { facts, outcome, verdict } = answer;
  const missing: Missing[] = [];
  const refused = openRefusals(answer);
  if (isCounted(outcome) && outcome.kind !== 'answered') {
    missing.push({ kind: 'not-ended-well', outcome });
  }
  if (verdict.kind === 'near-miss') {
    missing.push({ kind: 'near-miss', line: verdict.line, why: verdict.why });
  }
  if (refused.length > 0) missing.push({ kind: 'refused', tools: refused, held });
  if (outcome.kind === 'answered' && /\?\s*$/.test(facts.finalMessage ?? '')) {
    missing.push({ kind: 'question' });
  }
  return { output: outputOf(facts), wasCut: facts.end.kind === 'cut', missing };
}

function tell(
  answer: Answer,
  passed: Claim | undefined,
  held: Claim | undefined,
): readonly Action[] {
  const { number, ...record } = answer.record;
  const actions: Action[] = [
    {
      kind: 'publish',
      body: {
        event: 'task_iterated',
        iteration: number,
        ...record,
        completed: passed !== undefined,
        detail: oneLine(describeOutcome(answer.outcome), 300),
      },
    },
  ];
  if (answer.verdict.kind === 'near-miss' && passed === undefined) {
    const { why } = answer.verdict;
    const line = oneLine(answer.verdict.line, 200);
    actions.push({ kind: 'publish', body: { event: 'near_miss', iteration: number, line, why } });
  }
  if (held !== undefined) {
    actions.push({
      kind: 'publish',
      body: {
        event: 'claim_held',
        iteration: number,
        gate: 'refused-tools',
        detail: oneLine(
          `refused: ${record.refused.slice(0, openRefusals(answer).length).join('; ')}`,
          300,
        ),
      },
    });
  }
  return actions;
}

import { type AttemptFacts, attemptOutput } from '../agent/attempt.ts';
import { describeOutcome, isCounted, type Outcome } from '../agent/outcome.ts';
import { hasMalformedRequest } from '../completion/approval-request.ts';
import type { CheckResult } from '../completion/check-result.ts';
import { describeHeld } from '../completion/claims/describe-held.ts';
import {
  type Blocker,
  type ClaimVerdict,
  isWithoutCheckout,
  openRefusals,
} from '../completion/claims/gates.ts';
import { type ProgressReport, progressOf } from '../completion/progress-report.ts';
import type { Sightings } from '../completion/sightings.ts';
import type { WorkSeen } from '../completion/work-seen.ts';
import type { Handover, Missing } from '../prompt/handover.ts';
import type { FindingProof } from '../proof/statement.ts';
import { preview } from '../secrets/secrets.ts';
import { afterIteration } from '../task/breaker.ts';
import { agentNamed, type Policy } from '../task/policy.ts';
import { withIteration } from '../task/task-state.ts';
import { oneLine } from '../text/untrusted-text.ts';
import type { Announcement } from './action.ts';
import { publish } from './decision.ts';
import type { CountedAnswer, LoopState, Streaks } from './loop-state.ts';

/** Builds the iteration's answer and its record from a counted attempt. */
export function answerOf(
  { task, attemptsUsage }: LoopState,
  { startedAt, ...answer }: Omit<CountedAnswer, 'record'> & { readonly startedAt: string },
  policy: Policy,
): CountedAnswer {
  const { facts, outcome, verdict } = answer;
  return {
    ...answer,
    record: {
      number: task.current_iteration,
      ...agentNamed(policy),
      started_at: startedAt,
      duration_ms: facts.durationMs,
      outcome: outcome.kind,
      ...(outcome.kind === 'cut' ? { cut_by: outcome.by.sign } : {}),
      exit_code: exitCodeOf(facts),
      completed: false,
      near_miss: verdict.kind === 'near-miss' || verdict.kind === 'in-doubt',
      ...attemptsUsage,
      turns: facts.turns,
      tools: facts.tools,
      // Refused calls that did not succeed later come first, since only they block a claim of completion.
      refused: [...facts.refused]
        .sort((a, b) => Number(a.laterSucceeded) - Number(b.laterSucceeded))
        .slice(0, 5)
        .map(({ tool, target }) => preview(target === '' ? tool : `${tool}: ${target}`, 120)),
      files_changed: null,
      output_preview: preview(attemptOutput(facts), 200),
    },
  };
}

function exitCodeOf({ end }: AttemptFacts): number | null {
  return end.kind === 'exited' || end.kind === 'cut' ? end.exitCode : null;
}

/** Records the iteration in the state: its record, streaks and progress, and what the next prompt says. */
export function record(
  state: LoopState,
  answer: CountedAnswer,
  sightings: Sightings,
  judged: ClaimVerdict,
  {
    signals,
    report,
    failed,
    work,
  }: {
    readonly signals: number;
    readonly report: ProgressReport | null;
    readonly failed: readonly CheckResult[];
    readonly work: WorkSeen;
  },
): LoopState {
  const { facts, outcome } = answer;
  const { git, watched } = sightings.progress;
  const signs = [
    git === null ? null : git.commits > 0 || git.filesChanged > 0,
    watched,
    report === null ? null : isFurther(state, report),
    state.reported ?? null,
  ].filter((sign) => sign !== null);
  const error = isCounted(outcome) && outcome.kind !== 'answered' && outcome.kind !== 'bounded';
  const held = judged.kind === 'held' ? judged.held : null;
  // An agent that is only asked to confirm its claim should change nothing, so its progress is not judged.
  const progress = signs.length === 0 || held?.gate === 'confirm' ? null : signs.includes(true);
  const task = withIteration(state.task, {
    ...answer.record,
    completed: judged.kind === 'passed',
    files_changed: git?.filesChanged ?? null,
  });
  // The claim is now decided, and the next prompt names the refused hosts, so the state needs neither any more.
  const { undecided: _, refusedHosts: _told, ...before } = state;
  const { judging } = state;
  return {
    ...before,
    ...(judging !== undefined && held?.gate === 'judge'
      ? { judging: { ...judging, held: judging.held + 1 } }
      : {}),
    work,
    ...(judged.kind === 'passed' && judged.proof !== undefined ? { proof: judged.proof } : {}),
    task: {
      ...task,
      progress: report === null ? task.progress : progressOf(report),
      breaker: afterIteration(task.breaker, {
        progress,
        error: error ? errorOf(answer) : null,
      }),
    },
    carry: { ...carryFrom(state, answer, sightings, held, failed), ...startIn(state) },
    finalMessage: facts.finalMessage,
    reported: null,
    streaks: {
      ...state.streaks,
      ...unprovenAfter(state, held),
      ...cutsAfter(state.streaks, outcome),
      signals,
      refusedClaims: held?.gate === 'refused-tools' ? state.streaks.refusedClaims + 1 : 0,
      confirmations: held?.gate === 'confirm' ? state.streaks.confirmations + 1 : 0,
    },
  };
}

/** Returns the error with its agent, since the same error of two agents counts as two different errors. */
function errorOf({ outcome, record: { agent } }: CountedAnswer): string {
  return `${agent === undefined ? '' : `${agent}: `}${describeOutcome(outcome)}`;
}

/** Counts the claims of completion in a row that the same finding or gate (condition for accepting it) has blocked. */
function unprovenAfter(
  { streaks: { unprovenClaims, unprovenBy }, stopRequested }: LoopState,
  held: Blocker | null,
): Pick<Streaks, 'unprovenClaims' | 'unprovenBy'> {
  // A stop may have cut off the checks behind a finding, so the finding does not count.
  if (stopRequested !== null) return { unprovenClaims };
  const names = unprovenBecauseOf(held);
  if (names.length === 0) return { unprovenClaims: 0 };
  const again = names.filter((name) => unprovenBy?.includes(name));
  return again.length > 0
    ? { unprovenClaims: unprovenClaims + 1, unprovenBy: again }
    : { unprovenClaims: 1, unprovenBy: names };
}

/** Counts the iterations in a row that were cut off because of the same warning sign. */
function cutsAfter({ cuts, cutBy }: Streaks, outcome: Outcome): Pick<Streaks, 'cuts' | 'cutBy'> {
  if (outcome.kind !== 'cut') return { cuts: 0 };
  const { sign } = outcome.by;
  return { cuts: sign === cutBy ? cuts + 1 : 1, cutBy: sign };
}

/** Returns the names of the findings (or the gate) that blocked a claim, if the agent can hardly remove them. */
function unprovenBecauseOf(held: Blocker | null): readonly string[] {
  if (held === null) return [];
  if ('findings' in held) return [...new Set(held.findings.map(({ finding }) => finding))];
  return isWithoutCheckout(held) ? [held.gate] : [];
}

/** Stores a script's progress report. More steps than before count as progress of the running iteration. */
export function withReport(state: LoopState, report: ProgressReport): LoopState {
  return {
    ...state,
    reported: state.reported === true || isFurther(state, report),
    // `updated_at` must not change: waits are measured from it.
    task: { ...state.task, progress: progressOf(report) },
  };
}

function isFurther({ task }: LoopState, { done }: ProgressReport): boolean {
  return done > (task.progress?.steps_completed ?? 0);
}

/** Returns the checks that failed before the first iteration, since every prompt names them. */
function startIn({ carry: { failedAtStart } }: LoopState): Pick<Handover, 'failedAtStart'> {
  return failedAtStart === undefined ? {} : { failedAtStart };
}

function carryFrom(
  { refusedHosts: hosts = [] }: LoopState,
  answer: CountedAnswer,
  { commands }: Sightings,
  held: Blocker | null,
  failed: readonly CheckResult[],
): Handover {
  const { facts, outcome, verdict, reply } = answer;
  const missing: Missing[] = [];
  const isHeldForTools = held?.gate === 'refused-tools';
  const refused = isHeldForTools ? held.tools : openRefusals(facts);
  if (isCounted(outcome) && outcome.kind !== 'answered') {
    missing.push({ kind: 'not-ended-well', outcome });
  }
  if (verdict.kind === 'near-miss') missing.push(verdict);
  if (verdict.kind === 'in-doubt') missing.push({ ...verdict, hasReplied: reply !== undefined });
  if (held !== null && held.gate !== 'refused-tools') missing.push({ kind: 'held', held });
  if (failed.length > 0 && held?.gate !== 'verify' && !isHeldForTools) {
    missing.push({ kind: 'checks-failed', failed });
  }
  for (const result of Object.values(commands)) {
    if (result.exitCode !== 0) missing.push({ kind: 'until', result });
  }
  if (refused.length > 0) {
    const proof = isHeldForTools ? held.failed : [];
    missing.push({ kind: 'refused', tools: refused, held: isHeldForTools, failed: proof });
  }
  if (hosts.length > 0) missing.push({ kind: 'refused-hosts', hosts });
  const servers = (facts.lostServers ?? []).map(({ server }) => server);
  if (servers.length > 0) missing.push({ kind: 'lost-servers', servers });
  if (hasMalformedRequest(facts.finalMessage ?? '')) missing.push({ kind: 'malformed-request' });
  if (outcome.kind === 'answered' && /\?\s*$/.test(reply ?? facts.finalMessage ?? '')) {
    missing.push({ kind: 'question' });
  }
  // The agent's reply comes last: what it names as missing is what the next iteration needs most.
  const output =
    reply === undefined
      ? attemptOutput(facts)
      : `${attemptOutput(facts)}\n\n[asked whether the task is complete, it answered:]\n${reply}`;
  return { output, wasCut: facts.end.kind === 'cut', missing, hints: [] };
}

/** Builds the main event of a judged iteration. */
export function iteratedEvent(
  { task }: LoopState,
  answer: Pick<CountedAnswer, 'record' | 'outcome'>,
) {
  const { number, ...fields } = task.iterations.at(-1) ?? answer.record;
  return {
    event: 'task_iterated' as const,
    iteration: number,
    ...fields,
    detail: oneLine(describeOutcome(answer.outcome), 300),
  };
}

/** Builds the other events of a judged iteration: for a near miss, for each finding, and for a blocked claim. */
export function furtherEvents(
  { record, verdict }: CountedAnswer,
  judged: ClaimVerdict,
): readonly Announcement[] {
  const iteration = record.number;
  const told: Announcement[] = [];
  const isNear = verdict.kind === 'near-miss' || verdict.kind === 'in-doubt';
  if (isNear && judged.kind !== 'passed') {
    const why = verdict.kind === 'in-doubt' ? verdict.where : verdict.why;
    const line = oneLine(verdict.line, 200);
    const said = 'said' in verdict ? { said: oneLine(verdict.said ?? '', 300) } : {};
    told.push(publish({ event: 'near_miss', iteration, line, why, ...said }));
  }
  for (const found of findingsIn(judged)) {
    told.push(publish({ event: 'finding', iteration, ...found }));
  }
  if (judged.kind === 'held') {
    const detail = oneLine(describeHeld(judged.held), 300);
    told.push(publish({ event: 'claim_held', iteration, gate: judged.held.gate, detail }));
  }
  return told;
}

function findingsIn(judged: ClaimVerdict): readonly FindingProof[] {
  if (judged.kind === 'held') return judged.findings ?? [];
  return judged.kind === 'passed' ? (judged.proof?.findings ?? []) : [];
}

import { addUsage } from '../agent/attempt.ts';
import { type CheckResult, judgeCheck, redChecks, resultOf } from '../completion/check-result.ts';
import type { JudgeAnswer, ToJudge } from '../completion/examination.ts';
import { judgedText } from '../judge/verdict.ts';
import { NOT_ASKED } from '../task/agent-standing.ts';
import { oneLine } from '../text/untrusted-text.ts';
import type { Announcement } from './action.ts';
import { type Decided, type Moment, publish, strayed } from './decision.ts';
import { judgeIteration } from './judge.ts';
import type { EventOf } from './loop-event.ts';
import type { LoopState, Step } from './loop-state.ts';

/*
 * The checks of a claim of completion run one after the other. Once they have passed, ralph examines the claim
 * further; the judge, a second agent, comes last. `judge.ts` decides what follows.
 */

/**
 * Adds the result of a check. Then runs the next check, even if this one failed, or decides what follows the last one.
 * If this process dies in between, the next run repeats all checks, since the files may have changed.
 */
export function checked(state: LoopState, event: EventOf<'verified'>, moment: Moment): Decided {
  const { step } = state;
  if (step.kind !== 'verifying' && step.kind !== 'measuring') return strayed(state);
  const { checksAtStart = null } = state;
  const result = judgeCheck(event.result, checksAtStart, moment.policy);
  const results = [...step.results, result];
  const told = [ranEvent(state, result)];
  if (results.length < moment.policy.verify.length) {
    return { state, announced: told, decision: { ...step, results } };
  }
  const next =
    step.kind === 'verifying'
      ? judgeIteration(state, { ...step, verified: results }, moment)
      : measured(state, results);
  return { ...next, announced: [...told, ...(next.announced ?? [])] };
}

/** Adds what was found out about a claim, and judges the claim again. */
export function examined(
  state: LoopState,
  { found }: EventOf<'examined'>,
  moment: Moment,
): Decided {
  const { step } = state;
  if (step.kind !== 'examining') return strayed(state);
  const { rewritten } = found.deciders ?? {};
  const seen = rewritten === undefined ? state : { ...state, rewritten };
  const { state: told, announced } = withJudge(seen, found.judge);
  const next = judgeIteration(
    told,
    { ...step, examination: { ...step.examination, ...found } },
    moment,
  );
  return { ...next, announced: [...announced, ...(next.announced ?? [])] };
}

/** Stores the results of the checks before the first iteration, and starts that iteration. */
function measured(state: LoopState, results: readonly CheckResult[]): Decided {
  // The stop may have cut off a check, so no result is stored: a resume runs all checks again.
  if (state.stopRequested !== null) return { state, decision: { kind: 'start', prompt: 'next' } };
  const failed = redChecks(results).map(({ name, command, failed: tests }) => ({
    ...{ name, command },
    failed: tests,
  }));
  const carry =
    failed.length === 0
      ? { ...state.carry, allPassedAtStart: true }
      : { ...state.carry, failedAtStart: failed };
  return {
    state: { ...state, checksAtStart: results, carry },
    decision: { kind: 'start', prompt: 'next' },
  };
}

function ranEvent(state: LoopState, result: CheckResult): Announcement {
  const { name, command, exitCode, timedOut, verdict, durationMs, tests, isReused } = result;
  return publish({
    event: 'check_ended',
    iteration: state.task.current_iteration,
    check: oneLine(name, 200),
    command: oneLine(command, 200),
    verdict,
    on_claim: state.step.kind === 'verifying' && state.step.forClaim,
    exit_code: exitCode,
    timed_out: timedOut,
    duration_ms: durationMs,
    tests,
    failed: result.failures,
    reused: isReused,
  });
}

/** Returns what the judge is told about a claim. */
export function toJudgeOf(
  { checksAtStart, judging, task }: LoopState,
  { verified, examination }: Pick<Extract<Step, { kind: 'examining' }>, 'verified' | 'examination'>,
): ToJudge {
  const { bent = [], changedTestFiles = [] } = examination.deciders ?? {};
  const deciders = bent.flatMap((each) =>
    each.kind === 'file' ? [each.path] : each.kind === 'script' ? [each.file] : [],
  );
  return {
    checks: (verified ?? []).map((now) => ({
      ...{ name: now.name, command: now.command, now },
      atStart: resultOf(now, checksAtStart ?? null) ?? null,
    })),
    changed: [...new Set([...changedTestFiles, ...deciders])],
    known: judging ?? null,
    taskDeadlineAt: task.timeout_at,
  };
}

/** Adds the judge's verdict and usage to the state. A verdict that is reused for the same tree is not announced. */
function withJudge(
  state: LoopState,
  answer: JudgeAnswer | undefined,
): { readonly state: LoopState; readonly announced: readonly Announcement[] } {
  if (answer === undefined) return { state, announced: [] };
  const { verdict, calls, usage, key } = answer;
  const { task, judging } = state;
  const before = task.judge ?? NOT_ASKED;
  const known = key === undefined ? { verdict } : { verdict, key };
  const { agent, model } = verdict;
  const judge = {
    ...{ agent, model },
    calls: before.calls + calls,
    held: before.held + (verdict.verdict === 'not-met' ? 1 : 0),
    usage: addUsage(before.usage, usage),
    says: oneLine(judgedText(verdict), 300),
  };
  return {
    state: {
      ...state,
      // Only a real verdict is reused for the same tree; without one, the judge is asked again.
      ...(verdict.verdict === 'none' ? {} : { judging: { ...known, held: judging?.held ?? 0 } }),
      task: { ...task, judge, usage: addUsage(task.usage, usage) },
    },
    announced:
      calls === 0 && answer.trouble === null
        ? []
        : [publish({ event: 'judged', iteration: task.current_iteration, ...verdict })],
  };
}

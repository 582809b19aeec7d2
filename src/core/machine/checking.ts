import { type CheckResult, failedChecks, judgeCheck } from '../completion/check-result.ts';
import { oneLine } from '../text/untrusted-text.ts';
import { type Decided, type Moment, publish, strayed } from './decision.ts';
import { judge } from './judge.ts';
import type { Announcement, EventOf, LoopState } from './loop-state.ts';

/*
 * The checks run one after another, each even if one before it has failed:
 *
 *   measuring, verifying ──verified──┬─ a check is left ─► the next one
 *                                    └─ none is left ────► the first iteration; the iteration is judged
 *
 * A driver that dies in between runs them all again: the files may have changed meanwhile.
 */

/** Adds the result of a check, and runs the next one or decides what follows all of them. */
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
      ? judge(state, { ...step, verified: results }, moment)
      : measured(state, results);
  return { ...next, announced: [...told, ...(next.announced ?? [])] };
}

/** Keeps how the checks stood, and starts the first iteration. */
function measured(state: LoopState, results: readonly CheckResult[]): Decided {
  // A check that a stop cut off says nothing: all run again when the task is resumed.
  if (state.stopRequested !== null) return { state, decision: { kind: 'start', prompt: 'next' } };
  const failed = failedChecks(results).map(({ name, command, failed: tests }) => ({
    ...{ name, command },
    failed: tests,
  }));
  const carry = failed.length === 0 ? state.carry : { ...state.carry, failedAtStart: failed };
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
    failed: result.failed?.length ?? null,
    reused: isReused,
  });
}

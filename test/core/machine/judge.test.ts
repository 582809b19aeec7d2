import { describe, expect, test } from 'vitest';
import type { AttemptFacts } from '../../../src/core/agent/attempt.ts';
import type { CommandResult } from '../../../src/core/completion/command-result.ts';
import { NOTHING_SEEN, type Sightings } from '../../../src/core/completion/sightings.ts';
import type { Policy } from '../../../src/core/task/policy.ts';
import { laterBy } from '../../../src/core/task/task-state.ts';
import {
  answered,
  attemptFacts,
  cut,
  errorReport,
  refusedTool,
  resultFacts,
  withoutReport,
} from '../../helpers/attempt-facts.ts';
import { checkResult, checks, measuredResult } from '../../helpers/checks.ts';
import {
  DONE,
  type Loop,
  nonstop,
  OVERLOADED,
  REFUSED,
  TAG,
  WORK,
} from '../../helpers/loop-events.ts';
import type { Turn } from '../../helpers/loop-in-hand.ts';
import { START } from '../../helpers/new-task.ts';

const VERIFY = { verify: checks('npm test') };

function result(exitCode: number | null, output = ''): CommandResult {
  return { command: 'npm test', exitCode, timedOut: exitCode === null, output };
}

const PASSED = result(0);
const FAILED = result(1, '1 test failed: adds up');

function seen(changes: Partial<Sightings>): Sightings {
  return { ...NOTHING_SEEN, ...changes };
}

/** The gates that have held the claim, as they are told. */
function heldBy({ told }: Turn): readonly string[] {
  return told.flatMap((body) => (body.event === 'claim_held' ? [body.gate] : []));
}

describe('the gates', () => {
  test.for<[name: string, facts: AttemptFacts]>([
    ['an answer', WORK],
    ['a near miss', answered(`I will say ${TAG} soon.`)],
    ['a failure', withoutReport(1)],
    ['a time-out', cut('iteration-timeout', { finalMessage: TAG })],
  ])('are not asked without a claim: %s', ([, facts]) => {
    const loop = nonstop({ ...VERIFY, minIterations: 3, confirm: 2, protect: ['test/**'] });
    const turn = loop.iterate(facts, seen({ protectedChanged: ['test/a'] }));
    expect(turn.actions[0]).toBe('task_iterated');
    expect(heldBy(turn)).toEqual([]);
  });

  test('verify a claim once in an iteration, whatever its evidence and whichever gate asks', () => {
    const loop = nonstop({ ...VERIFY, watchGlobs: ['out/*'], acceptRefused: ['Read'] });
    const turn = loop.iterate(REFUSED, seen({ watchMatches: ['out/a'], movedFile: 'Done/x' }));
    expect(turn.actions).toEqual(['verify npm test']);
    expect(turn.state.step.kind).toBe('verifying');
    const after = loop.verified(FAILED);
    expect(after.actions).toEqual([
      'check_ended',
      'task_iterated',
      'claim_held',
      'iteration_started',
      'start-agent 2.1',
    ]);
  });

  test('do not verify a claim that comes too early', () => {
    const turn = nonstop({ ...VERIFY, minIterations: 2 }).iterate(DONE);
    expect(turn.actions).not.toContain('verify npm test');
    expect(heldBy(turn)).toEqual(['min-iterations']);
    expect(turn.addition).toContain('at least 2 iterations are asked for');
  });

  test('that block a claim show the next iteration the output of the check', () => {
    const loop = nonstop(VERIFY);
    loop.iterate(DONE);
    const turn = loop.verified(FAILED);
    expect(turn.told[2]).toEqual({
      event: 'claim_held',
      iteration: 1,
      gate: 'verify',
      detail: 'npm test exited with 1',
    });
    expect(turn.state.task.iterations).toMatchObject([{ completed: false }]);
    expect(turn.addition).toContain('=====\n1 test failed: adds up\n=====');
    expect(turn.addition).toContain('a check failed: npm test exited with 1.');
    // The next one has passed it on, and the one after says nothing of it.
    expect(loop.iterate(WORK).addition).not.toContain('1 test failed');
  });

  test('that pass complete the task', () => {
    const loop = nonstop(VERIFY);
    loop.iterate(DONE);
    loop.verified(FAILED);
    loop.iterate(DONE);
    expect(loop.verified(PASSED).ending).toMatchObject({
      status: 'completed',
      evidence: { kind: 'promise', detail: TAG },
    });
  });

  test('block a claim if the check runs out of time', () => {
    const loop = nonstop(VERIFY);
    loop.iterate(DONE);
    const turn = loop.verified(result(null));
    expect(turn.told[2]).toMatchObject({ gate: 'verify', detail: 'npm test ran out of time' });
    expect(turn.addition).toContain('did not end in time');
  });

  test('block a claim without a check if a protected file has changed', () => {
    const loop = nonstop({ ...VERIFY, protect: ['test/**'] });
    const turn = loop.iterate(DONE, seen({ protectedChanged: ['test/a.ts'] }));
    expect(heldBy(turn)).toEqual(['protect']);
    expect(turn.addition).toContain('protected files have changed: test/a.ts. Put them back');
  });

  test('one claim that passes is enough: a file beside blocked words', () => {
    const loop = nonstop({ watchGlobs: ['out/*'] });
    expect(loop.iterate(REFUSED, seen({ watchMatches: ['out/a'] })).ending).toMatchObject({
      status: 'completed',
      evidence: { kind: 'watch-glob' },
    });
  });

  test('an answer to a check that was not asked for changes nothing', () => {
    const loop = nonstop(VERIFY);
    const before = loop.state();
    expect(loop.verified(PASSED)).toMatchObject({ actions: [], state: before });
  });
});

describe('refused tools', () => {
  test('do not block a claim if the check passes', () => {
    const loop = nonstop(VERIFY);
    expect(loop.iterate(REFUSED).actions).toEqual(['verify npm test']);
    expect(loop.verified(PASSED).ending?.status).toBe('completed');
  });

  test('block a claim if the check fails, and stall the task the second time', () => {
    const loop = nonstop(VERIFY);
    loop.iterate(REFUSED);
    expect(heldBy(loop.verified(FAILED))).toEqual(['refused-tools']);
    loop.iterate(REFUSED);
    expect(loop.verified(FAILED).ending).toMatchObject({
      status: 'stalled',
      exitReason: 'refused',
      note: 'STALLED',
    });
  });

  test('that the user forbade on purpose block nothing', () => {
    const turn = nonstop({ acceptRefused: ['Bash(npm test)'] }).iterate(REFUSED);
    expect(turn.ending?.status).toBe('completed');
  });

  test('are named only if the user did not forbid them on purpose', () => {
    const refused = [refusedTool('WebSearch'), refusedTool('Bash', 'npm test')];
    const loop = nonstop({ acceptRefused: ['WebSearch'] });
    const turn = loop.iterate(answered(TAG, { refused }));
    expect(turn.addition).toContain('because these tools were refused: Bash (npm test).');
    const { ending } = loop.iterate(answered(TAG, { refused }));
    expect(ending?.error).toMatch(/refused: Bash: npm test$/);
  });

  test('also block a signal', () => {
    const facts = { refused: [refusedTool('Bash', 'npm test')] };
    const loop = nonstop({ signals: ['NOTHING LEFT'] });
    loop.iterate(answered('NOTHING LEFT', facts));
    expect(heldBy(loop.iterate(answered('NOTHING LEFT', facts)))).toEqual(['refused-tools']);
  });
});

describe('sub-agents that the system stopped', () => {
  const STOPPED = answered(TAG, { stoppedSubAgents: 2 });

  test('block a claim, and stall the task the second time in a row', () => {
    const loop = nonstop({});
    const turn = loop.iterate(STOPPED);
    expect(heldBy(turn)).toEqual(['stopped-subagents']);
    expect(turn.addition).toContain(
      'because this was found: the system stopped 2 sub-agents before the end; a --verify command can vouch for the work.',
    );
    const { ending } = loop.iterate(answered(TAG, { stoppedSubAgents: 1 }));
    expect(ending).toMatchObject({ status: 'stalled', exitReason: 'unproven', note: 'STALLED' });
    expect(ending?.error).toMatch(
      /both times this was found: the system stopped 1 sub-agent before the end$/,
    );
  });

  test('twice, but not in a row: the loop continues', () => {
    const loop = nonstop({});
    loop.iterate(STOPPED);
    loop.iterate(answered('Not yet.'));
    expect(heldBy(loop.iterate(STOPPED))).toEqual(['stopped-subagents']);
    expect(loop.iterate(answered(TAG)).ending?.status).toBe('completed');
  });

  test('are outweighed by a check that passes, and by no other', () => {
    const loop = nonstop(VERIFY);
    loop.iterate(STOPPED);
    expect(heldBy(loop.verified(FAILED))).toEqual(['verify']);
    loop.iterate(STOPPED);
    expect(loop.verified(PASSED).ending?.status).toBe('completed');
  });

  test('block nothing without a claim', () => {
    const turn = nonstop({}).iterate(answered('Not yet.', { stoppedSubAgents: 1 }));
    expect(heldBy(turn)).toEqual([]);
    expect(turn.addition).not.toContain('sub-agent');
  });
});

describe('confirmation', () => {
  test('needs claims in so many iterations in a row; the agent is asked to check from the second on', () => {
    const loop = nonstop({ confirm: 3 });
    for (const so_far of [1, 2]) {
      const turn = loop.iterate(DONE);
      expect(turn.told[1]).toMatchObject({
        gate: 'confirm',
        detail: `confirmed ${so_far} of 3 times`,
      });
      expect(turn.addition).toContain(`(${so_far} of 3 times). Do not go on working: check`);
      expect(turn.addition).not.toContain('Please continue');
    }
    expect(loop.iterate(DONE).ending?.status).toBe('completed');
  });

  test.for<[name: string, facts: AttemptFacts]>([
    ['an iteration without a claim', WORK],
    ['a failure', withoutReport(1)],
    ['a claim that another gate holds', REFUSED],
  ])('begins anew after %s', ([, facts]) => {
    const loop = nonstop({ confirm: 2 });
    loop.iterate(DONE);
    const turn = loop.iterate(facts);
    expect(turn.addition).not.toContain('check with fresh eyes');
    expect(turn.addition).toContain('Please continue and ensure');
    expect(loop.iterate(DONE).ending).toBeNull();
    expect(loop.iterate(DONE).ending?.status).toBe('completed');
  });

  test('survives a transient error', () => {
    const loop = nonstop({ confirm: 2 });
    loop.iterate(DONE);
    loop.iterate(OVERLOADED);
    expect(loop.wait().addition).toContain('check with fresh eyes');
    expect(loop.iterate(DONE).ending?.status).toBe('completed');
  });

  test('verifies each of the claims, and a failing check starts the count again', () => {
    const loop = nonstop({ ...VERIFY, confirm: 2 });
    const gates: (readonly string[])[] = [];
    for (const verified of [PASSED, FAILED, PASSED]) {
      loop.iterate(DONE);
      gates.push(heldBy(loop.verified(verified)));
    }
    expect(gates).toEqual([['confirm'], ['verify'], ['confirm']]);
    loop.iterate(DONE);
    expect(loop.verified(PASSED).ending?.status).toBe('completed');
  });
});

describe('the conditions', () => {
  const until = (exitCode: number | null) =>
    seen({
      commands: {
        until: measuredResult({ command: 'test -f ok', exitCode, timedOut: false, output: '' }),
      },
    });
  const plan = (done: number, open: number) => seen({ plan: { done, open } });
  const ALL = {
    watchGlobs: ['out/*'],
    watchFile: 'x.md',
    until: 'test -f ok',
    planFile: 'PLAN.md',
    signals: ['NOTHING LEFT'],
  };

  test.for<[name: string, facts: AttemptFacts, sightings: Sightings, evidence: object | null]>([
    ['nothing', WORK, NOTHING_SEEN, null],
    ['the promise', DONE, NOTHING_SEEN, { kind: 'promise', detail: TAG }],
    ['a file', WORK, seen({ watchMatches: ['out/a'] }), { kind: 'watch-glob', detail: 'out/a' }],
    ['a moved file', WORK, seen({ movedFile: 'Done/x' }), { kind: 'file-moved', detail: 'Done/x' }],
    ['the command', WORK, until(0), { kind: 'until', detail: 'test -f ok exited with 0' }],
    ['the failing command', WORK, until(1), null],
    ['the cut command', WORK, until(null), null],
    ['the plan', WORK, plan(3, 0), { kind: 'plan-file', detail: 'PLAN.md: 3 of 3 ticked' }],
    ['an open plan', WORK, plan(3, 1), null],
    ['an empty plan', WORK, plan(0, 0), null],
    ['a signal, once', answered('NOTHING LEFT'), NOTHING_SEEN, null],
    // A file is the harder evidence.
    ['the promise and the plan', DONE, plan(1, 0), { kind: 'plan-file' }],
    ['the command, after a failure', withoutReport(1), until(0), { kind: 'until' }],
    ['the plan, after a time-out', cut('iteration-timeout'), plan(2, 0), { kind: 'plan-file' }],
  ])('several together: %s', ([, facts, sightings, evidence]) => {
    const { ending, state } = nonstop(ALL).iterate(facts, sightings);
    if (evidence === null) return expect(ending).toBeNull();
    expect(ending).toMatchObject({ status: 'completed', evidence });
    expect(state.task.evidence).toEqual(ending?.evidence);
  });

  test('a signal stated in two iterations in a row, and the evidence names it', () => {
    const loop = nonstop({ signals: ['NOTHING LEFT'] });
    expect(loop.iterate(answered('NOTHING LEFT')).ending).toBeNull();
    expect(loop.iterate(answered('Checked.\n\nNOTHING LEFT.')).ending).toMatchObject({
      status: 'completed',
      evidence: { kind: 'signal', detail: "'NOTHING LEFT' stated in 2 iterations in a row" },
    });
  });

  test.for<[name: string, facts: AttemptFacts]>([
    ['an answer without it', WORK],
    ['words about it', answered('When NOTHING LEFT to do is true I will say so, not before')],
    ['a time-out that says it', cut('iteration-timeout', { finalMessage: 'NOTHING LEFT' })],
    [
      'a turn limit that says it',
      attemptFacts({
        result: resultFacts({ subtype: 'error_max_turns', isError: true, text: null }),
        finalMessage: 'NOTHING LEFT',
      }),
    ],
  ])('a signal’s row is broken by %s', ([, facts]) => {
    const loop = nonstop({ signals: ['NOTHING LEFT'] });
    loop.iterate(answered('NOTHING LEFT'));
    expect(loop.iterate(facts).ending).toBeNull();
    expect(loop.iterate(answered('NOTHING LEFT')).ending).toBeNull();
    expect(loop.iterate(answered('NOTHING LEFT')).ending?.status).toBe('completed');
  });

  test('a signal that a check has blocked still counts in a row', () => {
    const loop = nonstop({ signals: ['NOTHING LEFT'], ...VERIFY });
    loop.iterate(answered('NOTHING LEFT'));
    loop.iterate(answered('NOTHING LEFT'));
    loop.verified(FAILED);
    expect(loop.iterate(answered('NOTHING LEFT')).actions).toEqual(['verify npm test']);
    expect(loop.verified(PASSED).ending?.evidence?.detail).toContain('in 3 iterations in a row');
  });

  test('an echo of the reminder is not a signal', () => {
    const loop = nonstop({ promise: null, signals: ['NOTHING LEFT'], until: 'false' });
    const second = loop.iterate(WORK).addition ?? '';
    expect(second).toContain("'NOTHING LEFT'");
    loop.iterate(answered(second));
    expect(loop.iterate(answered(second)).ending).toBeNull();
  });
});

describe('the abort promise', () => {
  const ABORT = { abortPromise: 'CANNOT BE DONE' };

  test('ends the task as failed, and comes before completion', () => {
    const loop = nonstop({ ...ABORT, ...VERIFY, until: 'true' });
    const sightings = seen({
      commands: {
        until: measuredResult({ command: 'true', exitCode: 0, timedOut: false, output: '' }),
      },
    });
    const turn = loop.iterate(answered('CANNOT BE DONE'), sightings);
    expect(turn.actions).toEqual(['task_iterated', 'near_miss', 'stop:failed']);
    expect(turn.ending).toMatchObject({
      exitReason: 'failed:aborted',
      event: 'task_failed',
      note: 'FAILED',
      evidence: null,
      error: 'the agent stated that the task cannot be done: CANNOT BE DONE',
    });
    expect(turn.state.task.iterations).toMatchObject([{ completed: false }]);
  });

  test.for<[name: string, facts: AttemptFacts]>([
    ['words about it', answered('It CANNOT BE DONE today, so I go on tomorrow with the rest')],
    ['an iteration that was cut', cut('iteration-timeout', { finalMessage: 'CANNOT BE DONE' })],
    ['an iteration that failed', withoutReport(1, '', { finalMessage: 'CANNOT BE DONE' })],
  ])('is not stated by %s', ([, facts]) => {
    expect(nonstop(ABORT).iterate(facts).ending).toBeNull();
  });

  test('exists only if the user set it', () => {
    expect(nonstop().iterate(answered('CANNOT BE DONE')).ending).toBeNull();
  });
});

describe('what comes first', () => {
  /** Every limit is met at once by this iteration, which is the last. */
  const LIMITS = {
    abortPromise: 'IMPOSSIBLE',
    maxCostUsd: 0.01,
    maxUsagePercent: 80,
    noProgressLimit: 1,
    maxIterations: 1,
  };
  const spent: Partial<AttemptFacts> = {
    durationMs: 20_000,
    rateLimit: {
      status: 'allowed_warning',
      resetsAt: laterBy(START, 3_600_000),
      type: 'five_hour',
      utilization: 0.9,
    },
  };
  const idle = seen({ progress: { git: { commits: 0, filesChanged: 0 }, watched: null } });

  test.for<[status: string, reason: string, message: string, changes: Partial<Policy>]>([
    ['failed', 'failed:aborted', 'I tried. IMPOSSIBLE', {}],
    ['completed', 'completed', TAG, {}],
    ['budget_spent', 'budget', 'Not yet.', {}],
    ['usage_limited', 'max_usage', 'Not yet.', { maxCostUsd: null }],
    ['stalled', 'no-progress', 'Not yet.', { maxCostUsd: null, maxUsagePercent: null }],
    [
      'timeout',
      'timeout',
      'Not yet.',
      { maxCostUsd: null, maxUsagePercent: null, noProgressLimit: 0 },
    ],
  ])('%s (%s)', ([status, exitReason, message, changes]) => {
    const loop = nonstop({ ...LIMITS, ...changes }, 10_000);
    const turn = loop.iterate(answered(message, spent), idle);
    expect(turn.ending).toMatchObject({ status, exitReason });
    // The iteration is told of before the end.
    expect(turn.actions).toEqual(['task_iterated', `stop:${status}`]);
  });

  test('time before iterations', () => {
    const late = answered('Not yet.', { durationMs: 20_000 });
    expect(nonstop({ maxIterations: 1 }, 10_000).iterate(late).ending?.status).toBe('timeout');
    expect(nonstop({ maxIterations: 1 }).iterate(late).ending?.status).toBe(
      'max_iterations_reached',
    );
  });

  test('a blocked claim does not complete the task: the budget ends it', () => {
    const loop = nonstop({ ...VERIFY, maxCostUsd: 0.01 });
    loop.iterate(DONE);
    expect(loop.verified(FAILED).ending?.status).toBe('budget_spent');
  });
});

describe('the last iteration', () => {
  test('with the promise and a passing check is completion', () => {
    const loop = nonstop({ ...VERIFY, maxIterations: 1 });
    expect(loop.iterate(DONE).actions).toEqual(['verify npm test']);
    expect(loop.verified(PASSED).ending?.status).toBe('completed');
  });

  test('with the promise and a failing check is exhausted, and the state says what was missing', () => {
    const loop = nonstop({ ...VERIFY, maxIterations: 1 });
    loop.iterate(DONE);
    const turn = loop.verified(FAILED);
    expect(turn.actions).toEqual([
      ...['check_ended', 'task_iterated', 'claim_held'],
      'stop:max_iterations_reached',
    ]);
    expect(turn.ending).toMatchObject({ note: 'EXHAUSTED' });
    expect(turn.state.carry.missing).toEqual([
      { kind: 'held', held: { gate: 'verify', failed: [checkResult(FAILED)] } },
    ]);
  });
});

describe('the circuit breaker', () => {
  const git = (commits: number, filesChanged: number, watched: boolean | null = null) =>
    seen({ progress: { git: { commits, filesChanged }, watched } });
  const IDLE = git(0, 0);
  const LIMITS = { noProgressLimit: 3, sameErrorLimit: 2, maxIterations: 20 };
  const failed = (message: string) => withoutReport(1, message);

  /** How many iterations of this kind it takes; null where ten are not enough. */
  function opensAfter(loop: Loop, facts: AttemptFacts, sightings: Sightings): number | null {
    for (let iteration = 1; iteration <= 10; iteration += 1) {
      const { ending } = loop.iterate(facts, sightings);
      if (ending !== null) return iteration;
    }
    return null;
  }

  test('opens after so many iterations without progress, and names the flag', () => {
    const loop = nonstop(LIMITS);
    loop.iterate(WORK, IDLE);
    loop.iterate(WORK, IDLE);
    const turn = loop.iterate(WORK, IDLE);
    expect(turn.ending).toMatchObject({
      status: 'stalled',
      exitReason: 'no-progress',
      event: 'task_stalled',
      note: 'STALLED',
    });
    expect(turn.ending?.error).toMatch(
      /^no progress in 3 iterations: .* \(--no-progress-limit 0 turns this off\)$/,
    );
    expect(turn.state.task.breaker.no_progress).toBe(3);
  });

  test('opens after so many iterations with the same error, and names it and the flag', () => {
    const loop = nonstop(LIMITS);
    loop.iterate(failed('boom at line 12 of /tmp/a/b.js'), IDLE);
    const { ending } = loop.iterate(failed('boom at line 7 of /tmp/c/b.js'), IDLE);
    expect(ending).toMatchObject({ status: 'stalled', exitReason: 'same-error' });
    expect(ending?.error).toMatch(/^the same error in 2 iterations: .*boom at line 7/);
    expect(ending?.error).toContain('(--same-error-limit 0 turns this off)');
  });

  test('stays closed if the errors differ', () => {
    const loop = nonstop({ ...LIMITS, noProgressLimit: 0 });
    loop.iterate(failed('boom'));
    expect(loop.iterate(failed('bang')).ending).toBeNull();
  });

  test.for<[name: string, facts: AttemptFacts, sightings: Sightings]>([
    ['a commit', WORK, git(1, 0)],
    ['a changed file', WORK, git(0, 1)],
    ['a watched file', WORK, git(0, 0, true)],
    ['a watched file, outside of git', WORK, seen({ progress: { git: null, watched: true } })],
    ['a progress report', answered('<progress done="1" total="5">a</progress>'), IDLE],
  ])('is closed again by %s', ([, facts, sightings]) => {
    const loop = nonstop({ ...LIMITS, sameErrorLimit: 3 });
    loop.iterate(failed('boom'), IDLE);
    loop.iterate(failed('boom'), IDLE);
    const { breaker } = loop.iterate(facts, sightings).state.task;
    expect(breaker).toEqual({ no_progress: 0, same_error: 0, last_error: null });
    expect(opensAfter(loop, WORK, IDLE)).toBe(3);
  });

  test('is closed by a failed iteration with progress, too', () => {
    expect(opensAfter(nonstop(LIMITS), failed('boom'), git(0, 2))).toBeNull();
  });

  test('is not closed by a report of no further progress', () => {
    const report = answered('<progress done="2" total="5">half</progress>');
    const loop = nonstop(LIMITS);
    loop.iterate(report, NOTHING_SEEN);
    expect(opensAfter(loop, report, NOTHING_SEEN)).toBe(3);
  });

  test('stays closed if no sign of progress can be observed', () => {
    expect(opensAfter(nonstop(LIMITS), WORK, NOTHING_SEEN)).toBeNull();
  });

  test.for<[name: string, changes: Partial<Policy>, facts: AttemptFacts]>([
    ['no-progress', { ...LIMITS, noProgressLimit: 0 }, WORK],
    ['same-error', { ...LIMITS, noProgressLimit: 0, sameErrorLimit: 0 }, failed('boom')],
  ])('0 turns a limit off: %s', ([, changes, facts]) => {
    expect(opensAfter(nonstop(changes), facts, IDLE)).toBeNull();
  });

  test('does not count the agent’s own limit as an error', () => {
    const bounded = attemptFacts({
      result: resultFacts({ subtype: 'error_max_turns', isError: true, text: null }),
    });
    expect(opensAfter(nonstop({ sameErrorLimit: 1 }), bounded, NOTHING_SEEN)).toBe(5);
    expect(opensAfter(nonstop({ ...LIMITS, sameErrorLimit: 1 }), bounded, git(1, 0))).toBeNull();
  });

  test('does not count a transient error', () => {
    const loop = nonstop({ ...LIMITS, sameErrorLimit: 1 });
    for (let fault = 0; fault < 4; fault += 1) {
      expect(loop.iterate(OVERLOADED).ending).toBeNull();
      loop.wait();
    }
    expect(loop.state().task.breaker.same_error).toBe(0);
  });

  test('records what changed and the progress that the agent reports', () => {
    const report = answered('Going on.\n<progress done="2" total="3">the  docs</progress>');
    const { task } = nonstop(LIMITS).iterate(report, git(1, 4)).state;
    expect(task.progress).toEqual({
      steps_total: 3,
      steps_completed: 2,
      current_step: 'the docs',
      percentage: 66.7,
    });
    expect(task.iterations).toMatchObject([{ files_changed: 4 }]);
  });

  test('keeps the last report if an iteration gives none', () => {
    const loop = nonstop(LIMITS);
    loop.iterate(answered('<progress done="2" total="4">a</progress>'), IDLE);
    expect(loop.iterate(WORK, IDLE).state.task.progress?.steps_completed).toBe(2);
  });
});

describe('the command after an iteration', () => {
  const AFTER = { after: './sync' };

  test('runs once, after the iteration is announced, before the next one', () => {
    const loop = nonstop(AFTER);
    expect(loop.iterate(WORK).actions).toEqual(['task_iterated', 'run-after ./sync']);
    expect(loop.followed().actions).toEqual(['iteration_started', 'start-agent 2.1']);
    expect(loop.iterate(DONE).actions).toEqual(['task_iterated', 'run-after ./sync']);
    expect(loop.followed().actions).toEqual(['stop:completed']);
  });

  test('runs after all events of the iteration are announced', () => {
    expect(nonstop(AFTER).iterate(answered(`I will say ${TAG} soon.`)).actions).toEqual([
      'task_iterated',
      'near_miss',
      'run-after ./sync',
    ]);
    expect(nonstop(AFTER).iterate(REFUSED).actions).toEqual([
      'task_iterated',
      'claim_held',
      'run-after ./sync',
    ]);
  });

  test('is a step of its own: the iteration is counted before it, the next step decided after it', () => {
    const { state } = nonstop(AFTER).iterate(DONE);
    expect(state.step).toMatchObject({
      kind: 'following',
      judged: { kind: 'passed' },
      isAborted: false,
    });
    expect(state.task).toMatchObject({
      status: 'running',
      evidence: null,
      iterations: [{ number: 1, completed: true }],
    });
  });

  test('receives the event that is announced', () => {
    const { told, followedBy } = nonstop(AFTER).iterate(WORK);
    expect(followedBy).toEqual(told.find(({ event }) => event === 'task_iterated'));
    expect(followedBy).toMatchObject({ event: 'task_iterated', iteration: 1 });
  });

  test.for<[name: string, facts: AttemptFacts, changes: Partial<Policy>, last: string]>([
    ['the last iteration', WORK, { maxIterations: 1 }, 'stop:max_iterations_reached'],
    ['a failed one', withoutReport(1), {}, 'start-agent 2.1'],
    ['one that was cut', cut('task-timeout'), {}, 'stop:timeout'],
    ['one that is followed by a delay', WORK, { delayMs: 2_000 }, 'wait'],
    ['one that spent the money', WORK, { maxCostUsd: 0.01 }, 'stop:budget_spent'],
    [
      'one that used up what the account may be used',
      answered('Part of it.', {
        rateLimit: { status: 'allowed', resetsAt: null, type: null, utilization: 0.9 },
      }),
      { maxUsagePercent: 80 },
      'stop:usage_limited',
    ],
    ['one that stalled', withoutReport(1, 'boom'), { sameErrorLimit: 1 }, 'stop:stalled'],
    ['one that was aborted', answered('CANNOT'), { abortPromise: 'CANNOT' }, 'stop:failed'],
  ])('comes also after %s', ([, facts, changes, last]) => {
    const loop = nonstop({ ...AFTER, ...changes });
    expect(loop.iterate(facts).actions).toEqual(['task_iterated', 'run-after ./sync']);
    expect(loop.followed().actions.at(-1)).toBe(last);
  });

  test('waits for the check', () => {
    const loop = nonstop({ ...AFTER, ...VERIFY });
    expect(loop.iterate(DONE).actions).toEqual(['verify npm test']);
    expect(loop.verified(PASSED).actions).toEqual([
      ...['check_ended', 'task_iterated', 'run-after ./sync'],
    ]);
    expect(loop.followed().actions).toEqual(['stop:completed']);
  });

  test('uses up time of the task, and the delay begins after it', () => {
    const loop = nonstop({ ...AFTER, delayMs: 2_000 }, 60_000);
    loop.iterate(WORK);
    expect(loop.followed(10_000).waitMs).toBe(2_000);
    const late = nonstop(AFTER, 60_000);
    late.iterate(WORK);
    expect(late.followed(60_000).actions).toEqual(['stop:timeout']);
    const complete = nonstop(AFTER, 60_000);
    complete.iterate(DONE);
    expect(complete.followed(60_000).actions).toEqual(['stop:completed']);
  });

  test('runs before the end that a second claim blocked for refused tools causes', () => {
    const loop = nonstop(AFTER);
    loop.iterate(REFUSED);
    loop.followed();
    loop.iterate(REFUSED);
    expect(loop.followed().ending).toMatchObject({ status: 'stalled', exitReason: 'refused' });
  });

  test.for<[name: string, facts: AttemptFacts, changes: Partial<Policy>, expected: string]>([
    ['an iteration', WORK, {}, 'stopped:SIGINT'],
    ['the last iteration', WORK, { maxIterations: 1 }, 'stopped:SIGINT'],
    ['an iteration that completed', DONE, {}, 'completed'],
    ['one that was aborted', answered('CANNOT'), { abortPromise: 'CANNOT' }, 'failed:aborted'],
  ])('can be met by a request to stop: after %s', ([, facts, changes, expected]) => {
    const loop = nonstop({ ...AFTER, ...changes });
    loop.iterate(facts);
    loop.stop('SIGINT');
    const { ending, actions } = loop.followed();
    expect(ending?.exitReason).toBe(expected);
    expect(actions).toHaveLength(1);
  });

  test('that ends when none is running changes nothing', () => {
    const loop = nonstop(AFTER);
    const before = loop.state();
    const turn = loop.followed();
    expect(turn.actions).toEqual([]);
    expect(turn.state).toEqual(before);
  });

  test.for<[name: string, facts: AttemptFacts]>([
    ['a passing fault', OVERLOADED],
    ['a request to stop', cut('stop-requested')],
    ['a fatal cause', errorReport('Not logged in · Please run /login')],
  ])('does not come after %s, which is no iteration', ([, facts]) => {
    expect(nonstop(AFTER).iterate(facts).actions).not.toContain('run-after ./sync');
  });
});

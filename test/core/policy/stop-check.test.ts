import { describe, expect, test } from 'vitest';
import { NOTHING_SEEN } from '../../../src/core/completion/sightings.ts';
import { storedPolicy } from '../../../src/core/policy/policy-of.ts';
import {
  checkStop,
  releasedBy,
  type StopView,
  stopHandover,
} from '../../../src/core/policy/stop-check.ts';
import { buildAddition } from '../../../src/core/prompt/prompt.ts';
import { laterBy, type TaskState } from '../../../src/core/task/task-state.ts';
import { checkResult, checks } from '../../helpers/checks.ts';
import { newTask, START } from '../../helpers/new-task.ts';
import { stored } from '../../helpers/stored.ts';

const task = (changes: Partial<TaskState> = {}): TaskState => ({
  ...newTask(),
  status: 'running',
  completion_promise: 'ALL DONE',
  ...changes,
});

describe('which tasks hold an agent back', () => {
  const library = { kept_by: 'library' } as const;
  test.for([
    ['a running one of the library', task(library), 'running', null],
    ['a pending one', task({ ...library, status: 'pending' }), 'pending', null],
    ['one with a live driver', task(), 'live', null],
    [
      'one in its last iteration, which its driver ends',
      task({ max_iterations: 2, metrics: { ...newTask().metrics, iterations: 2 } }),
      'live',
      null,
    ],
    ['one whose driver died', task(), 'interrupted', null],
    ['a completed one', task({ status: 'completed' }), 'completed', 'it is completed'],
    ['a failed one', task({ status: 'failed' }), 'failed', 'it is failed'],
    ['a paused one', task({ status: 'paused' }), 'paused', 'it is paused'],
    ['a stopped one', task({ status: 'stopped' }), 'stopped', 'it is stopped'],
    [
      'one that waits for an approval',
      task({ ...library, status: 'paused_awaiting_approval' }),
      'paused_awaiting_approval',
      'it waits for an approval',
    ],
    [
      'one whose last context stated the promise',
      task({ ...library, evidence: { kind: 'promise', detail: 'ALL DONE' } }),
      'running',
      'it is complete',
    ],
    [
      'one without iterations left',
      task({ ...library, max_iterations: 2, metrics: { ...newTask().metrics, iterations: 2 } }),
      'running',
      'its 2 iterations are used up',
    ],
    [
      'one of the library without time left',
      task({ ...library, timeout_at: START }),
      'running',
      'its time is over',
    ],
    [
      'an interrupted one, whose time stands still',
      task({ timeout_at: START }),
      'interrupted',
      null,
    ],
  ] as const)('%s', ([, state, standing, why]) => {
    expect(releasedBy(state, standing, laterBy(START, 1_000))).toBe(why);
  });
});

const view = (
  changes: Partial<StopView> = {},
  settings: Record<string, unknown> = {},
): StopView => ({
  task: task(),
  policy: storedPolicy(task(), stored(settings)),
  message: null,
  sightings: NOTHING_SEEN,
  verified: null,
  ...changes,
});

describe('an agent that wants to stop', () => {
  test.for([
    ['has said nothing that is known', null, 'holds'],
    ['has stated the promise', 'It works.\n\n<promise>ALL DONE</promise>', 'lets-go'],
    ['has said it bare', 'It works.\nALL DONE', 'lets-go'],
    ['talks about the promise', 'I am not ready to say ALL DONE yet.', 'holds'],
    ['asks a person', 'May I?\n<approval id="push">push it</approval>', 'lets-go'],
  ] as const)('%s', ([, message, kind]) => {
    expect(checkStop(view({ message })).kind).toBe(kind);
  });

  test('may stop if it gives the task up', () => {
    const message = 'It cannot be done.\nIMPOSSIBLE';
    const answer = checkStop(view({ message }, { abort_promise: 'IMPOSSIBLE' }));
    expect(answer).toEqual({ kind: 'lets-go', why: 'its agent has given it up' });
  });

  test('does not complete the task by repeating what ralph told it', () => {
    const { policy } = view();
    const message = buildAddition(policy, stopHandover(null, []), 2);
    expect(checkStop(view({ message })).kind).toBe('holds');
  });

  test.for([
    ['watch-glob', { watchMatches: ['out.md'] }, { watch_glob: ['out*.md'] }],
    ['file-moved', { movedFile: '/vault/Done/x.md' }, { watch_file: 'x.md' }],
    ['plan-file', { plan: { open: 0, done: 3 } }, {}],
  ] as const)('may stop because of %s', ([, seen, changes]) => {
    const state = task(changes);
    const policy = storedPolicy(state, stored({ plan_file: 'PLAN.md' }));
    const sightings = { ...NOTHING_SEEN, ...seen };
    expect(checkStop(view({ task: state, policy, sightings })).kind).toBe('lets-go');
  });

  test('has its claim verified, and the reminder shows the output', () => {
    const settings = { verify: checks('npm test') };
    const message = 'ALL DONE';
    expect(checkStop(view({ message }, settings))).toEqual({ kind: 'ask-verify' });
    const red = { command: 'npm test', exitCode: 1, timedOut: false, output: '3 failed' };
    const result = checkResult(red);
    const answer = checkStop(view({ message, verified: [result] }, settings));
    expect(answer).toEqual({
      kind: 'holds',
      missing: [{ kind: 'held', held: { gate: 'verify', failed: [result] } }],
    });
    const passed = checkResult({ ...red, exitCode: 0 });
    expect(checkStop(view({ message, verified: [passed] }, settings)).kind).toBe('lets-go');
  });

  test('must continue if its promise is in doubt, and the reminder says where it belongs', () => {
    const message = '<promise>ALL DONE</promise>\nSummary: two files changed.';
    const answer = checkStop(view({ message }));
    expect(answer).toMatchObject({ missing: [{ kind: 'in-doubt', where: 'earlier-line' }] });
    const carry = stopHandover(null, 'missing' in answer ? answer.missing : []);
    expect(buildAddition(view().policy, carry, 2)).toContain('state it as the last line');
  });

  test('must continue because of changed protected files and --min-iterations', () => {
    const sightings = { ...NOTHING_SEEN, protectedChanged: ['test/a.test.ts'] };
    expect(checkStop(view({ message: 'ALL DONE', sightings }))).toMatchObject({
      missing: [{ held: { gate: 'protect' } }],
    });
    expect(checkStop(view({ message: 'ALL DONE' }, { min_iterations: 3 }))).toMatchObject({
      missing: [{ held: { gate: 'min-iterations', from: 3 } }],
    });
  });
});

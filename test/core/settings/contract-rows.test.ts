import { describe, expect, test } from 'vitest';
import { readConfig } from '../../../src/cli/settings/config-file.ts';
import { NOTHING_SEEN, type Sightings } from '../../../src/core/completion/sightings.ts';
import { settingsFromEnvironment } from '../../../src/core/settings/environment.ts';
import { resolveSettings } from '../../../src/core/settings/resolve-settings.ts';
import { SETTINGS } from '../../../src/core/settings/settings.ts';
import { isPayment, TASK_TYPES } from '../../../src/core/settings/task-type.ts';
import {
  answered,
  cut,
  errorReport,
  notFound,
  withoutReport,
} from '../../helpers/attempt-facts.ts';
import { OVERLOADED, running } from '../../helpers/loop-events.ts';
import { loopInHand } from '../../helpers/loop-in-hand.ts';

// The rows of the five documents that the loop itself answers, each test named after its row. The
// service's rows are in test/service; docs/contracts.md tells where each is.

/** An iteration after which the world is looked at. */
function seeing(loop: ReturnType<typeof running>, seen: Partial<Sightings>, message = 'On it.') {
  loop.attempt(answered(message));
  return loop.look({ ...NOTHING_SEEN, ...seen });
}

/** The value that a configuration gives a setting, as it is written. */
function configured(text: string) {
  const { layer, problems } = readConfig({ file: '/ralph.yaml', text, wasFound: false });
  expect(problems).toEqual([]);
  return layer;
}

describe('the error handling of the documents', () => {
  test('claude not found: failed at once, with a note for a human', () => {
    expect(running().iterate(notFound()).ending).toMatchObject({
      status: 'failed',
      exitReason: 'failed:agent-not-found',
      note: 'FAILED',
    });
  });

  test('claude times out (180 s): one failed iteration, and the loop goes on', () => {
    const loop = running();
    expect(SETTINGS.iterationTimeout.default).toBe('180s');
    const { state, ending } = loop.iterate(cut('iteration-timeout', { durationMs: 180_000 }));
    expect(ending).toBeNull();
    expect(state.task).toMatchObject({
      metrics: { iterations: 1 },
      iterations: [{ outcome: 'timed-out' }],
    });
    expect(loop.wait().agent).toMatchObject({ iteration: 2 });
  });

  test('max iterations reached: an exhausted note, the last output kept', () => {
    const loop = running({ maxIterations: 1 });
    const { ending, state } = loop.iterate(answered('Nearly there.'));
    expect(ending).toMatchObject({ status: 'max_iterations_reached', note: 'EXHAUSTED' });
    expect(state.carry.output).toBe('Nearly there.');
  });

  test('transient errors: tried again after a growing pause, listed in errors, gone on with', () => {
    const loop = running();
    const first = loop.iterate(OVERLOADED).waitMs ?? 0;
    loop.wait();
    const { waitMs, state } = loop.iterate(OVERLOADED);
    expect(waitMs ?? 0).toBeGreaterThan(first);
    expect(state.task.errors).toHaveLength(2);
    expect(state.task.metrics.iterations).toBe(0);
    expect(loop.wait().agent).toMatchObject({ iteration: 1, attempt: 3 });
  });

  test('fatal errors: stopped at once, a note for a human, the error told', () => {
    const { ending, state } = running().iterate(
      errorReport('Credit balance is too low', 400, { durationMs: 5 }),
    );
    expect(ending).toMatchObject({ status: 'failed', note: 'FAILED' });
    expect(ending?.error).toContain('Credit balance');
    expect(state.task.errors.at(-1)?.message).toContain('Credit balance');
  });
});

describe('the statuses of the documents', () => {
  test('pending: created and not started', () => {
    expect(loopInHand().state().task.status).toBe('pending');
  });

  test('running: at work', () => {
    expect(loopInHand().start().state.task.status).toBe('running');
  });

  test('stopped: by hand', () => {
    const loop = running();
    loop.stop('SIGINT');
    expect(loop.iterate(cut('stop-requested')).state.task.status).toBe('stopped');
  });
});

describe('the completion of the documents', () => {
  test('completion_promise: the agent says so', () => {
    const { ending } = running({ promise: 'moved to Done' }).iterate(
      answered('<promise>moved to Done</promise>'),
    );
    expect(ending).toMatchObject({ status: 'completed', evidence: { kind: 'promise' } });
  });

  test('watch_glob: a file appears; promise or file, whichever comes first', () => {
    const loop = running({ watchGlobs: ['Done/*.md'] });
    const { ending } = seeing(loop, { watchMatches: ['/vault/Done/a.md'] });
    expect(ending).toMatchObject({ status: 'completed', evidence: { kind: 'watch-glob' } });
    const other = running({ watchGlobs: ['Done/*.md'] });
    expect(seeing(other, {}, 'DONE').ending?.evidence?.kind).toBe('promise');
  });

  test('watch_file: the file has come to the done folder', () => {
    const loop = running({ watchFile: 'Needs_Action/a.md' });
    expect(seeing(loop, {}).ending).toBeNull();
    loop.wait();
    expect(seeing(loop, { movedFile: '/vault/Done/a.md' }).ending?.evidence?.kind).toBe(
      'file-moved',
    );
  });

  test('the reminder: not complete yet, with the previous output', () => {
    const loop = running();
    loop.iterate(answered('Half of it.'));
    const addition = loop.wait().addition ?? '';
    expect(addition).toContain('Half of it.');
    expect(addition).toContain(
      "The task is NOT yet complete. Please continue and ensure '<promise>DONE</promise>' is satisfied.",
    );
  });

  test('two consecutive done signals: complete at the second', () => {
    const loop = running({ signals: ['Ready for review'], promise: null });
    expect(loop.iterate(answered('Ready for review')).ending).toBeNull();
    loop.wait();
    expect(loop.iterate(answered('Ready for review')).ending?.evidence?.kind).toBe('signal');
  });

  test('fix_plan: complete when every box is ticked', () => {
    const loop = running({ planFile: 'fix_plan.md', promise: null });
    expect(seeing(loop, { plan: { done: 2, open: 1 } }).ending).toBeNull();
    loop.wait();
    expect(seeing(loop, { plan: { done: 3, open: 0 } }).ending?.evidence?.kind).toBe('plan-file');
  });
});

describe('the circuit breaker of the documents', () => {
  test('no_progress_limit: opens after that many iterations without progress', () => {
    const loop = running({ noProgressLimit: 3 });
    const still = { progress: { git: { commits: 0, filesChanged: 0 }, watched: null } };
    for (let n = 1; n < 3; n += 1) {
      expect(seeing(loop, still).ending).toBeNull();
      loop.wait();
    }
    expect(seeing(loop, still).ending).toMatchObject({ status: 'stalled', note: 'STALLED' });
  });

  test('same_error_limit: opens after that many iterations with the same error', () => {
    const loop = running({ sameErrorLimit: 5, maxIterations: 10 });
    const fail = () => {
      loop.attempt(withoutReport(3, 'cannot find module'));
      return loop.look(NOTHING_SEEN).ending;
    };
    for (let n = 1; n < 5; n += 1) {
      expect(fail()).toBeNull();
      loop.wait();
    }
    expect(fail()).toMatchObject({ status: 'stalled' });
  });

  test('the five-hour limit: waited for, not counted', () => {
    const loop = running();
    const resetsAt = '2026-01-05T12:00:00.000Z';
    const rateLimit = { status: 'rejected', resetsAt, type: 'five_hour', utilization: 1 };
    const { state, waitMs } = loop.iterate(
      errorReport("You've hit your limit", 429, { rateLimit }),
    );
    expect(waitMs ?? 0).toBeGreaterThanOrEqual(2 * 3_600_000 - 1_000);
    expect(state.task.metrics.iterations).toBe(0);
  });
});

describe('the task types of the documents', () => {
  test.for([
    ['email_processing', '5'],
    ['invoice_generation', '3'],
    ['social_media_posting', '3'],
    ['weekly_audit', '10'],
    ['default', '5'],
  ] as const)('%s: %s iterations', ([type, maxIterations]) => {
    expect(TASK_TYPES[type]?.maxIterations).toBe(maxIterations);
  });

  test('payment actions: never looped', () => {
    expect(['payment', 'vendor_payments', 'Payment run'].map(isPayment)).toEqual([
      true,
      true,
      true,
    ]);
    expect(isPayment('repayment_letter')).toBe(false);
  });
});

describe('the configuration of the documents', () => {
  test('ralph.enabled, max_iterations and completion_signals', () => {
    const text = `ralph:
  enabled: true
  max_iterations: 10
  completion_signals:
    - "TASK_COMPLETE"
    - "All tests passing"
    - "Ready for review"
  circuit_breaker:
    no_progress_limit: 3
    same_error_limit: 5
`;
    expect(configured(text)).toMatchObject({
      maxIterations: { value: 10 },
      signal: { value: ['TASK_COMPLETE', 'All tests passing', 'Ready for review'] },
      noProgressLimit: { value: 3 },
      sameErrorLimit: { value: 5 },
    });
  });

  test('timeout_minutes, check_interval_seconds, state_dir and done_folder', () => {
    const text = 'timeout_minutes: 30\ncheck_interval_seconds: 5\nstate_dir: S\ndone_folder: D\n';
    expect(configured(text)).toMatchObject({
      timeout: { value: '30m' },
      delay: { value: '5s' },
      stateDir: { value: 'S' },
      doneFolder: { value: 'D' },
    });
  });

  test('dangerously_skip_permissions: never unless it is asked for', () => {
    expect(resolveSettings([]).settings.dangerouslySkipPermissions).toBe(false);
  });

  test('pause between iterations: 2 s unless told otherwise, never after the last', () => {
    expect(SETTINGS.delay.default).toBe('2s');
    const loop = running({ maxIterations: 2 });
    expect(loop.iterate(answered('On it.')).waitMs).toBe(2_000);
    loop.wait();
    expect(loop.iterate(answered('On it.')).waitMs).toBeNull();
  });

  test('the environment variables set the same for the command', () => {
    const { layer, warnings } = settingsFromEnvironment({
      RALPH_MAX_ITERATIONS: '10',
      RALPH_TIMEOUT_MINUTES: '30',
      RALPH_STATE_DIR: 'Ralph_State',
      RALPH_DONE_FOLDER: '/Vault/Done',
    });
    expect(warnings).toEqual([]);
    expect(layer).toMatchObject({
      maxIterations: { value: '10' },
      timeout: { value: '30m' },
      stateDir: { value: 'Ralph_State' },
      doneFolder: { value: '/Vault/Done' },
    });
  });
});

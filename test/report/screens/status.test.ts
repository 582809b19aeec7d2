import { Chalk } from 'chalk';
import { describe, expect, test } from 'vitest';
import type { ShownTask } from '../../../src/core/task/shown-task.ts';
import { columnsOf, fitted } from '../../../src/report/columns.ts';
import { statusJson, statusTable } from '../../../src/report/screens/status.ts';
import { taskDetail } from '../../../src/report/screens/task-detail.ts';
import { newTask, START } from '../../helpers/new-task.ts';

function shown(changes: Partial<ShownTask> = {}): ShownTask {
  return {
    taskId: 'nightly',
    state: 'running',
    status: 'running',
    iteration: 3,
    maxIterations: 10,
    startedAt: START,
    finishedAt: null,
    elapsedMs: 245_000,
    costUsd: 0.12,
    asked: 'Fix the tests.',
    last: 'Fixing test failures',
    wait: null,
    driver: null,
    runBy: 'pid 123',
    exitReason: null,
    sandbox: 'off',
    stateFile: '/v/.ralph_state/nightly.json',
    logDir: '/v/.ralph_state/nightly',
    archived: false,
    isOwn: true,
    ...changes,
  };
}

const table = (tasks: readonly ShownTask[], width = 80) =>
  statusTable(tasks, { width, paint: null });

const BROKEN: Partial<ShownTask> = {
  status: null,
  iteration: null,
  maxIterations: null,
  elapsedMs: null,
  costUsd: null,
  last: null,
  runBy: null,
};

describe('the table', () => {
  test('the table has a row for each task, and what was asked below', () => {
    const rows = [
      shown(),
      shown({ taskId: 'x', state: 'completed', runBy: null, asked: '' }),
      shown({ ...BROKEN, asked: null, taskId: 'y', state: 'corrupt' }),
    ];
    expect(table(rows)).toBe(
      [
        'TASK     STATE      ITERATION       ELAPSED  COST   RUN BY',
        'nightly  running    iteration 3/10  4m 05s   $0.12  pid 123',
        '  Fix the tests.',
        'x        completed  iteration 3/10  4m 05s   $0.12  –',
        'y        corrupt    –               –        –      –',
        '',
      ].join('\n'),
    );
  });

  test('the table says what a task waits for', () => {
    const wait = { kind: 'usage-limit', until: '2026-01-05T12:00:00.000Z' } as const;
    expect(table([shown({ wait, asked: null })])).toContain(
      '  waits for the usage limit, until 2026-01-05T12:00:00Z\n',
    );
  });

  test.for([20, 30, 40, 60, 79, 80, 120, 200])('fits %i columns', (width) => {
    const rows = [
      shown({ taskId: '20260105_100000_123456', state: 'max_iterations_reached' }),
      shown({ runBy: 'pid 123 on another-host.example.org', asked: '漢字😀'.repeat(60) }),
      shown({ ...BROKEN, state: 'newer ralph', taskId: 'x'.repeat(128) }),
    ];
    for (const line of table(rows, width).split('\n')) {
      expect(columnsOf(line)).toBeLessThanOrEqual(width);
    }
    // An id is for copying.
    if (width > 22) expect(table(rows, width)).toContain('20260105_100000_123456');
    if (width >= 60) expect(table(rows, width)).toContain('pid 123 on another-host.example.org');
    expect(table(rows, width)).toContain('iteration 3/10');
  });

  test('the table has colours only if it is painted', () => {
    const rows = [shown(), shown({ state: 'interrupted' })];
    const painted = statusTable(rows, { width: 80, paint: new Chalk({ level: 1 }) });
    expect(painted).toContain('\u001b[');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
    expect(painted.replace(/\u001b\[\d+m/g, '')).toBe(table(rows));
  });
});

describe('cutting', () => {
  test('the table is cut by columns, not by characters', () => {
    expect(fitted('abcdef', 4)).toBe('abc…');
    expect(fitted('漢字漢字', 5)).toBe('漢字…');
    expect(fitted('漢字', 4)).toBe('漢字');
    expect(columnsOf('e\u0301')).toBe(1);
  });
});

test('the JSON has all fields, in seconds and dollars', () => {
  expect(statusJson(shown())).toEqual({
    task_id: 'nightly',
    state: 'running',
    status: 'running',
    iteration: 3,
    max_iterations: 10,
    started_at: START,
    finished_at: null,
    elapsed_seconds: 245,
    cost_usd: 0.12,
    last: 'Fixing test failures',
    driver: null,
    state_file: '/v/.ralph_state/nightly.json',
    log_dir: '/v/.ralph_state/nightly',
    exit_reason: null,
    sandbox: 'off',
    own: true,
  });
});

describe('one task in detail', () => {
  const record = {
    number: 3,
    started_at: START,
    duration_ms: 61_000,
    outcome: 'answered',
    exit_code: 0,
    completed: false,
    near_miss: true,
    cost_usd: 0.5,
    input_tokens: 1,
    output_tokens: 1,
    turns: 1,
    tools: 0,
    refused: [],
    files_changed: 4,
    output_preview: 'Still at it.',
  };
  const base = newTask();
  const task = {
    ...base,
    task_prompt: 'Fix\nthe tests.',
    metrics: { ...base.metrics, iterations: 3 },
    usage: { ...base.usage, cost_usd: 0.5 },
    iterations: [record],
    errors: Array.from({ length: 9 }, (_, n) => ({
      at: START,
      iteration: n,
      attempt: 1,
      kind: 'timed-out',
      message: `error ${n}`,
    })),
    progress: { steps_total: 4, steps_completed: 1, current_step: 'Lint', percentage: 25 },
    timeout_at: '2026-01-05T10:30:00.000Z',
  };
  const detail = {
    shown: shown(),
    task,
    completion: 'the agent states TASK_COMPLETE and npm test passes',
    maxCostUsd: 2,
    day: null,
    at: '2026-01-05T10:10:00.000Z',
    place: { taskId: 'nightly', vault: '/v', stateDir: '/s', keyFlag: null },
    isTreeGone: false,
  };
  const text = (changes: Partial<typeof detail> = {}) =>
    taskDetail({ ...detail, ...changes }, { width: 80, paint: null });

  test.for([
    /^asked {7}Fix the tests\.$/m,
    /^done when {3}the agent states TASK_COMPLETE and npm test passes$/m,
    /^iterations {2}3 of \d+ used, \d+ left$/m,
    /^time .*4m 05s since 2026-01-05T10:00:00Z, 20m left until$/m,
    /^cost {8}\$0\.50 of \$2\.00 used, \$1\.50 left$/m,
    /^progress {4}1 of 4 steps \(25%\): Lint$/m,
    /^run by {6}pid 123$/m,
    /^state file {2}\/v\/\.ralph_state\/nightly\.json$/m,
    /^logs {8}\/v\/\.ralph_state\/nightly$/m,
    /^3 .*01-05 10:00:00Z .*1m 01s .*answered, near miss .*\$0\.50 .*4 .*Still at it/m,
    /^The first 2 iterations are not shown\.$/m,
  ])('the details of a task tell %s', (pattern) => {
    expect(text()).toMatch(pattern);
  });

  test('the details of a task tell the budget of the day, if there is one', () => {
    const day = { spentUsd: 3.2, maxUsd: 5, leftUsd: 1.8, until: '2026-01-07T00:00:00.000Z' };
    const told = taskDetail({ ...detail, day }, { width: 80, paint: null });
    expect(told).toMatch(/^today {7}\$3\.20 of \$5\.00 spent, \$1\.80 left$/m);
    expect(text()).not.toMatch(/^today/m);
  });

  test('the details of a task name the commands for its changes, with the flags that they need', () => {
    const work_tree = {
      path: '/r.ralph/n',
      branch: 'ralph/n',
      base: 'abc',
      onto: null,
      origin: '/r',
    };
    const git = { snapshots: 'refs/ralph/nightly', work_tree };
    const told = text({ task: { ...task, git } });
    const flags = 'nightly --vault /v --state-dir /s';
    expect(told).toContain(`look        ralph diff ${flags}\nundo        ralph undo ${flags}\n`);
    expect(told).toContain(
      'branch      ralph/n\nland        ralph land nightly --onto BRANCH --vault /v --state-dir /s\n' +
        'work tree   /r.ralph/n\n',
    );
    const withCommitsOn = (...branches: readonly string[]): string =>
      text({ task: { ...task, git: { ...git, branches } } });
    expect(withCommitsOn('ralph/n', 'feature')).toContain('ralph land');
    expect(withCommitsOn('feature')).not.toContain('ralph land');
    expect(text({ task: { ...task, git }, shown: shown({ isOwn: false }) })).not.toContain('undo');
    expect(text()).not.toMatch(/ralph (diff|land)/);
  });

  test('the details of a task say that an iteration runs only while it does', () => {
    const inIteration = { ...task, current_iteration: 4 };
    expect(text({ task: inIteration })).toMatch(/^iterations .* left, iteration 4 runs$/m);
    for (const state of ['stopped', 'interrupted'] as const) {
      expect(text({ task: inIteration, shown: shown({ state }) })).toMatch(/^iterations .* left$/m);
    }
  });

  test('the details of a task show only the newest errors', () => {
    expect(text()).toContain('error 8');
    expect(text()).not.toContain('error 3');
  });

  test('the details of a task tell how it ended', () => {
    const ended = {
      ...task,
      finished_at: START,
      exit_reason: 'promise',
      evidence: { kind: 'promise' as const, detail: 'TASK_COMPLETE' },
    };
    const told = text({ shown: shown({ state: 'completed', runBy: null }), task: ended });
    expect(told).toMatch(/^reason {6}promise$/m);
    expect(told).toMatch(/^evidence {4}promise: TASK_COMPLETE$/m);
    expect(told).not.toMatch(/ left until/);
  });

  test('fits the width, except for paths and ids', () => {
    const long = { ...task, task_prompt: 'word '.repeat(500) };
    for (const line of text({ task: long }).split('\n')) expect(columnsOf(line)).toBeLessThan(81);
  });
});

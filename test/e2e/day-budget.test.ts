import { utimesSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Turn } from '../helpers/fake-turn.ts';
import type { RunRalphOptions } from '../helpers/run-ralph.ts';
import { makeScene, type Scene } from '../helpers/scene.ts';

// The budget of the day: what all tasks of a vault spend since midnight.

/** A zone in which it is about noon, so that no midnight comes in the midst of a test. */
function zoneAtNoon(): string {
  const ahead = 12 - new Date().getUTCHours();
  return `Etc/GMT${ahead > 0 ? '-' : '+'}${Math.abs(ahead)}`;
}

const AT_NOON: RunRalphOptions = { env: { TZ: zoneAtNoon() } };
const MIDNIGHT = /there is room again at (\d{4}-\d\d-\d\dT\d\d:00:00\.000Z)/;

const WORKING: Turn = { text: 'Not yet.', costUsd: 0.6 };
const DONE: Turn = { text: 'Done.\n\nTASK_COMPLETE', costUsd: 0.6 };
const BUDGET = ['--max-cost-per-day', '1'] as const;

/** A driver that died before the machine was last started. */
const DEAD = {
  pid: 1,
  pid_started_at: '1',
  boot_id: 'another',
  host: 'another',
  pid_namespace: '',
  run_id: 'run-1',
  beat_at: '2026-01-05T10:00:00.000Z',
};

/** What a task of yesterday spent. */
async function spentYesterday(scene: Scene): Promise<void> {
  const at = new Date(Date.now() - 24 * 3_600_000).toISOString();
  const event = { event: 'task_iterated', at, task_id: 'old', iteration: 1, cost_usd: 50 };
  await scene.write('.ralph_state/events.jsonl', `${JSON.stringify(event)}\n`);
}

async function stuck(scene: Scene, path: string): Promise<void> {
  await scene.write(path, 'Answer the letter.\n');
  const then = Date.now() / 1_000 - 25 * 60;
  utimesSync(join(scene.folder, path), then, then);
}

describe('two tasks of one vault', () => {
  test('the second ends before the iteration that has no room; yesterday does not count', async () => {
    const scene = await makeScene([DONE, WORKING]);
    await spentYesterday(scene);
    expect((await scene.run(BUDGET, AT_NOON)).exitCode).toBe(0);
    const second = await scene.run(['--task-id', 'u', ...BUDGET], AT_NOON);
    expect(second).toMatchObject({ exitCode: 8, stdout: '' });
    expect(scene.fake.calls()).toHaveLength(2);
    expect(scene.state('u')).toMatchObject({
      status: 'budget_spent',
      exit_reason: 'day_budget',
      metrics: { iterations: 1 },
    });

    const [, until = ''] = MIDNIGHT.exec(second.stderr) ?? [];
    expect(second.stderr).toContain('not completed: the budget of the day is spent');
    const leftMs = Date.parse(until) - Date.now();
    expect(leftMs).toBeGreaterThan(0);
    expect(leftMs).toBeLessThan(24 * 3_600_000);
    expect(scene.journal().at(-1)).toMatchObject({
      event: 'task_budget_spent',
      exit_reason: 'day_budget',
      exit_code: 8,
      until,
    });
    const [note] = scene.notes();
    expect(note?.text).toContain('all tasks together have spent $1.20 of $1.00 since midnight');
    expect(note?.text).toContain(`There is room again at ${until}, when the next day begins.`);
    expect(note?.command).toBe(`cd ${scene.folder} && ralph resume u`);
  });

  test('what is left is shown where there is a budget, and nowhere else', async () => {
    const scene = await makeScene([DONE, { ...WORKING, costUsd: 0.2 }]);
    await scene.run([], AT_NOON);
    expect((await scene.ralph(['status'], AT_NOON)).stdout).not.toContain('today');
    const run = ['--task-id', 'u', '-n', '1', ...BUDGET];
    expect((await scene.run(run, AT_NOON)).exitCode).toBe(3);
    const told = '$0.80 of $1.00 spent, $0.20 left';
    const shown = async (args: readonly string[]): Promise<string> =>
      (await scene.ralph(args, AT_NOON)).stdout;
    expect(await shown(['status'])).toContain(`\ntoday: ${told}\n`);
    expect(await shown(['status', 'u'])).toMatch(
      /^today +\$0\.80 of \$1\.00 spent, \$0\.20 left$/m,
    );
    const day = { spent_usd: 0.8, max_usd: 1, left_usd: expect.closeTo(0.2) };
    expect(JSON.parse(await shown(['status', 'u', '--json']))).toMatchObject({ day });
    expect(await shown(['report'])).toContain(`Of today's budget: ${told}.`);
    expect(JSON.parse(await shown(['report', '--json']))).toMatchObject({ day });
    await shown(['report', '--html', 'report.html']);
    expect(scene.read('report.html')).toContain('$0.20 of $1.00');
  });
});

test('a task does not even begin without room, and goes on with a higher budget', async () => {
  const scene = await makeScene([{ ...DONE, costUsd: 1 }, DONE]);
  await scene.run(BUDGET, AT_NOON);
  const line = ['--task-id', 'u', '--resume-if-open', ...BUDGET];
  expect((await scene.run(line, AT_NOON)).exitCode).toBe(8);
  expect((await scene.run(line, AT_NOON)).exitCode).toBe(8);
  expect((await scene.ralph(['resume', 'u'], AT_NOON)).exitCode).toBe(8);
  expect(scene.fake.calls()).toHaveLength(1);
  const more = ['resume', 'u', '--max-cost-per-day', '5'];
  expect((await scene.ralph(more, AT_NOON)).exitCode).toBe(0);
  expect(scene.fake.calls()).toHaveLength(2);
});

test('an attempt that failed counts for the other tasks, though its iteration never ended', async () => {
  const broke: Turn = { isError: true, text: 'Credit balance is too low', costUsd: 1 };
  const scene = await makeScene([broke, DONE]);
  expect((await scene.run([], AT_NOON)).exitCode).toBe(1);
  expect(scene.state().metrics.iterations).toBe(0);
  expect((await scene.run(['--task-id', 'u', ...BUDGET], AT_NOON)).exitCode).toBe(8);
});

test('an agent that tells no cost is named at the start', async () => {
  const scene = await makeScene();
  const env = { ...AT_NOON.env, RALPH_MAX_COST_PER_DAY: '1' };
  const command = ['--agent-command', "printf 'TASK_COMPLETE\\n'"];
  const { exitCode, stderr } = await scene.run(command, { ...AT_NOON, env });
  expect(exitCode).toBe(0);
  expect(stderr).toContain('RALPH_MAX_COST_PER_DAY has no effect: command reports no cost.');
});

test('a dry run shows the budget, which a configuration can set', async () => {
  const scene = await makeScene();
  await scene.write('ralph.config.yaml', 'max_cost_per_day: 12.5\n');
  const { stdout } = await scene.run(['--dry-run'], AT_NOON);
  expect(stdout).toMatch(/^ *max_cost_per_day +12\.5 +\(ralph\.config\.yaml:1/m);
});

describe('the vault', () => {
  test('ralph watch starts no further task, and waits for the next day', async () => {
    const scene = await makeScene({ ...DONE, costUsd: 2 });
    await scene.write('Needs_Action/a.md', 'Answer the letter.\n');
    await stuck(scene, 'Needs_Action/a.md');
    await scene.write('Needs_Action/b.md', 'Answer the letter.\n');
    const args = ['watch', '--interval', '50ms', '--delay', '0', '--start-new', ...BUDGET];
    const watch = await scene.start(args, AT_NOON);
    await watch.untilStderr(
      /cannot process any file \(day_budget\); waiting until \d{4}-\d\d-\d\dT\d\d:00:00\.000Z/,
    );
    watch.child.kill('SIGTERM');
    const { exitCode, stdout } = await watch.ended;
    expect(exitCode).toBe(143);
    expect(stdout).toMatch(/a\.md: started and completed/);
    expect(stdout).toMatch(/b\.md: left: the budget of the day is spent; there is room again at /);
    expect(scene.fake.calls()).toHaveLength(1);
    expect(scene.has('.ralph_state/b.json')).toBe(false);
    expect(scene.names('Needs_Action')).toEqual([expect.stringMatching(/^RALPH_BLOCKED_/), 'b.md']);
  });

  test('ralph rescue resumes nothing without room, and ends with 8', async () => {
    const scene = await makeScene([{ ...WORKING, costUsd: 2 }, { text: 'Processing complete' }]);
    await stuck(scene, 'In_Progress/a.md');
    const first = await scene.ralph(['rescue', '--delay', '0', ...BUDGET], AT_NOON);
    expect(first.stdout).toContain('not completed: budget spent (day_budget)');
    const again = await scene.ralph(['rescue', '--delay', '0', ...BUDGET], AT_NOON);
    expect(again).toMatchObject({
      exitCode: 8,
      stdout: expect.stringContaining('a.md: left: the budget of the day is spent'),
    });
    expect(scene.fake.calls()).toHaveLength(1);
  });

  test('an ending that nobody was told of is announced all the same, since that costs nothing', async () => {
    const scene = await makeScene({ ...WORKING, costUsd: 2 });
    await stuck(scene, 'In_Progress/a.md');
    await scene.ralph(['rescue', '--delay', '0', '-n', '1'], AT_NOON);
    const stopped = { status: 'stopped', exit_reason: 'stopped:SIGTERM', memory: null };
    await scene.writeState({ ...scene.state('stuck_a'), ...stopped, driver: DEAD });
    const { stdout } = await scene.ralph(['rescue', ...BUDGET], AT_NOON);
    expect(stdout).toContain('a.md: resumed as stuck_a, not completed: stopped');
    expect(scene.fake.calls()).toHaveLength(1);
  });
});

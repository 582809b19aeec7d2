import { describe, expect, test } from 'vitest';
import { layerOf } from '../../../src/core/settings/setting-source.ts';
import type { SettingName } from '../../../src/core/settings/settings.ts';
import { overrideSettings } from '../../../src/core/task/override.ts';
import { laterBy, type TaskState } from '../../../src/core/task/task-state.ts';
import { checks } from '../../helpers/checks.ts';
import { newTask, START } from '../../helpers/new-task.ts';
import { stored } from '../../helpers/stored.ts';

const MINUTE = 60_000;

const kept = {
  ...stored({
    max_iterations: 5,
    timeout: 30 * MINUTE,
    max_cost: 2,
    quiet: true,
    agent: 'command',
  }),
  taskType: 'default',
  passthrough: [],
  startDir: '/home/user/app',
};

/** It has worked 10 of its 30 minutes, in 3 iterations, for $1.50. */
const task: TaskState = {
  ...newTask(),
  timeout_at: laterBy(START, 30 * MINUTE),
  finished_at: laterBy(START, 10 * MINUTE),
  metrics: { ...newTask().metrics, iterations: 3 },
  usage: { ...newTask().usage, cost_usd: 1.5 },
};

function resumedWith(values: Readonly<Partial<Record<SettingName, unknown>>>) {
  return overrideSettings(
    kept,
    layerOf(values, (name) => ({ kind: 'flag', where: name })),
    task,
  );
}

describe('the flags of a resume', () => {
  test('override single settings, and their alternatives', () => {
    const { run, problems } = resumedWith({ delay: '7s', agentCommand: 'codex exec' });
    expect(problems).toEqual([]);
    expect(run.settings).toMatchObject({ delay: 7_000, maxIterations: 5, agent: ['claude'] });
    expect(run.sources.delay).toEqual({ kind: 'flag', where: 'delay' });
    expect(run.sources.maxIterations).toEqual({ kind: 'flag', where: '--max-iterations' });
  });

  test('add to what the task has used if they begin with +', () => {
    const { run, problems } = resumedWith({ maxIterations: '+4', timeout: '+5m', maxCost: '+1' });
    expect(problems).toEqual([]);
    expect(run.settings).toMatchObject({ maxIterations: 7, timeout: 15 * MINUTE, maxCost: 2.5 });
  });

  test('say how this command prints: that does not come from the stored run', () => {
    expect(kept.settings.quiet).toBe(true);
    expect(resumedWith({}).run.settings.quiet).toBe(false);
  });

  test('cannot change what defines the task, nor add to what has no sum', () => {
    const { problems } = resumedWith({ promptFile: 'other.md', retries: '+2' });
    expect(problems).toEqual([
      expect.stringContaining('promptFile cannot change when a task is resumed'),
      "retries takes no +; found '+2'.",
      expect.stringContaining('retries expects a whole number'),
    ]);
  });

  test('may be a command that begins with + and a digit', () => {
    const { run, problems } = resumedWith({ verify: '+1 is no sum' });
    expect(problems).toEqual([]);
    expect(run.settings.verify).toEqual(checks('+1 is no sum'));
  });
});

import { describe, expect, test } from 'vitest';
import { policyOf, storedPolicy } from '../../../src/core/policy/policy-of.ts';
import { resolveSettings } from '../../../src/core/settings/resolve-settings.ts';
import { layerOf } from '../../../src/core/settings/setting-source.ts';
import type { SettingName } from '../../../src/core/settings/settings.ts';
import { withPolicy } from '../../../src/core/task/policy.ts';
import type { TaskState } from '../../../src/core/task/task-state.ts';
import { newTask } from '../../helpers/new-task.ts';
import { stored } from '../../helpers/stored.ts';

const FACTS = {
  fileInWork: null,
  doneFolder: '/vault/Done',
  approvalRequired: null,
  timeZone: () => 'UTC',
};

/** The policy where these settings were given by flags. */
function policyFor(values: Readonly<Partial<Record<SettingName, unknown>>>, facts = {}) {
  const layer = layerOf(values, (name) => ({ kind: 'flag', where: name }));
  return policyOf(resolveSettings([layer]), { ...FACTS, ...facts });
}

const task = (changes: Partial<TaskState> = {}): TaskState => ({
  ...newTask(),
  completion_promise: null,
  ...changes,
});

describe('the policy of a run', () => {
  test('has the default promise only if there is no other condition', () => {
    expect(policyFor({}).promise).toBe('TASK_COMPLETE');
    expect(policyFor({ planFile: 'PLAN.md' }).promise).toBeNull();
    expect(policyFor({ promise: '<promise>ALL  DONE</promise>' }).promise).toBe('ALL DONE');
  });

  test('counts a moved task file, besides the promise', () => {
    const { watchFile, promise } = policyFor({}, { fileInWork: 'In_Progress/x.md' });
    expect({ watchFile, promise }).toEqual({
      watchFile: 'In_Progress/x.md',
      promise: 'TASK_COMPLETE',
    });
    const named = policyFor({ watchFile: 'y.md' }, { fileInWork: 'In_Progress/x.md' });
    expect(named.watchFile).toBe('y.md');
  });

  test('lets ralph ask only claude about a doubtful promise', () => {
    expect(policyFor({}).askBack).toBe(true);
    expect(policyFor({ askBack: false }).askBack).toBe(false);
    expect(policyFor({ agentCommand: 'codex exec' })).toMatchObject({
      agent: 'command',
      askBack: false,
    });
  });

  test('finds the time zone only if it is needed', () => {
    let calls = 0;
    const timeZone = () => {
      calls += 1;
      return 'Asia/Tokyo';
    };
    const policy = policyFor({}, { timeZone });
    expect(calls).toBe(0);
    expect(policy.timeZone).toBe('Asia/Tokyo');
  });
});

describe('the policy of a stored task', () => {
  test('has the default promise only if there is no other condition', () => {
    expect(storedPolicy(task(), stored({})).promise).toBe('TASK_COMPLETE');
    expect(storedPolicy(task(), stored({ until: 'true' })).promise).toBeNull();
    expect(storedPolicy(task({ watch_glob: ['*.md'] }), stored({})).promise).toBeNull();
  });

  test('has what the state says, and every other setting as the run had it', () => {
    const kept = stored({
      promise: 'OLD',
      max_iterations: 3,
      accept_refused: ['Bash(git push:*)'],
      abort_promise: '<promise>IMPOSSIBLE</promise>',
      agent_command: 'codex exec',
      context: 'none',
      iteration_timeout: 600_000,
      timeout: 300_000,
    });
    const state = task({
      completion_promise: 'DONE',
      max_iterations: 8,
      watch_file: 'x.md',
      done_folder: 'Archive',
    });
    expect(storedPolicy(state, kept)).toMatchObject({
      promise: 'DONE',
      maxIterations: 8,
      watchFile: 'x.md',
      doneFolder: 'Archive',
      acceptRefused: ['Bash(git push:*)'],
      abortPromise: 'IMPOSSIBLE',
      agent: 'command',
      context: 'none',
      iterationTimeoutMs: 300_000,
    });
  });
});

test('a changed policy reads the time zone only when it is asked for', () => {
  let asked = 0;
  const timeZone = () => {
    asked += 1;
    return 'Europe/Berlin';
  };
  const changed = withPolicy(policyFor({}, { timeZone }), { agent: 'codex' });
  expect({ agent: changed.agent, promise: changed.promise, asked }).toEqual({
    agent: 'codex',
    promise: 'TASK_COMPLETE',
    asked: 0,
  });
  expect(changed.timeZone).toBe('Europe/Berlin');
});

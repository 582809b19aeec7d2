import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stateJson } from '../../src/core/task/state-json.ts';
import type { OwnWorkTree, TaskState } from '../../src/core/task/task-state.ts';
import { settingsJson } from '../../src/effects/plan/stored-settings.ts';
import { fileOf, STATE } from '../../src/effects/trust/seal.ts';
import { newTask } from './new-task.ts';
import { stored } from './stored.ts';
import { ownSeal } from './test-seal.ts';

/** A task as `ralph run` leaves it. */
export interface KeptTask {
  readonly taskId: string;
  readonly tree: OwnWorkTree | null;
  /** Where it was started. */
  readonly startDir: string;
  /** Values of `settings.json`, each as if it was given by a flag. */
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly state?: Partial<TaskState>;
}

/** Writes a task that has ended, completed and in the history unless `state` says otherwise. */
export function keepTask(stateDir: string, task: KeptTask): void {
  const { taskId, tree, startDir, settings = {} } = task;
  const prompt = `Do ${taskId}\n`;
  const begun = newTask();
  const state: TaskState = {
    ...begun,
    metrics: { ...begun.metrics, iterations: 1 },
    task_id: taskId,
    task_prompt: prompt,
    prompt_sha256: createHash('sha256').update(prompt).digest('hex'),
    status: 'completed',
    exit_reason: 'completed',
    finished_at: '2026-01-05T10:01:00.000Z',
    current_iteration: 1,
    driver: null,
    git: { snapshots: null, work_tree: tree },
    ...task.state,
  };
  const below = state.status === 'completed' ? join(stateDir, 'history') : stateDir;
  const folder = join(below, taskId);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const seal = ownSeal(stateDir);
  const run = { ...stored(settings), taskType: 'default', passthrough: [], startDir };
  writeFileSync(join(below, `${taskId}.json`), seal.close(stateJson(state), STATE));
  const sealed = seal.close(settingsJson(run), fileOf('settings', state));
  writeFileSync(join(folder, 'settings.json'), sealed);
  writeFileSync(join(folder, 'prompt.md'), prompt);
}

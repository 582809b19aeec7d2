import { groupOf, resolveSettings } from '../settings/resolve-settings.ts';
import { type Layer, type Written, withSettings } from '../settings/setting-source.ts';
import { SETTINGS, type SettingName, settingNames } from '../settings/settings.ts';
import type { StoredRun } from '../settings/stored-run.ts';
import { lastWorkAt, msBetween, type TaskState } from './task-state.ts';

export interface Overridden {
  readonly run: StoredRun;
  readonly problems: readonly string[];
}

/** Settings that define the task, so a resume cannot change them. */
const FIXED: readonly SettingName[] = [
  'prompt',
  'promptFile',
  'taskFile',
  'taskId',
  'taskType',
  'config',
  'worktree',
  'base',
  'worktreeDir',
];

/** Applies the flags of a resume to the stored settings of a task. `+5` adds 5 to what the task has used. */
export function overrideSettings(stored: StoredRun, flags: Layer, task: TaskState): Overridden {
  const problems: string[] = [];
  for (const name of FIXED) {
    const written = flags[name];
    if (written !== undefined)
      problems.push(
        `${written.source.where} cannot change when a task is resumed; start another with ralph run, or add a hint with ralph tell.`,
      );
  }
  const added = new Set<SettingName>();
  const plain = withoutPlus(flags, added, problems);
  const resolved = resolveSettings([plain]);
  problems.push(...resolved.problems);
  const taken = settingNames().filter(
    (name) => isOfNow(name) || groupOf(name).some((member) => plain[member] !== undefined),
  );
  const { settings, sources } = withSettings(stored, resolved, taken);
  const sums = [...added].map((name) => [
    name,
    usedOf(name, stored, task) + Number(settings[name]),
  ]);
  const run = { ...stored, sources, settings: { ...settings, ...Object.fromEntries(sums) } };
  return { run, problems };
}

const OF_NOW: readonly SettingName[] = ['detach', 'resumeIfOpen', 'keyFile'];

/** Whether a setting belongs to this command and not to the task: output, background or trust. */
function isOfNow(name: SettingName): boolean {
  return SETTINGS[name].group === 'Output' || OF_NOW.includes(name);
}

const ADDABLE: readonly SettingName[] = ['maxIterations', 'timeout', 'maxCost'];

function withoutPlus(flags: Layer, added: Set<SettingName>, problems: string[]): Layer {
  const plain: Partial<Record<SettingName, Written>> = { ...flags };
  for (const name of settingNames()) {
    const written = flags[name];
    if (typeof written?.value !== 'string' || !/^\+\d/.test(written.value)) continue;
    if (!ADDABLE.includes(name)) {
      if (!['text', 'command', 'checks'].includes(SETTINGS[name].type.kind)) {
        problems.push(`${written.source.where} takes no +; found '${written.value}'.`);
      }
      continue;
    }
    added.add(name);
    plain[name] = { ...written, value: written.value.slice(1) };
  }
  return plain;
}

/** Returns how much of a limit a task has used. Time without a driver does not count. */
function usedOf(name: SettingName, { settings }: StoredRun, task: TaskState): number {
  if (name === 'maxIterations') return task.metrics.iterations;
  if (name === 'maxCost') return task.usage.cost_usd;
  return settings.timeout - msBetween(lastWorkAt(task), task.timeout_at);
}

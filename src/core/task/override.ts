import { groupOf, resolveSettings } from '../settings/resolve-settings.ts';
import { type Layer, type Written, withSettings } from '../settings/setting-source.ts';
import {
  SETTINGS,
  type SettingName,
  type SettingWith,
  settingNames,
  settingsWith,
} from '../settings/settings.ts';
import type { StoredRun } from '../settings/stored-run.ts';
import { lastWorkAt, msBetween, type TaskState } from './task-state.ts';

export interface Overridden {
  readonly run: StoredRun;
  readonly problems: readonly string[];
}

/** Applies a resume's flags to a task's stored settings. `+5` sets a limit to 5 more than the task has used. */
export function overrideSettings(stored: StoredRun, flags: Layer, task: TaskState): Overridden {
  const problems: string[] = [];
  for (const name of settingsWith({ resume: 'fixed' })) {
    const written = flags[name];
    if (written !== undefined)
      problems.push(
        `${written.source.where} cannot change when a task is resumed; start another with ralph run, or add a hint with ralph tell.`,
      );
  }
  const added = new Set<Addable>();
  const plain = withoutPlus(flags, added, problems);
  const resolved = resolveSettings([plain]);
  problems.push(...resolved.problems);
  const taken = settingNames().filter(
    (name) =>
      SETTINGS[name].resume === 'now' ||
      groupOf(name).some((member) => plain[member] !== undefined),
  );
  const { settings, sources } = withSettings(stored, resolved, taken);
  const sums = [...added].map((name) => [name, USED[name](stored, task) + Number(settings[name])]);
  const run = { ...stored, sources, settings: { ...settings, ...Object.fromEntries(sums) } };
  return { run, problems };
}

function withoutPlus(flags: Layer, added: Set<Addable>, problems: string[]): Layer {
  const plain: Partial<Record<SettingName, Written>> = { ...flags };
  for (const name of settingNames()) {
    const written = flags[name];
    if (typeof written?.value !== 'string' || !/^\+\d/.test(written.value)) continue;
    if (!isAddable(name)) {
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

type Addable = SettingWith<{ resume: 'adds' }>;

function isAddable(name: SettingName): name is Addable {
  return SETTINGS[name].resume === 'adds';
}

/** How much of a limit a task has used. Time in which no ralph process ran the task does not count. */
const USED: Readonly<Record<Addable, (stored: StoredRun, task: TaskState) => number>> = {
  maxIterations: (_, task) => task.metrics.iterations,
  maxCost: (_, task) => task.usage.cost_usd,
  timeout: ({ settings }, task) => settings.timeout - msBetween(lastWorkAt(task), task.timeout_at),
};

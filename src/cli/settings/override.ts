import {
  areSettings,
  areSources,
  groupOf,
  resolveSettings,
} from '../../core/settings/resolve-settings.ts';
import type { Layer, Source, Written } from '../../core/settings/setting-source.ts';
import { SETTINGS, type SettingName, settingNames } from '../../core/settings/settings.ts';
import type { StoredRun } from '../../effects/plan/stored-run.ts';

/** What a task has used so far, for flags that add to it. */
export interface Used {
  readonly iterations: number;
  readonly costUsd: number;
  /** Time used of the limit of the whole task. */
  readonly timeMs: number;
}

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
];

/** Applies flags to the stored settings of a task. `+5` adds to what the task has used. */
export function overrideSettings(stored: StoredRun, flags: Layer, used: Used): Overridden {
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
  const settings: Record<string, unknown> = { ...stored.settings };
  const sources: Record<string, Source> = { ...stored.sources };
  for (const name of settingNames()) {
    if (!isOfNow(name) && !groupOf(name).some((member) => plain[member] !== undefined)) continue;
    settings[name] = resolved.settings[name];
    sources[name] = resolved.sources[name];
  }
  for (const name of added) settings[name] = usedOf(name, used) + Number(settings[name]);
  if (!areSettings(settings) || !areSources(sources)) {
    throw new Error('the overridden settings are invalid');
  }
  return { run: { ...stored, settings, sources }, problems };
}

const OF_NOW: readonly SettingName[] = ['detach', 'resumeIfOpen', 'keyFile'];

/** Settings of this command, not of the task: output, background and trust. */
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
      if (SETTINGS[name].type.kind !== 'text') {
        problems.push(`${written.source.where} takes no +; found '${written.value}'.`);
      }
      continue;
    }
    added.add(name);
    plain[name] = { ...written, value: written.value.slice(1) };
  }
  return plain;
}

function usedOf(name: SettingName, used: Used): number {
  if (name === 'maxIterations') return used.iterations;
  return name === 'maxCost' ? used.costUsd : used.timeMs;
}

import type { Layer } from '../../core/settings/setting-source.ts';
import { SETTINGS, type SettingName, settingNames } from '../../core/settings/settings.ts';
import { settingsProblems } from '../../core/settings/settings-problems.ts';
import { storedSetting } from '../../core/settings/stored-run.ts';
import { overrideSettings } from '../../core/task/override.ts';
import type { TaskState } from '../../core/task/task-state.ts';
import { storedRunOf } from './fleet-spec.ts';
import type { FleetSpec } from './fleet-task.ts';
import { legProblems } from './spec-problems.ts';

/** The settings of a task after a resume that changes its limits. */
export interface ResumedSpec {
  readonly settings: FleetSpec['settings'];
  /** How much longer the time limit gets, in milliseconds; negative if it gets shorter. */
  readonly moreMs: number;
  readonly problems: readonly string[];
}

/** Whether a resume may change a setting of a fleet's task: only its limits, and not what the task does. */
export function isResumable(name: SettingName): boolean {
  const { group, resume, fleet } = SETTINGS[name];
  return group === 'Limits' && resume !== 'fixed' && fleet === 'stored';
}

/** Applies the flags of a resume. A limit such as `+5` is added to what `task` says the task has used. */
export function resumedSpec(spec: FleetSpec, flags: Layer, task: TaskState): ResumedSpec {
  const stored = storedRunOf(spec);
  const { run, problems } = overrideSettings(stored, flags, task);
  const changed = settingNames()
    .filter((name) => flags[name] !== undefined)
    .map((name) => [name, storedSetting(run, name)]);
  return {
    settings: { ...spec.settings, ...Object.fromEntries(changed) },
    moreMs: run.settings.timeout - stored.settings.timeout,
    problems:
      problems.length > 0
        ? problems
        : [...settingsProblems({ ...run, bad: new Set() }), ...legProblems(run.settings)],
  };
}

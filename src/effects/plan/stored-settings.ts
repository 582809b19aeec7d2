import { settingNames, snakeCase } from '../../core/settings/settings.ts';
import { safeJson } from '../../core/text/safe-json.ts';
import type { RunPlan } from './run-plan.ts';

/**
 * Returns the resolved settings under their configuration keys, each with its source, as JSON that is not
 * sealed yet.
 */
export function settingsJson(plan: RunPlan): string {
  const settings = Object.fromEntries(
    settingNames().map((name) => [
      snakeCase(name),
      {
        value: plan.settings[name],
        source: plan.sources[name].where,
        from: plan.sources[name].kind,
      },
    ]),
  );
  const { passthrough, taskType: task_type, startDir: start_dir } = plan;
  return `${safeJson({ settings, passthrough, task_type, start_dir }, 2)}\n`;
}

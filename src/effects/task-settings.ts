import { settingNames, snakeCase } from '../core/settings.ts';
import type { RunPlan } from './run-plan.ts';

/** The settings as they were resolved, each with its source, under their configuration keys. */
export function settingsJson(plan: RunPlan): string {
  const settings = Object.fromEntries(
    settingNames().map((name) => [
      snakeCase(name),
      { value: plan.settings[name], source: plan.sources[name].where },
    ]),
  );
  return `${JSON.stringify({ settings, passthrough: plan.passthrough }, null, 2)}\n`;
}

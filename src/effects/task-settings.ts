import { createHash } from 'node:crypto';
import { safeJson } from '../core/safe-json.ts';
import { settingNames, snakeCase } from '../core/settings.ts';
import type { RunPlan } from './run-plan.ts';

/** By what a file of settings is known to be whole, and as ralph wrote it: the gates stand in it. */
export function sealOf(kept: object): string {
  return createHash('sha256').update(JSON.stringify(kept)).digest('hex');
}

/** The settings as they were resolved, each with its source, under their configuration keys. */
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
  const kept = { settings, passthrough, task_type, start_dir };
  return `${safeJson({ ...kept, sha256: sealOf(kept) }, 2)}\n`;
}

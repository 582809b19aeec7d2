import { lstatSync } from 'node:fs';
import path from 'node:path';
import { settingNames, snakeCase } from '../../core/settings/settings.ts';
import { safeJson } from '../../core/text/safe-json.ts';
import { MB, readTextWithin } from '../files/bounded-read.ts';
import { type JsonObject, objectAt, parseObject, stringAt } from '../files/json-fields.ts';
import { isRealFolder } from '../state/task-list.ts';
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

/** Returns the settings beside a task's state by their configuration keys; empty if there are none. */
export function readSavedSettings(folder: string): ReadonlyMap<string, unknown> {
  const settings = objectAt(parseObject(textOf(folder)) ?? {}, 'settings') ?? {};
  return new Map(
    Object.keys(settings).map((key) => [key, (objectAt(settings, key) ?? NONE).value]),
  );
}

const NONE: JsonObject = {};

/** Returns the folder a task was started in, or null if its settings do not say. */
export function savedStartDir(folder: string): string | null {
  return stringAt(parseObject(textOf(folder)) ?? NONE, 'start_dir');
}

/** They may contain a prompt of 1 MB, which escaping can make six times as long. */
const SETTINGS_MAX_BYTES = 8 * MB;

function textOf(folder: string): string {
  try {
    const file = path.join(folder, 'settings.json');
    const isOwn = isRealFolder(folder) && lstatSync(file).isFile();
    return isOwn ? readTextWithin(file, SETTINGS_MAX_BYTES) : '';
  } catch {
    return '';
  }
}

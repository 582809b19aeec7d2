import * as z from 'zod/mini';
import { areSettings, areSources, resolveSettings } from '../../core/settings/resolve-settings.ts';
import type { SettingKind } from '../../core/settings/rows/setting-row.ts';
import type { Source, Sources } from '../../core/settings/setting-source.ts';
import {
  SETTINGS,
  type SettingName,
  type Settings,
  settingNames,
  snakeCase,
} from '../../core/settings/settings.ts';
import { parseObject } from '../files/json-fields.ts';

/** The settings of a run, as stored in `settings.json`. */
export interface StoredRun {
  readonly settings: Settings;
  readonly sources: Sources;
  readonly taskType: string;
  readonly passthrough: readonly string[];
  /** The folder ralph was started in. */
  readonly startDir: string;
}

const storedRun = z.object({
  settings: z.record(
    z.string(),
    z.object({
      value: z.unknown(),
      source: z.string(),
      from: z.enum(['flag', 'variable', 'front-matter', 'task-type', 'config', 'default']),
    }),
  ),
  task_type: z.string(),
  passthrough: z.array(z.string()),
  start_dir: z.string(),
});

/**
 * Reads `settings.json`; returns null if it is invalid. Does not check who wrote it. A missing setting
 * (an older ralph did not know it) gets its default.
 */
export function readStoredRun(json: string): StoredRun | null {
  const parsed = storedRun.safeParse(parseObject(json));
  if (!parsed.success) return null;
  const { settings: stored, task_type, passthrough, start_dir } = parsed.data;
  const defaults = resolveSettings([]);
  const settings: Record<string, unknown> = { ...defaults.settings };
  const sources: Record<string, Source> = { ...defaults.sources };
  for (const name of settingNames()) {
    const kept = stored[snakeCase(name)];
    if (kept === undefined) continue;
    const value = valueSchema(name).safeParse(kept.value);
    if (!value.success) continue;
    settings[name] = value.data;
    sources[name] = { kind: kept.from, where: kept.source };
  }
  if (!areSettings(settings) || !areSources(sources)) return null;
  return { settings, sources, taskType: task_type, passthrough, startDir: start_dir };
}

/** The schema of a parsed value: durations and sizes are numbers. */
function valueSchema(name: SettingName): z.ZodMiniType {
  const { type, default: fallback, negation } = SETTINGS[name];
  const schema = formOf(type);
  const isPlainSwitch = type.kind === 'switch' && negation === undefined;
  const isNullable = fallback === undefined && !isPlainSwitch && type.kind !== 'texts';
  return isNullable ? z.nullable(schema) : schema;
}

function formOf(type: SettingKind): z.ZodMiniType {
  switch (type.kind) {
    case 'text':
      return z.string();
    case 'texts':
      return z.array(z.string());
    case 'switch':
      return z.boolean();
    case 'choice':
      return z.enum(type.choices);
    case 'count':
    case 'duration':
    case 'size':
    case 'cost':
    case 'percent':
      return z.number();
  }
}

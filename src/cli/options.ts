import * as z from 'zod/mini';
import { parseDuration } from '../core/duration.ts';
import {
  SETTINGS,
  type SettingKind,
  type SettingName,
  type Settings,
  settingNames,
} from '../core/settings.ts';
import { parseSize } from '../core/size.ts';

/** Values as they were written, by setting; a switch is a boolean. */
export type WrittenSettings = Readonly<Partial<Record<SettingName, unknown>>>;

export interface ResolvedSettings {
  /** A bad value is replaced by its default here, so that whatever else is wrong can be said too. */
  readonly settings: Settings;
  /** Which settings were written down, not defaulted. */
  readonly given: ReadonlySet<SettingName>;
  readonly problems: readonly string[];
}

/** Turns what was written into settings, or says everything that is wrong with it. */
export function resolveSettings(written: WrittenSettings): ResolvedSettings {
  const problems: string[] = [];
  const values: Record<string, unknown> = {};
  const given = new Set<SettingName>();
  for (const name of settingNames()) {
    const row = SETTINGS[name];
    const value = written[name];
    if (value !== undefined) given.add(name);
    const schema = schemaFor(row.type);
    const fallback = row.default ?? emptyValue(row.type);
    const parsed = schema.safeParse(value ?? fallback);
    if (!parsed.success) {
      problems.push(`${row.flag} expects ${expected(row.type)}; found ${quoted(value)}.`);
    }
    values[name] = parsed.success ? parsed.data : schema.parse(fallback);
  }
  if (!areSettings(values)) throw new Error('the table of settings does not make settings');
  return { settings: values, given, problems };
}

/** The types of `Settings` come from the same table as the schemas that every value has passed. */
function areSettings(values: Readonly<Record<string, unknown>>): values is Settings {
  return settingNames().every((name) => name in values);
}

function emptyValue(type: SettingKind): unknown {
  if (type.kind === 'switch') return false;
  return type.kind === 'texts' ? [] : null;
}

/** What a written value of this kind must be, and what it becomes. */
function schemaFor(type: SettingKind): z.ZodMiniType {
  switch (type.kind) {
    case 'text':
      return z.nullable(z.string());
    case 'texts':
      return z.array(z.string());
    case 'switch':
      return z.boolean();
    case 'choice':
      return z.enum(type.choices);
    case 'count':
      return numberFrom((text) => (/^\d{1,15}$/.test(text) ? Number(text) : null), type.min);
    case 'duration':
      return numberFrom(parseDuration, type.minMs);
    case 'size':
      return numberFrom(parseSize, 1);
  }
}

/** Null stands for a setting that nobody gave and that has no default. */
function numberFrom(read: (text: string) => number | null, min: number): z.ZodMiniType {
  return z.nullable(
    z.pipe(
      z.string(),
      z.pipe(
        z.transform((text: string) => read(text)),
        z.number().check(z.minimum(min)),
      ),
    ),
  );
}

function expected(type: SettingKind): string {
  switch (type.kind) {
    case 'text':
    case 'texts':
      return 'text';
    case 'switch':
      return 'no value';
    case 'choice':
      return `one of ${type.choices.join(', ')}`;
    case 'count':
      return `a whole number, at least ${type.min}`;
    case 'size':
      return 'a size such as 64KB, 500MB or 1GB';
    case 'duration':
      return `a duration such as 500ms, 90s, 30m or 1h30m${type.minMs > 0 ? ', more than 0' : ''}`;
  }
}

function quoted(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : JSON.stringify(value);
}

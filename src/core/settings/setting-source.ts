import { SETTINGS, type SettingName, type Settings, settingNames } from './settings.ts';

/** The kinds of source of a setting, highest priority first. */
export type SourceKind = 'flag' | 'variable' | 'front-matter' | 'task-type' | 'config' | 'default';

/** Where a value comes from, worded so that a person can find it. */
export interface Source {
  readonly kind: SourceKind;
  /** For example `--delay`, `RALPH_DELAY`, `ralph.config.yaml:3 delay` or `task type coding`. */
  readonly where: string;
}

/** A value as it was written, and its source. */
export interface Written {
  readonly value: unknown;
  readonly source: Source;
}

/** The settings from one source. A setting that is absent comes from the next source. */
export type Layer = Readonly<Partial<Record<SettingName, Written>>>;

/** Makes a layer from values, except null and undefined. A number for a duration means milliseconds. */
export function layerOf(
  values: Readonly<Partial<Record<SettingName, unknown>>>,
  sourceOf: (name: SettingName) => Source,
): Layer {
  const layer: Partial<Record<SettingName, Written>> = {};
  for (const name of settingNames()) {
    const value = values[name];
    if (value === undefined || value === null) continue;
    const isMs = SETTINGS[name].type.kind === 'duration' && typeof value === 'number';
    layer[name] = { value: isMs ? `${value}ms` : value, source: sourceOf(name) };
  }
  return layer;
}

export type Sources = Readonly<Record<SettingName, Source>>;

/** The values of all settings, and where each comes from. */
export interface SourcedSettings {
  readonly settings: Settings;
  readonly sources: Sources;
}

/** Whether a person gave the value. A default or a task type did not. */
export function isGiven(source: Source): boolean {
  return source.kind !== 'default' && source.kind !== 'task-type';
}

/** Returns the value if it was written as text, else undefined. */
export function textOf(written: Written | undefined): string | undefined {
  return typeof written?.value === 'string' ? written.value : undefined;
}

/** Returns the settings, but takes those in `names`, with their sources, from `from`. */
export function withSettings(
  { settings, sources }: SourcedSettings,
  from: SourcedSettings,
  names: readonly SettingName[],
): SourcedSettings {
  const taken = (values: Readonly<Record<SettingName, unknown>>) =>
    Object.fromEntries(names.map((name) => [name, values[name]]));
  return {
    settings: { ...settings, ...taken(from.settings) },
    sources: { ...sources, ...taken(from.sources) },
  };
}

import { resolveSettings } from './resolve-settings.ts';
import { layerOf, type Source, type SourcedSettings } from './setting-source.ts';
import { type SettingName, settingNames, snakeCase } from './settings.ts';

/** The settings of a run, as they are stored next to its state. */
export interface StoredRun extends SourcedSettings {
  readonly taskType: string;
  readonly passthrough: readonly string[];
  readonly startDir: string;
}

/** A stored setting: its value, and where the value came from. */
export interface StoredSetting {
  readonly value: unknown;
  readonly source: string;
  readonly from: Source['kind'];
}

type StoredSettings = Readonly<Record<string, StoredSetting>>;

/** Returns a setting in the form in which it is stored. */
export function storedSetting(
  { settings, sources }: SourcedSettings,
  name: SettingName,
): StoredSetting {
  const { where: source, kind: from } = sources[name];
  return { value: settings[name], source, from };
}

/** Returns the settings in the form in which they are stored. */
export function storedSettings(run: SourcedSettings): StoredSettings {
  return Object.fromEntries(
    settingNames().map((name) => [snakeCase(name), storedSetting(run, name)]),
  );
}

/** Reads stored settings. A setting that is invalid or missing gets its default. */
export function fromStored(stored: StoredSettings): SourcedSettings {
  const of = (name: SettingName): StoredSetting | undefined => stored[snakeCase(name)];
  const values = settingNames().map((name) => [name, of(name)?.value]);
  const layer = layerOf(Object.fromEntries(values), (name) => {
    const { source = '', from = 'default' } = of(name) ?? {};
    return { where: source, kind: from };
  });
  const { settings, sources } = resolveSettings([layer]);
  return { settings, sources };
}

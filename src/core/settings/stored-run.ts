import { resolveSettings } from './resolve-settings.ts';
import { layerOf, type Source, type SourcedSettings } from './setting-source.ts';
import { aliasKeys, type SettingName, settingNames, snakeCase } from './settings.ts';

/** The settings of a run, as they are stored beside its state. */
export interface StoredRun extends SourcedSettings {
  readonly taskType: string;
  readonly passthrough: readonly string[];
  /** The folder ralph was started in. */
  readonly startDir: string;
}

/** A stored setting: its value, and where the value came from. */
interface StoredSetting {
  readonly value: unknown;
  readonly source: string;
  readonly from: Source['kind'];
}

/** Settings under their configuration keys. */
type StoredSettings = Readonly<Record<string, StoredSetting>>;

/** Returns the settings in the form in which they are stored. */
export function storedSettings({ settings, sources }: SourcedSettings): StoredSettings {
  return Object.fromEntries(
    settingNames().map((name): [string, StoredSetting] => {
      const { where: source, kind: from } = sources[name];
      return [snakeCase(name), { value: settings[name], source, from }];
    }),
  );
}

/** Reads stored settings. A setting that is invalid, or that an older ralph did not store, gets its default. */
export function fromStored(stored: StoredSettings): SourcedSettings {
  // An older ralph stored some settings under another name of their flag.
  const of = (name: SettingName): StoredSetting | undefined =>
    [snakeCase(name), ...aliasKeys(name)].flatMap((key) => stored[key] ?? [])[0];
  const values = settingNames().map((name) => [name, of(name)?.value]);
  const layer = layerOf(Object.fromEntries(values), (name) => {
    const { source = '', from = 'default' } = of(name) ?? {};
    return { where: source, kind: from };
  });
  const { settings, sources } = resolveSettings([layer]);
  return { settings, sources };
}

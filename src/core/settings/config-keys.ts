import { aliasKeys, keyOf, type SettingName, settingNames } from './settings.ts';

/** The setting for a key of a configuration. `unit` is added to a number without a unit. */
export interface ConfigKey {
  readonly name: SettingName;
  readonly unit: string;
}

/** Keys that people know from other tools, and the settings that they set. */
const FURTHER_KEYS: Readonly<Record<string, ConfigKey>> = {
  timeout_minutes: { name: 'timeout', unit: 'm' },
  check_interval_seconds: { name: 'delay', unit: 's' },
  completion_signals: { name: 'signal', unit: '' },
  checks: { name: 'verify', unit: '' },
};

/** Returns every key that sets a single setting, with its aliases. */
export function configKeys(): ReadonlyMap<string, ConfigKey> {
  const keys = new Map<string, ConfigKey>();
  for (const name of settingNames()) {
    const key = keyOf(name);
    for (const each of key === null ? [] : [key, ...aliasKeys(name)]) {
      keys.set(each, { name, unit: '' });
    }
  }
  for (const [key, further] of Object.entries(FURTHER_KEYS)) keys.set(key, further);
  return keys;
}

/** Returns the value of a key. A number without a unit gets the unit of the key. */
export function withUnit(value: unknown, { unit }: ConfigKey): unknown {
  return typeof value === 'number' && unit !== '' ? `${value}${unit}` : value;
}

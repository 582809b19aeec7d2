import { parseValue } from './parse-value.ts';
import {
  VAULT_SETTINGS,
  type VaultLayer,
  type VaultSettingName,
  vaultSettingNames,
} from './rescue-settings.ts';
import { defaultValue } from './resolve-settings.ts';
import type { Layer, Sources } from './setting-source.ts';
import {
  isRepeatable,
  keyOf,
  SETTINGS,
  type SettingName,
  settingNamesNeedingTrust,
  snakeCase,
} from './settings.ts';

/** A setting, as a configuration file has it, that counts only after a person has trusted the file. */
export interface SettingNeedingTrust {
  readonly name: SettingName | VaultSettingName;
  /** Its key in the file, such as `on_end`. */
  readonly key: string;
  readonly value: unknown;
}

/** Returns the settings of a configuration file that need trust, in the order in which the help lists them. */
export function settingsNeedingTrust(
  config: Layer,
  vault: VaultLayer,
): readonly SettingNeedingTrust[] {
  const ofRun = settingNamesNeedingTrust().flatMap((name) => {
    const written = config[name];
    const key = keyOf(name);
    if (written === undefined || key === null || !lifts(name, written.value)) return [];
    return [{ name, key, value: written.value }];
  });
  const ofVault = vaultSettingNames().flatMap((name) => {
    const written = vault[name];
    if (written === undefined || !VAULT_SETTINGS[name].trust) return [];
    return [{ name, key: snakeCase(name), value: written.value }];
  });
  return [...ofRun, ...ofVault];
}

/** Whether a value needs trust. A value that loosens no restriction does not, but an invalid one does, to be safe. */
function lifts(name: SettingName, written: unknown): boolean {
  const row = SETTINGS[name];
  if (typeof row.trust === 'boolean') return row.trust;
  const parsed = parseValue(row.type, written);
  if (!('value' in parsed)) return true;
  if (row.trust === 'unless-true') return parsed.value !== true;
  return isRepeatable(row)
    ? !Array.isArray(parsed.value) || parsed.value.length > 0
    : parsed.value !== defaultValue(name);
}

/**
 * Returns the settings in `powers` (all that need trust) that a run takes from the configuration file, not from a flag
 * or a variable. Leaves out the settings that only `ralph watch` has, since that command reports them itself.
 */
export function trustedSettingsInForce(
  powers: readonly SettingNeedingTrust[],
  sources: Sources,
): readonly SettingNeedingTrust[] {
  return powers.filter(
    ({ name }) => name in sources && sources[name as SettingName].kind === 'config',
  );
}

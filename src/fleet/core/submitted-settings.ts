import { SETTINGS, type SettingName, settingNames } from '../../core/settings/settings.ts';

/** Returns why `ralph submit` does not take a setting, and what to do instead; null if it takes the setting. */
export function whyNotSubmitted(name: SettingName): string | null {
  const { fleet } = SETTINGS[name];
  return typeof fleet === 'string' ? null : fleet.not;
}

const STORED = settingNames().filter((name) => {
  const { fleet } = SETTINGS[name];
  return fleet === 'stored' || fleet === 'path';
});

/** Returns the settings that are stored with a task of a fleet. */
export function submittedSettings(): readonly SettingName[] {
  return STORED;
}

import { SETTINGS, type SettingName, settingsWith } from '../../core/settings/settings.ts';

/** Returns why `ralph submit` does not take a setting, and what to do; null if it takes it. */
export function whyNotSubmitted(name: SettingName): string | null {
  const { fleet } = SETTINGS[name];
  return typeof fleet === 'string' ? null : fleet.not;
}

const STORED = settingsWith({ fleet: 'stored' });

/** Returns the settings that are stored with a task of a fleet. */
export function submittedSettings(): readonly SettingName[] {
  return STORED;
}

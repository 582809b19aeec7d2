import type { Command } from 'commander';
import { declareRow, declareSettings } from '../../../cli/flags/flags.ts';
import { type SettingName, settingNames } from '../../../core/settings/settings.ts';
import { SUBMIT_SETTINGS, type SubmitSettingName } from '../../core/submit-settings.ts';
import { whyNotSubmitted } from '../../core/submitted-settings.ts';

/** Declares the flags of `ralph submit`: its own, and those of a run that describe a task. */
export function declareSubmitFlags(command: Command): Command {
  const own = Object.keys(SUBMIT_SETTINGS) as readonly SubmitSettingName[];
  const isOwn = (name: SettingName): boolean => Object.hasOwn(SUBMIT_SETTINGS, name);
  const but = settingNames().filter((name) => isOwn(name) || whyNotSubmitted(name) !== null);
  for (const name of own) {
    const row = SUBMIT_SETTINGS[name];
    // Those of a run stay in their groups.
    const isOfRun = settingNames().some((each) => each === name);
    declareRow(
      command,
      row,
      isOfRun && name !== 'base' && name !== 'setup' ? row.group : 'The fleet',
    );
  }
  return declareSettings(command, but);
}

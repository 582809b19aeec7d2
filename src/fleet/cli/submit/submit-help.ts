import type { Command } from 'commander';
import { declareRow, declareSettings } from '../../../cli/flags/flags.ts';
import { settingNames } from '../../../core/settings/settings.ts';
import { SUBMIT_SETTINGS } from '../../core/submit-settings.ts';
import { whyNotSubmitted } from '../../core/submitted-settings.ts';

/** Declares the flags of `ralph submit`: its own, and those of a run that describe a task. */
export function declareSubmitFlags(command: Command): Command {
  for (const row of Object.values(SUBMIT_SETTINGS)) declareRow(command, row);
  const isOwn = (name: string): boolean => Object.hasOwn(SUBMIT_SETTINGS, name);
  const but = settingNames().filter((name) => isOwn(name) || whyNotSubmitted(name) !== null);
  return declareSettings(command, but);
}

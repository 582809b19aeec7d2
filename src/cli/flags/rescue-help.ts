import type { Command } from 'commander';
import { conditionSettings } from '../../core/completion/conditions/conditions.ts';
import {
  VAULT_COMMANDS,
  VAULT_SETTINGS,
  type VaultCommand,
} from '../../core/settings/rescue-settings.ts';
import { SETTINGS, type SettingName, settingNames } from '../../core/settings/settings.ts';
import { declareRow, declareSettings } from './flags.ts';

/** Returns the settings of a run that `ralph rescue` or `ralph watch` does not accept. */
export function notTaken(name: VaultCommand): readonly SettingName[] {
  const ofOneTask = settingNames().filter((each) =>
    ['file', 'off'].includes(SETTINGS[each].rescue),
  );
  return name === 'rescue' ? [...ofOneTask, ...conditionSettings()] : ofOneTask;
}

/** Declares the flags of `ralph rescue` or `ralph watch`: its own, and those for the runs that it starts. */
export function declareVaultFlags(command: Command, name: VaultCommand): Command {
  for (const each of VAULT_COMMANDS[name]) declareRow(command, VAULT_SETTINGS[each]);
  return declareSettings(command, notTaken(name));
}

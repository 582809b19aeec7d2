import type { Command } from 'commander';
import type { SettingName, SettingRow } from '../../core/settings.ts';
import { VAULT_COMMANDS, VAULT_SETTINGS, type VaultCommand } from '../../core/vault-settings.ts';
import { declareSettings } from './flags.ts';

/** What a task is told by its file, or makes no sense with many of them. */
const NOT_OF_MANY: readonly SettingName[] = [
  'prompt',
  'promptFile',
  'taskFile',
  'taskId',
  'watchFile',
  'detach',
  'resumeIfOpen',
  'noWait',
  'dryRun',
  'json',
];

/** A rescue is complete by its own promise; only what `watch` starts anew may have conditions. */
const NOT_OF_RESCUES: readonly SettingName[] = [
  'promise',
  'watchGlob',
  'watchExisting',
  'until',
  'signal',
  'planFile',
];

/** The settings of a run that a command does not take. */
export function notTaken(name: VaultCommand): readonly SettingName[] {
  return name === 'rescue' ? [...NOT_OF_MANY, ...NOT_OF_RESCUES] : NOT_OF_MANY;
}

/** Declares the flags of `ralph rescue` or `ralph watch`: its own, and those of its runs. */
export function declareVaultFlags(command: Command, name: VaultCommand): Command {
  for (const each of VAULT_COMMANDS[name]) {
    const row: SettingRow = VAULT_SETTINGS[each];
    const argument = row.argument === undefined ? '' : ` <${row.argument}>`;
    const help = `${row.help}${row.default === undefined ? '' : ` (default: ${row.default})`}`;
    command.addOption(command.createOption(`${row.flag}${argument}`, help).helpGroup('The vault:'));
  }
  return declareSettings(command, notTaken(name));
}

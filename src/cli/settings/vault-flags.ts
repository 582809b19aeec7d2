import type { Command } from 'commander';
import { parseValue } from '../../compose/parse-value.ts';
import { SETTINGS, type SettingName, type SettingRow, snakeCase } from '../../core/settings.ts';
import {
  VAULT_COMMANDS,
  VAULT_SETTINGS,
  type VaultCommand,
  type VaultSettingName,
} from '../../core/vault-settings.ts';
import { declareSettings, type ReadFlags, readFlags } from './flags.ts';

/** The words of a command line of `ralph rescue` or `ralph watch`. */
export interface ReadVaultFlags {
  /** What is meant for the runs. */
  readonly flags: ReadFlags;
  readonly stuckAfterMs: number;
  readonly intervalMs: number;
  readonly concurrency: number;
  readonly startNew: boolean;
  readonly problems: readonly string[];
  /** The environment without the variables that are read here. */
  readonly env: NodeJS.ProcessEnv;
}

/** What a run is told by its file, or makes no sense with many of them. */
const NOT_HERE: readonly SettingName[] = [
  'prompt',
  'promptFile',
  'taskFile',
  'taskId',
  'watchFile',
  'detach',
  'resumeIfOpen',
  'dryRun',
  'json',
];

/** Reads the arguments of `ralph rescue` or `ralph watch`; a flag comes before its variable. */
export function readVaultFlags(
  argv: readonly string[],
  name: VaultCommand,
  environment: NodeJS.ProcessEnv,
): ReadVaultFlags {
  const names: readonly VaultSettingName[] = VAULT_COMMANDS[name];
  const problems: string[] = [];
  const { own, rest } = splitOwn(argv, names, problems);
  const env = { ...environment };
  const valueOf = (setting: VaultSettingName): unknown => {
    const row = VAULT_SETTINGS[setting];
    const variable = variableOfVault(setting);
    const fromVariable = names.includes(setting) ? env[variable] : undefined;
    delete env[variable];
    const written = own.get(setting) ?? fromVariable ?? row.default ?? 'false';
    const parsed = parseValue(row.type, written);
    if ('value' in parsed) return parsed.value;
    problems.push(`${own.has(setting) ? row.flag : variable} ${parsed.problem}.`);
    return parsed;
  };
  const stuckAfterMs = Number(valueOf('stuckAfter'));
  const intervalMs = Number(valueOf('interval'));
  const concurrency = Number(valueOf('concurrency'));
  const startNew = valueOf('startNew') === true;
  const flags = readFlags(rest, name);
  for (const each of NOT_HERE) {
    const written = flags.layer[each];
    if (written !== undefined)
      problems.push(
        `ralph ${name} takes no ${written.source.where}: its tasks are the files of the vault.`,
      );
  }
  return {
    flags,
    stuckAfterMs,
    intervalMs,
    concurrency,
    startNew,
    problems: [...problems, ...flags.problems],
    env,
  };
}

/** The flags of a run that make sense here, and those of the command's own. */
export function declareVaultFlags(command: Command, name: VaultCommand): Command {
  declareSettings(command, NOT_HERE);
  for (const each of VAULT_COMMANDS[name]) {
    const row: SettingRow = VAULT_SETTINGS[each];
    const argument = row.argument === undefined ? '' : ` <${row.argument}>`;
    const help = `${row.help}${row.default === undefined ? '' : ` (default: ${row.default})`}`;
    command.addOption(command.createOption(`${row.flag}${argument}`, help).helpGroup('The vault:'));
  }
  return command;
}

/** The variables of these settings, which mean nothing to other commands. */
export function variableOfVault(name: VaultSettingName): string {
  return `RALPH_${snakeCase(name).toUpperCase()}`;
}

/** Takes the command's own flags out of its arguments, up to `--`; of one given twice the last counts. */
function splitOwn(
  argv: readonly string[],
  names: readonly VaultSettingName[],
  problems: string[],
): { readonly own: ReadonlyMap<VaultSettingName, string>; readonly rest: readonly string[] } {
  const own = new Map<VaultSettingName, string>();
  const rest: string[] = [];
  const words = [...argv];
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    if (word === '--') return { own, rest: [...rest, word, ...words] };
    const [flag = '', ...parts] = word.split('=');
    const name = names.find((each) => VAULT_SETTINGS[each].flag === flag);
    if (name === undefined) {
      rest.push(word);
      // The value of a flag of a run's is no flag of ours.
      if (takesValue(word) && words[0] !== undefined && words[0] !== '--') {
        rest.push(words.shift() ?? '');
      }
      continue;
    }
    const isSwitch = VAULT_SETTINGS[name].type.kind === 'switch';
    const value = parts.length > 0 ? parts.join('=') : isSwitch ? 'true' : words.shift();
    if (value === undefined) problems.push(`${flag} needs a value, and none was given.`);
    else own.set(name, value);
  }
  return { own, rest };
}

function takesValue(word: string): boolean {
  return Object.values(SETTINGS).some(
    ({ flag, short, aliases = [], type }) =>
      type.kind !== 'switch' && [flag, short, ...aliases].includes(word),
  );
}

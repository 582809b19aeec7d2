import { parseValue } from '../../core/settings/parse-value.ts';
import {
  VAULT_COMMANDS,
  VAULT_SETTINGS,
  type VaultCommand,
  type VaultLayer,
  type VaultSettingName,
  variableOfVault,
  vaultSettingNames,
} from '../../core/settings/rescue-settings.ts';
import type { Source, Written } from '../../core/settings/setting-source.ts';
import { SETTINGS } from '../../core/settings/settings.ts';
import { type ReadFlags, readFlags } from './flags.ts';
import { notTaken } from './rescue-help.ts';

/** The words of a command line of `ralph rescue` or `ralph watch`. */
export interface ReadVaultFlags {
  readonly flags: ReadFlags;
  /** The command's own settings, from flags or variables. */
  readonly own: VaultLayer;
  readonly problems: readonly string[];
  /** The environment without the variables of the command's own settings. */
  readonly env: NodeJS.ProcessEnv;
}

/** The command's own settings, parsed. */
export interface VaultSettings {
  readonly stuckAfterMs: number;
  readonly intervalMs: number;
  readonly concurrency: number;
  readonly startNew: boolean;
}

/** Reads the arguments of `ralph rescue` or `ralph watch`. A flag overrides its variable. */
export function readVaultFlags(
  argv: readonly string[],
  name: VaultCommand,
  environment: NodeJS.ProcessEnv,
): ReadVaultFlags {
  const names: readonly VaultSettingName[] = VAULT_COMMANDS[name];
  const problems: string[] = [];
  const { own: given, rest } = splitOwn(argv, names, problems);
  const env = { ...environment };
  const own: Partial<Record<VaultSettingName, Written>> = {};
  for (const each of vaultSettingNames()) {
    const variable = variableOfVault(each);
    const flag = given.get(each);
    const value = flag ?? (names.includes(each) ? env[variable] : undefined);
    delete env[variable];
    if (value === undefined) continue;
    const source: Source =
      flag === undefined
        ? { kind: 'variable', where: variable }
        : { kind: 'flag', where: VAULT_SETTINGS[each].flag };
    own[each] = { value, source };
    const parsed = parseValue(VAULT_SETTINGS[each].type, value);
    if ('problem' in parsed) problems.push(`${source.where} ${parsed.problem}.`);
  }
  const flags = readFlags(rest, name);
  for (const each of notTaken(name)) {
    const written = flags.layer[each];
    if (written !== undefined)
      problems.push(
        `ralph ${name} takes no ${written.source.where}: its tasks are files of the vault, which hold these settings.`,
      );
  }
  return { flags, own, problems: [...problems, ...flags.problems], env };
}

/** Resolves the command's own settings: flag, variable, configuration, default. Their values are valid. */
export function settleVault(own: VaultLayer, config: VaultLayer): VaultSettings {
  const settled = (name: VaultSettingName): unknown => {
    const { type, default: fallback } = VAULT_SETTINGS[name];
    const parsed = parseValue(type, (own[name] ?? config[name])?.value ?? fallback ?? false);
    return 'value' in parsed ? parsed.value : null;
  };
  return {
    stuckAfterMs: Number(settled('stuckAfter')),
    intervalMs: Number(settled('interval')),
    concurrency: Number(settled('concurrency')),
    startNew: settled('startNew') === true,
  };
}

/** Removes the command's own flags from its arguments, up to `--`. The last value of a flag counts. */
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
      // The value of a run's flag must not be read as a flag.
      if (takesValue(word) && words[0] !== undefined && words[0] !== '--') {
        rest.push(words.shift() ?? '');
      }
      continue;
    }
    const isSwitch = VAULT_SETTINGS[name].type.kind === 'switch';
    const value = parts.length > 0 ? parts.join('=') : isSwitch ? 'true' : words.shift();
    if (value === undefined) problems.push(`${flag} needs a value, but none was given.`);
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

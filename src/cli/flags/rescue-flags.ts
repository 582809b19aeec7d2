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
import type { OwnRow } from '../../core/settings/rows/setting-row.ts';
import type { Written } from '../../core/settings/setting-source.ts';
import { type ReadFlags, readFlags } from './flags.ts';
import { notTaken } from './rescue-help.ts';

/** What the command line and the environment variables of `ralph rescue` or `ralph watch` set. */
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
  const flags = readFlags(argv, name);
  const problems: string[] = [];
  const env = { ...environment };
  const own: Partial<Record<VaultSettingName, Written>> = {};
  for (const each of vaultSettingNames()) {
    const where = variableOfVault(each);
    const value = names.includes(each) ? env[where] : undefined;
    delete env[where];
    const byVariable =
      value === undefined ? value : { value, source: { kind: 'variable' as const, where } };
    const written = flags.layer[each] ?? byVariable;
    if (written === undefined) continue;
    own[each] = written;
    const parsed = parseValue(VAULT_SETTINGS[each].type, written.value);
    if ('problem' in parsed) problems.push(`${written.source.where} ${parsed.problem}.`);
  }
  for (const each of notTaken(name)) {
    const written = flags.layer[each];
    if (written !== undefined)
      problems.push(
        `ralph ${name} takes no ${written.source.where}: its tasks are files of the vault, which hold these settings.`,
      );
  }
  return { flags, own, problems: [...flags.problems, ...problems], env };
}

/** Returns the command's own settings: from `own`, else from `config`, else the defaults. All values must be valid. */
export function settleVault(own: VaultLayer, config: VaultLayer): VaultSettings {
  const settled = (name: VaultSettingName): unknown => {
    const { type, default: fallback }: OwnRow = VAULT_SETTINGS[name];
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

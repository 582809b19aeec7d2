import { inGroup, type VaultRow } from './rows/setting-row.ts';
import type { Written } from './setting-source.ts';
import { snakeCase } from './settings.ts';

/** The settings that `ralph rescue` and `ralph watch` have beyond those of a run. */
export const VAULT_SETTINGS = inGroup('The vault', {
  stuckAfter: {
    type: { kind: 'duration', minMs: 0 },
    default: '20m',
    trust: false,
    help: 'how long a file must be untouched to count as stuck',
  },
  interval: {
    type: { kind: 'duration', minMs: 1 },
    default: '30s',
    trust: false,
    help: 'pause between two passes over the vault',
  },
  concurrency: {
    type: { kind: 'count', min: 1 },
    default: '1',
    trust: false,
    help: 'how many tasks run at a time',
  },
  startNew: {
    type: { kind: 'switch' },
    trust: true,
    help: 'also start each file that appears in Needs_Action; anyone who can write there commands the agent',
  },
} as const satisfies Readonly<Record<string, VaultRow>>);

export type VaultSettingName = keyof typeof VAULT_SETTINGS;

/** The values of `VAULT_SETTINGS` from one source. A setting that is absent comes from the next source. */
export type VaultLayer = Readonly<Partial<Record<VaultSettingName, Written>>>;

/** Which of `VAULT_SETTINGS` each of the two commands has. */
export const VAULT_COMMANDS = {
  rescue: ['stuckAfter'],
  watch: ['stuckAfter', 'interval', 'concurrency', 'startNew'],
} as const satisfies Readonly<Record<string, readonly VaultSettingName[]>>;

export type VaultCommand = keyof typeof VAULT_COMMANDS;

export function vaultSettingNames(): readonly VaultSettingName[] {
  return VAULT_COMMANDS.watch;
}

/** Returns the environment variable of one of `VAULT_SETTINGS`. Commands without the setting ignore the variable. */
export function variableOfVault(name: VaultSettingName): string {
  return `RALPH_${snakeCase(name).toUpperCase()}`;
}

/** The environment variables of all `VAULT_SETTINGS`. */
export const VAULT_VARIABLES: readonly string[] = vaultSettingNames().map(variableOfVault);

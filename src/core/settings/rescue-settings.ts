import type { VaultRow } from './rows/setting-row.ts';
import type { Written } from './setting-source.ts';
import { snakeCase } from './settings.ts';

/** The settings that `ralph rescue` and `ralph watch` have beyond those of a run. */
const TABLE = {
  stuckAfter: {
    flag: '--stuck-after',
    argument: 'TIME',
    type: { kind: 'duration', minMs: 0 },
    group: 'Around it',
    default: '20m',
    trust: false,
    help: 'how long a file must be untouched to count as stuck',
  },
  interval: {
    flag: '--interval',
    argument: 'TIME',
    type: { kind: 'duration', minMs: 1 },
    group: 'Around it',
    default: '30s',
    trust: false,
    help: 'pause between two passes over the vault',
  },
  concurrency: {
    flag: '--concurrency',
    argument: 'N',
    type: { kind: 'count', min: 1 },
    group: 'Around it',
    default: '1',
    trust: false,
    help: 'how many tasks run at a time',
  },
  startNew: {
    flag: '--start-new',
    type: { kind: 'switch' },
    group: 'Around it',
    trust: true,
    help: 'also start each file that appears in Needs_Action; anyone who can write there commands the agent',
  },
} as const satisfies Readonly<Record<string, VaultRow>>;

export type VaultSettingName = keyof typeof TABLE;

export const VAULT_SETTINGS: Readonly<Record<VaultSettingName, VaultRow>> = TABLE;

/** The settings of the vault from one source. A setting that is absent comes from the next source. */
export type VaultLayer = Readonly<Partial<Record<VaultSettingName, Written>>>;

export function vaultSettingNames(): readonly VaultSettingName[] {
  return ['stuckAfter', 'interval', 'concurrency', 'startNew'];
}

/** The settings of the vault that each command has. */
export const VAULT_COMMANDS = {
  rescue: ['stuckAfter'],
  watch: ['stuckAfter', 'interval', 'concurrency', 'startNew'],
} as const satisfies Readonly<Record<string, readonly VaultSettingName[]>>;

export type VaultCommand = keyof typeof VAULT_COMMANDS;

/** Returns the environment variable of a setting of the vault. Commands without this setting ignore it. */
export function variableOfVault(name: VaultSettingName): string {
  return `RALPH_${snakeCase(name).toUpperCase()}`;
}

/** The environment variables of all settings of the vault. */
export const VAULT_VARIABLES: readonly string[] = vaultSettingNames().map(variableOfVault);

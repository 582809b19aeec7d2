import { parseValue } from '../../core/settings/parse-value.ts';
import {
  VAULT_SETTINGS,
  type VaultCommand,
  WATCH_SETTINGS,
} from '../../core/settings/rescue-settings.ts';
import type { FlagRow } from '../../core/settings/rows/setting-row.ts';
import { type ReadFlags, readFlagsWith } from './flags.ts';
import { notTaken } from './rescue-help.ts';

/** What the command line of `ralph rescue` or `ralph watch` says. */
export interface ReadVaultFlags {
  readonly flags: ReadFlags;
  /** The command's own settings. If there are `problems`, some may be wrong. */
  readonly own: VaultSettings;
  readonly problems: readonly string[];
}

export interface VaultSettings {
  readonly stuckAfterMs: number;
  readonly intervalMs: number;
  readonly concurrency: number;
  readonly startNew: boolean;
}

/** Reads the arguments of `ralph rescue` or `ralph watch`. */
export function readVaultFlags(argv: readonly string[], name: VaultCommand): ReadVaultFlags {
  const rows: Readonly<Record<string, FlagRow>> = VAULT_SETTINGS[name];
  const flags = readFlagsWith(argv, name, rows);
  const problems: string[] = [];
  const parsedValue = (each: keyof typeof WATCH_SETTINGS): unknown => {
    const { type, default: fallback }: FlagRow = WATCH_SETTINGS[each];
    const written = flags.layer[each];
    const parsed = parseValue(type, written?.value ?? fallback ?? false);
    if ('value' in parsed) return parsed.value;
    problems.push(`${written?.source.where} ${parsed.problem}.`);
    return null;
  };
  const own = {
    stuckAfterMs: Number(parsedValue('stuckAfter')),
    intervalMs: Number(parsedValue('interval')),
    concurrency: Number(parsedValue('concurrency')),
    startNew: parsedValue('startNew') === true,
  };
  for (const each of notTaken(name)) {
    const written = flags.layer[each];
    if (written !== undefined)
      problems.push(
        `ralph ${name} takes no ${written.source.where}: its tasks are files of the vault, which hold these settings.`,
      );
  }
  return { flags, own, problems: [...flags.problems, ...problems] };
}

import type { Command } from 'commander';
import { inGroup, type OwnRow } from '../../core/settings/rows/setting-row.ts';
import { type Layer, textOf } from '../../core/settings/setting-source.ts';
import { declareRow, declareSettings, type ReadFlags, readFlagsWith } from './flags.ts';
import { FLEET_HELP } from './shared-flags.ts';

/** The flags that only `ralph resume` has. They are not settings, so no configuration file can give `--trust`. */
const RESUME_ROWS = inGroup('Options', {
  trust: { type: { kind: 'switch' }, help: 'take over a task that was not written by you here' },
  fleet: { type: { kind: 'text' }, argument: 'URL', help: FLEET_HELP },
} as const satisfies Readonly<Record<string, OwnRow>>);

/** What the command line of `ralph resume` says. */
export interface ResumeWords extends ReadFlags {
  readonly layer: Layer;
  /** Whether `--trust` was given: a person has reviewed somebody else's task and trusts it. */
  readonly isTrusted: boolean;
  readonly store: { readonly fleet?: string };
}

/** Reads the arguments of `ralph resume`. */
export function readResumeFlags(argv: readonly string[]): ResumeWords {
  const read = readFlagsWith(argv, 'resume', RESUME_ROWS);
  const { trust, fleet, ...layer } = read.layer;
  const url = textOf(fleet);
  return {
    ...read,
    layer,
    isTrusted: trust !== undefined,
    store: url === undefined ? {} : { fleet: url },
  };
}

/** Declares the flags of `ralph resume`. */
export function declareResumeFlags(command: Command): void {
  declareSettings(command);
  for (const row of Object.values(RESUME_ROWS)) declareRow(command, row);
}

import { inGroup, type OwnRow } from './rows/setting-row.ts';

/** The settings that `ralph watch` has beyond those of a run. Only flags set them. */
export const WATCH_SETTINGS = inGroup('The vault', {
  stuckAfter: {
    type: { kind: 'duration', minMs: 0 },
    default: '20m',
    help: 'how long a file must be untouched to count as stuck',
  },
  interval: {
    type: { kind: 'duration', minMs: 1 },
    default: '30s',
    help: 'pause between two passes over the vault',
  },
  concurrency: {
    type: { kind: 'count', min: 1 },
    default: '1',
    help: 'how many tasks run at a time',
  },
  startNew: {
    type: { kind: 'switch' },
    help: 'also start each file that appears in Needs_Action; anyone who can write there commands the agent',
  },
} as const satisfies Readonly<Record<string, OwnRow>>);

const { stuckAfter } = WATCH_SETTINGS;

/** The settings that each command on a whole vault has beyond those of a run. */
export const VAULT_SETTINGS = { rescue: { stuckAfter }, watch: WATCH_SETTINGS };

export type VaultCommand = keyof typeof VAULT_SETTINGS;

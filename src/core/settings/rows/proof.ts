import type { SettingRow } from './setting-row.ts';

/** What checks a claim, and when. */
export const PROOF_ROWS = {
  verify: {
    flag: '--verify',
    argument: 'COMMAND',
    type: { kind: 'checks' },
    group: 'Completion',
    trust: true,
    help: 'accept completion only if this shell command exits 0; may be repeated',
  },
  verifyEach: {
    flag: '--verify-each',
    type: { kind: 'switch' },
    group: 'Completion',
    trust: true,
    help: 'run the checks of --verify after each iteration that ended well, not only on a claim',
  },
  baseline: {
    flag: '--baseline',
    negation: '--no-baseline',
    type: { kind: 'switch' },
    group: 'Completion',
    trust: true,
    help: 'run each check once before the first iteration, to know how it stood; --no-baseline does not (default: on with --known-failures allow)',
  },
  knownFailures: {
    flag: '--known-failures',
    argument: 'RULE',
    type: { kind: 'choice', choices: ['refuse', 'allow'] },
    group: 'Completion',
    default: 'refuse',
    trust: true,
    help: 'whether a check counts as passed that fails only with tests that failed before the first iteration',
  },
} as const satisfies Readonly<Record<string, SettingRow>>;

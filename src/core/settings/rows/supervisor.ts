import type { SettingRow } from './setting-row.ts';

/** What ends an iteration in which the agent repeats itself or uses too much. */
export const SUPERVISOR_ROWS = {
  supervise: {
    flag: '--supervise',
    negation: '--no-supervise',
    type: { kind: 'switch' },
    group: 'Limits',
    default: 'true',
    ...{ trust: false, fleet: 'stored', resume: 'changes', rescue: 'own', batch: 'line' },
    help: 'end an iteration in which the agent only repeats itself; --no-supervise never does',
  },
  sameFailingLimit: {
    flag: '--same-failing-limit',
    argument: 'N',
    type: { kind: 'count', min: 0 },
    group: 'Limits',
    default: '20',
    ...{ trust: false, fleet: 'stored', resume: 'changes', rescue: 'own', batch: 'line' },
    help: 'repeated calls that failed before an iteration is ended; 0 never ends it',
  },
  sameCallLimit: {
    flag: '--same-call-limit',
    argument: 'N',
    type: { kind: 'count', min: 0 },
    group: 'Limits',
    default: '100',
    ...{ trust: false, fleet: 'stored', resume: 'changes', rescue: 'own', batch: 'line' },
    help: 'repeated calls that worked before an iteration is ended; 0 never ends it',
  },
  refusedLimit: {
    flag: '--refused-limit',
    argument: 'N',
    type: { kind: 'count', min: 0 },
    group: 'Limits',
    default: '20',
    ...{ trust: false, fleet: 'stored', resume: 'changes', rescue: 'own', batch: 'line' },
    help: 'refused calls, with none that worked in between, before an iteration is ended; 0 never ends it',
  },
  maxIterationTokens: {
    flag: '--max-iteration-tokens',
    argument: 'N',
    type: { kind: 'count', min: 0 },
    group: 'Limits',
    ...{ trust: false, fleet: 'stored', resume: 'changes', rescue: 'own', batch: 'line' },
    help: 'tokens, without those read from the cache, before an iteration is ended (default: no limit)',
  },
  maxSubagents: {
    flag: '--max-subagents',
    argument: 'N',
    type: { kind: 'count', min: 0 },
    group: 'Limits',
    ...{ trust: false, fleet: 'stored', resume: 'changes', rescue: 'own', batch: 'line' },
    help: 'sub-agents that may start in one iteration; the next one ends it (default: no limit)',
  },
} as const satisfies Readonly<Record<string, SettingRow>>;

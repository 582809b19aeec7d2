import type { WrittenRow } from './setting-row.ts';

/** The settings that end an iteration in which the agent repeats itself or uses too much. */
export const SUPERVISOR_ROWS = {
  supervise: {
    negation: '--no-supervise',
    type: { kind: 'switch' },
    default: 'true',
    ...{ trust: false, fleet: 'stored', resume: 'changes', rescue: 'own' },
    help: 'end an iteration in which the agent only repeats itself; --no-supervise never does',
  },
  sameFailingLimit: {
    type: { kind: 'count', min: 0 },
    default: '20',
    ...{ trust: false, fleet: 'stored', resume: 'changes', rescue: 'own' },
    help: 'repeated calls that failed before an iteration is ended; 0 never ends it',
  },
  sameCallLimit: {
    type: { kind: 'count', min: 0 },
    default: '100',
    ...{ trust: false, fleet: 'stored', resume: 'changes', rescue: 'own' },
    help: 'repeated calls that worked before an iteration is ended; 0 never ends it',
  },
  refusedLimit: {
    type: { kind: 'count', min: 0 },
    default: '20',
    ...{ trust: false, fleet: 'stored', resume: 'changes', rescue: 'own' },
    help: 'refused calls, with none that worked in between, before an iteration is ended; 0 never ends it',
  },
  maxIterationTokens: {
    type: { kind: 'count', min: 0 },
    ...{ trust: false, fleet: 'stored', resume: 'changes', rescue: 'own' },
    help: 'tokens, without those read from the cache, before an iteration is ended (default: no limit)',
  },
  maxSubagents: {
    type: { kind: 'count', min: 0 },
    ...{ trust: false, fleet: 'stored', resume: 'changes', rescue: 'own' },
    help: 'sub-agents that may start in one iteration; the next one ends it (default: no limit)',
  },
} as const satisfies Readonly<Record<string, WrittenRow>>;

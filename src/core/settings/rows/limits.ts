import type { WrittenRow } from './setting-row.ts';

/** The settings that limit time, iterations and money. */
export const LIMIT_ROWS = {
  maxIterations: {
    short: '-n',
    type: { kind: 'count', min: 1 },
    default: '5',
    ...{ trust: false, fleet: 'stored', resume: 'adds', rescue: 'own' },
    help: 'iterations before it gives up',
  },
  iterationTimeout: {
    type: { kind: 'duration', minMs: 1 },
    default: '180s',
    ...{ trust: false, fleet: 'stored', resume: 'changes', rescue: 'own' },
    help: 'time for one iteration',
  },
  idleTimeout: {
    type: { kind: 'duration', minMs: 1 },
    ...{ trust: false, fleet: 'stored', resume: 'changes', rescue: 'own' },
    help: 'how long the agent may be silent (default: no limit)',
  },
  timeout: {
    type: { kind: 'duration', minMs: 1 },
    default: '30m',
    ...{ trust: false, fleet: 'stored', resume: 'adds', rescue: 'own' },
    help: 'time for the whole task',
  },
  delay: {
    type: { kind: 'duration', minMs: 0 },
    default: '2s',
    ...{ trust: false, fleet: 'stored', resume: 'changes', rescue: 'own' },
    help: 'pause between iterations',
  },
  maxCost: {
    type: { kind: 'cost' },
    ...{ trust: false, fleet: 'stored', resume: 'adds', rescue: 'own' },
    help: 'money for the whole task, in US dollars',
  },
  maxCostPerDay: {
    type: { kind: 'cost' },
    fleet: { not: 'it counts the tasks of a vault; limit the task with --max-cost' },
    ...{ trust: false, resume: 'changes', rescue: 'own' },
    help: 'money for all tasks of the vault since midnight, in US dollars',
  },
  maxUsage: {
    type: { kind: 'percent' },
    ...{ trust: false, fleet: 'stored', resume: 'changes', rescue: 'own' },
    help: "stop when this much of the account's usage limit is used",
  },
  noProgressLimit: {
    type: { kind: 'count', min: 0 },
    default: '3',
    ...{ trust: false, fleet: 'stored', resume: 'changes', rescue: 'own' },
    help: 'iterations without progress before it stops; 0 never stops',
  },
  sameErrorLimit: {
    type: { kind: 'count', min: 0 },
    default: '3',
    ...{ trust: false, fleet: 'stored', resume: 'changes', rescue: 'own' },
    help: 'iterations that fail with the same error before it stops; 0 never stops',
  },
  retries: {
    type: { kind: 'count', min: 0 },
    default: '5',
    ...{ trust: false, fleet: 'stored', resume: 'changes', rescue: 'own' },
    help: 'quick retries after a temporary error, before one every 5 minutes',
  },
  maxWait: {
    type: { kind: 'duration', minMs: 0 },
    default: '6h',
    ...{ trust: false, fleet: 'stored', resume: 'changes', rescue: 'own' },
    help: 'how long a usage limit or an outage is waited for; 0 does not wait',
  },
  taskType: {
    argument: 'TYPE',
    type: { kind: 'text' },
    ...{ trust: false, fleet: 'stored', resume: 'fixed', rescue: 'own' },
    help: 'a set of limits by name: coding, weekly_audit, … (docs/settings.md)',
  },
} as const satisfies Readonly<Record<string, WrittenRow>>;

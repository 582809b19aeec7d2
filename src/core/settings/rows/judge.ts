import { AGENT_NAMES, AGENTS } from '../../agent/agents/agents.ts';
import type { SettingRow } from './setting-row.ts';

/** Whether a second agent judges a claim, which one, and by what. */
export const JUDGE_ROWS = {
  judge: {
    flag: '--judge',
    argument: 'AGENT[:MODEL]',
    type: { kind: 'text' },
    group: 'Completion',
    ...{ trust: true, fleet: 'stored', resume: 'changes', rescue: 'own', batch: 'line' },
    help: `an agent that reads a claimed tree and may hold the claim, once everything else has passed: ${AGENT_NAMES.filter((name) => AGENTS[name].judging !== null).join(', ')}`,
  },
  noJudge: {
    flag: '--no-judge',
    type: { kind: 'switch' },
    group: 'Completion',
    key: false,
    variable: false,
    ...{ trust: false, fleet: 'stored', resume: 'changes', rescue: 'own', batch: 'line' },
    help: 'without the judge; also for ralph resume',
  },
  judgeCommand: {
    flag: '--judge-command',
    argument: 'COMMAND',
    type: { kind: 'text' },
    group: 'Completion',
    ...{ trust: true, fleet: 'stored', resume: 'changes', rescue: 'program', batch: 'line' },
    help: 'the command of --judge command, split into words as a shell does; it reads the prompt on standard input and prints its answer',
  },
  criterion: {
    flag: '--criterion',
    argument: 'TEXT',
    type: { kind: 'texts' },
    group: 'Completion',
    ...{ trust: true, fleet: 'stored', resume: 'fixed', rescue: 'own', batch: 'line' },
    help: 'something that the judge looks for in the claimed tree; may be repeated (default: everything that the task asks for)',
  },
  criteria: {
    flag: '--criteria',
    argument: 'FILE',
    type: { kind: 'text' },
    group: 'Completion',
    ...{ trust: true, fleet: 'beside', resume: 'fixed', rescue: 'own', batch: 'line' },
    help: 'a file with criteria, read once: one for each list item, or for each line if it has no list',
  },
  judgeRounds: {
    flag: '--judge-rounds',
    argument: 'N',
    type: { kind: 'count', min: 1 },
    group: 'Completion',
    default: '3',
    ...{ trust: true, fleet: 'stored', resume: 'changes', rescue: 'own', batch: 'line' },
    help: 'how many claims the judge may hold; the next one that it would hold ends the task',
  },
} as const satisfies Readonly<Record<string, SettingRow>>;

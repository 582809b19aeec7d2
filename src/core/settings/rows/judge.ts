import { AGENT_NAMES, AGENTS } from '../../agent/agents/agents.ts';
import type { WrittenRow } from './setting-row.ts';

/** The settings for a judge: a second agent that examines the first one's claim of completion by criteria. */
export const JUDGE_ROWS = {
  judge: {
    argument: 'AGENT[:MODEL]',
    type: { kind: 'text' },
    ...{ trust: true, fleet: 'stored', resume: 'changes', rescue: 'own' },
    help: `an agent that reads a claimed tree and may hold the claim, once everything else has passed: ${AGENT_NAMES.filter((name) => AGENTS[name].judging !== null).join(', ')}`,
  },
  noJudge: {
    type: { kind: 'switch' },
    key: false,
    variable: false,
    ...{ trust: false, fleet: 'stored', resume: 'changes', rescue: 'own' },
    help: 'without the judge; also for ralph resume',
  },
  judgeCommand: {
    type: { kind: 'command', isSplit: true },
    ...{ trust: true, fleet: 'stored', resume: 'changes', rescue: 'program' },
    help: 'the command of --judge command, split into words as a shell does; it reads the prompt on standard input and prints its answer',
  },
  criterion: {
    argument: 'TEXT',
    type: { kind: 'texts', what: 'what has to hold' },
    ...{ trust: true, fleet: 'stored', resume: 'fixed', rescue: 'own' },
    help: 'something that the judge looks for in the claimed tree; may be repeated (default: everything that the task asks for)',
  },
  criteria: {
    argument: 'FILE',
    type: { kind: 'text' },
    ...{ trust: true, fleet: 'beside', resume: 'fixed', rescue: 'own' },
    help: 'a file with criteria, read once: one for each list item, or for each line if it has no list',
  },
  judgeRounds: {
    type: { kind: 'count', min: 1 },
    default: '3',
    ...{ trust: true, fleet: 'stored', resume: 'changes', rescue: 'own' },
    help: 'how many claims the judge may hold; the next one that it would hold ends the task',
  },
} as const satisfies Readonly<Record<string, WrittenRow>>;

import { AGENT_NAMES, AGENTS, type AgentName, isAgentName } from '../agent/agents/agents.ts';
import { namedText, textFor } from './agent-texts.ts';
import { isGiven, type SourcedSettings } from './setting-source.ts';
import { SETTINGS, type Settings } from './settings.ts';
import { shellWords } from './shell-words.ts';

/** The agent that judges whether a task is complete, once the task's own agent claims so. */
export interface Judge {
  readonly agent: AgentName;
  readonly model: string | null;
}

/** How many criteria for the judge are accepted at most. */
export const MOST_CRITERIA = 100;

/** The agents that ralph knows how to keep from writing while they judge. */
const JUDGES: readonly AgentName[] = AGENT_NAMES.filter((name) => AGENTS[name].judging !== null);

/** Reads `AGENT[:MODEL]`; null if it names no agent that can judge. */
function readJudge(text: string): Judge | null {
  const [, agent = '', model] = /^([^:]*)(?::([\s\S]*))?$/.exec(text.trim()) ?? [];
  if (!isAgentName(agent) || !JUDGES.includes(agent)) return null;
  return { agent, model: model === undefined || model === '' ? null : model };
}

/** Returns the judge of a task's claims; null if there is none. */
export function judgeOf({ judge, noJudge }: Pick<Settings, 'judge' | 'noJudge'>): Judge | null {
  return judge === null || noJudge ? null : readJudge(judge);
}

/**
 * Returns the program that `--agent-bin` names for the judge; null if it names none. A path without the name of an
 * agent counts only if the judge's agent also works on the task.
 */
export function judgeBin(
  { agent }: Judge,
  texts: readonly string[],
  workers: readonly AgentName[],
): string | null {
  const isWorker = workers.includes(agent);
  return textFor(isWorker ? texts : texts.filter((text) => namedText(text) !== null), agent);
}

/** The settings that say how the judge works. Their flags are a mistake if there is no judge. */
const OF_JUDGE = ['judgeCommand', 'criterion', 'criteria', 'judgeRounds'] as const;

/** Returns the contradictions between the settings of the judge, one sentence each. */
export function judgeProblems({ settings, sources }: SourcedSettings): readonly string[] {
  const { judge, noJudge, judgeCommand } = settings;
  // If a resume turns the judge off with --no-judge, the other settings of the judge may stay.
  if (noJudge) return [];
  if (judge === null) {
    return OF_JUDGE.filter((name) => sources[name].kind === 'flag').map(
      (name) => `${SETTINGS[name].flag} needs --judge, and it was not given.`,
    );
  }
  const { where } = sources.judge;
  const read = readJudge(judge);
  if (read === null) {
    const untried = isAgentName(judge.split(':')[0])
      ? '; nobody has tried yet how that agent is kept from writing'
      : '';
    return [
      `${where} expects ${JUDGES.join(', ')}, with :MODEL after it or without; found '${judge}'${untried}.`,
    ];
  }
  const problems: string[] = [];
  if (read.model?.trimStart().startsWith('-') === true) {
    problems.push(`${where} expects no model that begins with a dash; found '${read.model}'.`);
  }
  if (read.agent === 'command') {
    if (read.model !== null)
      problems.push(`${where} command takes no model; found '${read.model}'.`);
    const words = shellWords(judgeCommand ?? '');
    if (words === null) {
      problems.push(
        `${sources.judgeCommand.where} has a quote that is not closed: ${judgeCommand}`,
      );
    } else if (words.length === 0) {
      problems.push(
        `${where} command needs --judge-command "PROGRAM ARGUMENTS", and none was given.`,
      );
    }
  } else if (judgeCommand !== null && sources.judgeCommand.kind === 'flag') {
    problems.push(
      `${sources.judgeCommand.where} goes with --judge command; found ${where} ${read.agent}.`,
    );
  }
  if (settings.criterion.length > MOST_CRITERIA) {
    const { where: from } = sources.criterion;
    problems.push(
      `${from} expects at most ${MOST_CRITERIA} criteria; found ${settings.criterion.length}.`,
    );
  }
  if (settings.snapshots === false && isGiven(sources.snapshots)) {
    problems.push(
      `${where} and ${sources.snapshots.where} exclude each other: the judge reads a checkout that is made from the snapshot of the claim.`,
    );
  }
  return problems;
}

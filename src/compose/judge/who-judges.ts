import { criteriaOf } from '../../core/judge/criteria.ts';
import { textFor } from '../../core/settings/agent-texts.ts';
import type { RunPlan } from '../../effects/plan/run-plan.ts';
import { judgeNotice } from '../../report/notices.ts';

/** Returns a sentence: which agent judges a run, by how many criteria, and whether the same agent does the work. */
export function whoJudges({ policy, settings }: Pick<RunPlan, 'policy' | 'settings'>): string {
  const { judge, agents } = policy;
  if (judge === null) throw new Error('the run has no judge');
  const { agent, model } = judge;
  const isProgram = agent === 'command' && settings.judgeCommand !== settings.agentCommand;
  const isWorker = agents.includes(agent) && textFor(settings.model, agent) === model && !isProgram;
  return judgeNotice(judge, criteriaOf(settings.criterion).length, isWorker);
}

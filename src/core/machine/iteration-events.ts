import type { RefusedTool } from '../agent/attempt.ts';
import { describeOutcome } from '../agent/outcome.ts';
import type { Held, Judged } from '../completion/gates.ts';
import { oneLine } from '../text/untrusted-text.ts';
import type { Action, Answer, LoopState } from './loop-state.ts';

/** The event of a judged iteration. */
export function iteratedEvent({ task }: LoopState, answer: Pick<Answer, 'record' | 'outcome'>) {
  const { number, ...fields } = task.iterations.at(-1) ?? answer.record;
  return {
    event: 'task_iterated' as const,
    iteration: number,
    ...fields,
    detail: oneLine(describeOutcome(answer.outcome), 300),
  };
}

/** The further events of a judged iteration: a near miss, or a claim that a gate blocked. */
export function tell(answer: Answer, judged: Judged): readonly Action[] {
  const iteration = answer.record.number;
  const actions: Action[] = [];
  const { verdict } = answer;
  const isNear = verdict.kind === 'near-miss' || verdict.kind === 'in-doubt';
  if (isNear && judged.kind !== 'passed') {
    const why = verdict.kind === 'in-doubt' ? verdict.where : verdict.why;
    const line = oneLine(verdict.line, 200);
    actions.push({ kind: 'publish', body: { event: 'near_miss', iteration, line, why } });
  }
  if (judged.kind === 'held') {
    const detail = oneLine(describeHeld(judged.held), 300);
    const { gate } = judged.held;
    actions.push({ kind: 'publish', body: { event: 'claim_held', iteration, gate, detail } });
  }
  return actions;
}

/** One line for people: why a claim was not accepted. */
function describeHeld(held: Held): string {
  switch (held.gate) {
    case 'min-iterations':
      return `not before iteration ${held.from}`;
    case 'refused-tools':
      return `refused: ${describeTools(held.tools)}`;
    case 'protect':
      return `protected files have changed: ${held.files.slice(0, 5).join(', ')}`;
    case 'verify':
      return `${held.result.command} ${held.result.timedOut ? 'ran out of time' : `exited with ${held.result.exitCode ?? 'a signal'}`}`;
    case 'stopped-subagents':
      return `the system has stopped ${countOf(held.count)} before the end`;
    case 'confirm':
      return `confirmed ${held.so_far} of ${held.of} times`;
  }
}

function countOf(subAgents: number): string {
  return subAgents === 1 ? 'a sub-agent' : `${subAgents} sub-agents`;
}

export function describeTools(tools: readonly RefusedTool[]): string {
  return tools
    .slice(0, 5)
    .map(({ tool, target }) => (target === '' ? tool : `${tool}: ${target}`))
    .join('; ');
}

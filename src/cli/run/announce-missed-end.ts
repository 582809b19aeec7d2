import { announceMissedEnd } from '../../compose/resume/announce-missed-end.ts';
import type { RunPlan } from '../../effects/plan/run-plan.ts';
import { promptPreview } from '../../effects/plan/task-facts.ts';
import { stopCode } from '../../exit-codes.ts';
import { endedByBugs } from '../terminal/bugs.ts';
import { viewFor } from './start-run.ts';

/**
 * Announces the end of an earlier task whose process died before it could. Call this before a new run takes the task's
 * id. Resolves to an exit code if somebody stopped ralph meanwhile, so that nothing else is started; else to null.
 */
export async function announceEarlierEnd(
  plan: RunPlan,
  isTrusted: boolean,
): Promise<number | null> {
  const view = await viewFor(plan.settings, {
    agent: plan.policy.agent,
    asked: promptPreview(plan),
    task: { ...plan, needsTrust: false },
  });
  return stopCode(
    await endedByBugs((bugs) => announceMissedEnd({ plan, view, bugs }, { isTrusted })),
  );
}

import { announceMissedEnd } from '../../compose/resume/announce-missed-end.ts';
import type { RunPlan } from '../../effects/plan/run-plan.ts';
import { promptPreview } from '../../effects/plan/task-facts.ts';
import { stopCode } from '../../exit-codes.ts';
import { endedByBugs } from '../terminal/bugs.ts';
import { viewFor } from './start-run.ts';

/** Announces how an earlier task ended. Resolves to an exit code if ralph was stopped meanwhile, else to null. */
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

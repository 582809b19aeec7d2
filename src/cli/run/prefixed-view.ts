import type { RunPlan } from '../../effects/plan/run-plan.ts';
import { allowing, promptPreview } from '../../effects/plan/task-facts.ts';
import { sealAt } from '../../effects/trust/seal.ts';
import { plainView, quietView } from '../../report/terminal/plain.ts';
import type { RunView } from '../../report/terminal/view.ts';

/** Returns a view that starts each line with the task's id, because several tasks run in one process. */
export function viewOf(taskId: string, plan: RunPlan): RunView {
  const { settings, policy } = plan;
  const task = {
    ...plan,
    taskId,
    needsTrust: sealAt(plan, true).problem !== null,
    allowing: allowing(plan),
  };
  const sink = {
    write: (text: string): void => {
      process.stderr.write(text.replace(/^ralph: /gm, `ralph: ${taskId}: `));
    },
  };
  const telling = { agent: policy.agent, asked: promptPreview(plan), task };
  if (settings.quiet) return quietView(sink, telling);
  return plainView(sink, { verbose: settings.verbose, ...telling });
}

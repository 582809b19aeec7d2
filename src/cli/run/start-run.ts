import type { Resume } from '../../compose/held-run.ts';
import { startRun } from '../../compose/run.ts';
import { takeDetachedLog } from '../../core/settings/environment.ts';
import type { Settings } from '../../core/settings/settings.ts';
import type { RunPlan } from '../../effects/plan/run-plan.ts';
import { allowing, promptPreview } from '../../effects/plan/task-facts.ts';
import { sealAt } from '../../effects/trust/seal.ts';
import { worksOn } from '../../printed-command.ts';
import type { MessageContext } from '../../report/ending-lines.ts';
import { allOf, type RunView } from '../../report/terminal/view.ts';
import { sayPowers } from '../settings/found-config.ts';
import { isFound } from '../tasks/named-folders.ts';
import { endedByBugs } from '../terminal/bugs.ts';
import { announcements } from './run-notices.ts';

/** A run that is about to start or resume. */
export interface PlannedRun {
  readonly plan: RunPlan;
  readonly notices: readonly string[];
  /** Sentences about settings from a configuration file that the user has trusted; printed even with `--quiet`. */
  readonly powers?: readonly string[];
  /** Why the configuration file is refused; a dry run shows this and still runs. Absent if it is not refused. */
  readonly refusal?: string;
  readonly resume?: Resume;
  /** The command line that starts the run again as a background process. */
  readonly again: readonly string[];
}

/** Runs a plan and prints the result. Resolves to the exit code. */
export async function runPlan(run: PlannedRun): Promise<number> {
  worksOn(run.plan, isFound);
  const { plan, notices, powers = [], resume, again } = run;
  const { settings } = plan;
  if (settings.dryRun) {
    const { dryRun } = await import('./dry-run.ts');
    const refusals = run.refusal === undefined ? [] : [run.refusal];
    const isNew = resume === undefined;
    return dryRun({ plan, isNew, refusals, notices: [...powers, ...notices] });
  }
  const log = takeDetachedLog(process.env);
  if (settings.detach && log === null) {
    const { detach } = await import('./detach.ts');
    const code = await detach(plan, resume === undefined ? withTaskId(again, plan.taskId) : again);
    // If the background process did not start, `detach` has printed its log, which contains `powers`.
    if (code === 0) sayPowers(powers);
    return code;
  }
  sayPowers(powers);
  // If the key that signs the task cannot be created now, it cannot be created for the task either.
  const needsTrust = sealAt(plan, true).problem !== null;
  const task = { ...plan, needsTrust, allowing: allowing(plan) };
  const view = await viewFor(settings, {
    ...{ agent: plan.policy.agent, asked: promptPreview(plan) },
    task,
  });
  const views = log === null ? [view] : [view, await backgroundView(log, plan)];
  const { fields } = await endedByBugs((bugs) =>
    startRun({
      plan,
      view: allOf(views),
      bugs,
      isAttended: isLiveTerminal(),
      announcements: [...notices, ...announcements(plan)],
      ...(resume === undefined ? {} : { resume }),
      announceEnd({ status, final_message }) {
        if (!settings.json && status === 'completed') printResult(final_message ?? '');
      },
    }),
  );
  return fields.exit_code;
}

/** Adds the task's id to the arguments, because the background process must use the id that the caller sees. */
function withTaskId(argv: readonly string[], taskId: string): readonly string[] {
  const [command = 'run', ...words] = argv;
  return [command, '--task-id', taskId, ...words];
}

async function backgroundView(log: string, plan: RunPlan): Promise<RunView> {
  const { detachedView } = await import('./detach.ts');
  return detachedView(log, `${plan.stateDir}/${plan.taskId}`);
}

function printResult(message: string): void {
  if (message.trim() !== '')
    process.stdout.write(message.endsWith('\n') ? message : `${message}\n`);
}

/** Returns the views that the settings require, as one view. The code of other views is not loaded. */
export async function viewFor(settings: Settings, telling: MessageContext): Promise<RunView> {
  const { stderr, stdout } = process;
  const views: RunView[] = [];
  if (settings.json) {
    const { jsonView } = await import('../../report/terminal/plain.ts');
    views.push(jsonView(stdout));
  }
  if (settings.quiet) {
    const { quietView } = await import('../../report/terminal/plain.ts');
    views.push(quietView(stderr, telling));
  } else if (isLiveTerminal()) {
    const { liveView } = await import('../../report/terminal/live.ts');
    const { Chalk } = await import('chalk');
    const colorless = settings.noColor || Boolean(process.env.NO_COLOR);
    views.push(
      liveView({
        stream: stderr,
        colors: new Chalk({ level: colorless ? 0 : 1 }),
        term: process.env.TERM,
        verbose: settings.verbose,
        ...telling,
        nowMs: () => Date.now(),
      }),
    );
  } else {
    const { plainView } = await import('../../report/terminal/plain.ts');
    views.push(plainView(stderr, { ...telling, verbose: settings.verbose }));
  }
  return allOf(views);
}

/** On a terminal with fewer columns nothing is drawn; the terminals of some job runners report 0 columns. */
const NARROWEST_COLUMNS = 20;

function isLiveTerminal(): boolean {
  const { stderr } = process;
  return stderr.isTTY && stderr.columns >= NARROWEST_COLUMNS && process.env.TERM !== 'dumb';
}

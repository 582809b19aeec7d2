import { planRun, type Resume, type RunPlan, startRun } from '../../compose/run.ts';
import { describeCompletion } from '../../core/completion/conditions.ts';
import { judgePromise } from '../../core/completion/promise.ts';
import { takeDetachedLog } from '../../core/settings/environment.ts';
import type { Settings } from '../../core/settings/settings.ts';
import { ifOpen } from '../../core/task/if-open.ts';
import { defaultTaskId } from '../../core/task/task-id.ts';
import { hasUntoldEnd } from '../../core/task/task-state.ts';
import { oneLine } from '../../core/text/untrusted-text.ts';
import { isUntold, readNewestStep } from '../../effects/state/state-file.ts';
import { sealAt } from '../../effects/trust/seal.ts';
import { LeftToPersonError, UsageError } from '../../errors.ts';
import { exitCodeFor } from '../../exit-codes.ts';
import {
  notYoursEither,
  PERMISSIONS_NOTICE,
  promptStatesPromise,
  startLine,
  type Telling,
} from '../../report/messages.ts';
import { allOf, type View } from '../../report/terminal/view.ts';
import { personAt } from '../ask-person.ts';
import { endedByBugs } from '../bugs.ts';
import { resumeCommand as commandToResume, findTask } from '../find-task.ts';
import { type ReadFlags, readFlags } from '../flags/flags.ts';
import { placeOf, startFolder } from '../place.ts';
import { limitHeap } from '../run/heap-growth.ts';
import { collectSettings } from '../settings/collect.ts';
import { refusalOf, sayPowers } from '../settings/found-config.ts';

/** `ralph run`: checks everything, runs the task, prints the result. Resolves to the exit code. */
export async function runCommand(
  argv: readonly string[],
  help: () => Promise<number>,
): Promise<number> {
  const flags = readFlags(argv);
  if (flags.wantsHelp) return help();
  const startDir = startFolder();
  const collected = await collectSettings({
    flags: flags.layer,
    env: process.env,
    startDir,
    untrusted: 'show',
    ask: personAt(process.env),
  }).catch((error: unknown) => {
    if (!(error instanceof UsageError)) throw error;
    throw new UsageError([...error.problems, ...foreignTask(flags)]);
  });
  const { settings } = collected;
  const planned = await planRun({
    ...collected,
    passthrough: flags.passthrough,
    startDir,
    env: process.env,
    readStdin,
    newTaskId: () => defaultTaskId(new Date().toISOString(), Math.random()),
  });
  const problems = [
    ...flags.problems,
    ...collected.problems,
    ...(settings.resumeIfOpen && settings.taskId === null
      ? ['--resume-if-open needs --task-id, by which the open task is known; none was given.']
      : []),
    ...('problems' in planned ? planned.problems : []),
  ];
  if ('problems' in planned || problems.length > 0) {
    throw new UsageError([...problems, ...collected.notices].map((each) => oneLine(each, 2_000)));
  }
  const { plan } = planned;
  if (!settings.dryRun && hasUntold(plan)) {
    const { tellBeforeNew } = await import('../run/tell-untold.ts');
    const stopped = await tellBeforeNew(plan.taskId, plan, flags);
    if (stopped !== null) return stopped;
  }
  if (settings.resumeIfOpen && isOpen(plan)) {
    // To go on is asked for by a flag alone, so that this may be more than a plan.
    if (collected.untrusted !== null) throw new UsageError([refusalOf(collected.untrusted)]);
    const { resumeTask } = await import('./resume.ts');
    const { prompt, promptFile, taskId, taskType, config, ...layer } = flags.layer;
    return resumeTask(plan.taskId, plan, { ...flags, layer, isTrusted: false }, argv);
  }
  const { notices, powers } = collected;
  return runPlan({ plan, notices, powers, again: ['run', ...argv] });
}

/**
 * Whose configuration is refused is told, too, of a task that would be refused next: both may have come with
 * one repository. Only flags and variables say which task that is.
 */
function foreignTask({ layer }: ReadFlags): readonly string[] {
  const textOf = (name: 'taskId' | 'vault' | 'stateDir' | 'keyFile'): string | undefined => {
    const value = layer[name]?.value;
    return typeof value === 'string' ? value : undefined;
  };
  const taskId = textOf('taskId');
  if (taskId === undefined || layer.resumeIfOpen === undefined) return [];
  const [vault, stateDir, keyFile] = [textOf('vault'), textOf('stateDir'), textOf('keyFile')];
  const place = placeOf({
    ...(vault === undefined ? {} : { vault }),
    ...(stateDir === undefined ? {} : { stateDir }),
    ...(keyFile === undefined ? {} : { keyFile }),
  });
  try {
    const found = findTask(taskId, place);
    return found === null || found.isOwn ? [] : [notYoursEither(taskId, place.stateDir)];
  } catch {
    // It is told once its turn comes.
    return [];
  }
}

/** `ralph resume [ID]`, which is loaded only where it is asked for. */
export async function resumeCommand(
  argv: readonly string[],
  help: () => Promise<number>,
): Promise<number> {
  const resume = await import('./resume.ts');
  return resume.resumeCommand(argv, help);
}

/** Whether the last driver of this id died before it had told how its task ended. Never throws. */
function hasUntold(plan: RunPlan): boolean {
  try {
    const found = findTask(plan.taskId, plan);
    if (found === null || found.isInHistory || !found.isOwn) return false;
    return hasUntoldEnd(readNewestStep(found.paths, found.state, sealAt(plan)).state);
  } catch {
    // It is told by what comes next.
    return false;
  }
}

/**
 * Whether a task of this id waits to be gone on with, rather than having come to an end of its own. Throws a
 * `LeftToPersonError` where neither that nor a new run is for a line for cron to begin.
 */
function isOpen(plan: RunPlan): boolean {
  const found = findTask(plan.taskId, plan);
  if (found === null) return false;
  const { standing, state, isInHistory } = found;
  // Completed by a driver that died before it could say so: that is all that is left to do.
  if (standing === 'completed') return found.isOwn && (!isInHistory || isUntold(found.paths));
  if (isInHistory) return false;
  if (standing === 'live') return true;
  const what = ifOpen(standing, state.exit_reason);
  if (what === 'is refused') {
    const isBudget = standing === 'budget_spent';
    throw new LeftToPersonError(
      plan.taskId,
      isBudget ? standing : `${standing}: ${state.exit_reason}`,
      commandToResume(plan.taskId, standing),
      exitCodeFor(isBudget ? standing : 'stalled', state.exit_reason ?? ''),
    );
  }
  return what === 'goes on';
}

/** A run that is about to begin, or to go on. */
export interface PlannedRun {
  readonly plan: RunPlan;
  /** What was found odd on the way to the plan, one sentence each. */
  readonly notices: readonly string[];
  /** What a found configuration has in force: told of every start, a quiet one too. */
  readonly powers?: readonly string[];
  readonly resume?: Resume;
  /** The command line, for the process that goes on with it in the background. */
  readonly again: readonly string[];
}

/** Carries a plan out and prints the result. Resolves to the exit code. */
export async function runPlan(run: PlannedRun): Promise<number> {
  const { plan, notices, powers = [], resume, again } = run;
  const { settings } = plan;
  if (settings.dryRun) {
    const { dryRun } = await import('../run/dry-run.ts');
    return dryRun(plan, [...powers, ...notices]);
  }
  const log = takeDetachedLog(process.env);
  if (settings.detach && log === null) {
    const { detach } = await import('../run/detach.ts');
    const code = await detach(plan, resume === undefined ? withTaskId(again, plan.taskId) : again);
    // Where it has not started, the words of the background are shown, these among them.
    if (code === 0) sayPowers(powers);
    return code;
  }
  sayPowers(powers);
  // A key that cannot be made now could not be made for the task either.
  const needsTrust = sealAt(plan, true).problem !== null;
  const task = { ...plan, needsTrust };
  const view = await viewFor(settings, { agent: plan.policy.agent, task });
  const views = log === null ? [view] : [view, await backgroundView(log, plan)];
  const heap = limitHeap();
  try {
    const { fields } = await endedByBugs((bugs) =>
      startRun({
        plan,
        view: allOf(views),
        bugs,
        onOutput: heap.count,
        isAttended: isLiveTerminal(),
        announcements: [...notices, ...announcements(plan)],
        ...(resume === undefined ? {} : { resume }),
        tell({ status, final_message }) {
          if (!settings.json && status === 'completed') printResult(final_message ?? '');
        },
      }),
    );
    return fields.exit_code;
  } finally {
    heap.lift();
  }
}

/** The background has to run under the id that the caller is told. */
function withTaskId(argv: readonly string[], taskId: string): readonly string[] {
  const [command = 'run', ...words] = argv;
  return [command, '--task-id', taskId, ...words];
}

async function backgroundView(log: string, plan: RunPlan): Promise<View> {
  const { detachedView } = await import('../run/detach.ts');
  return detachedView(log, `${plan.stateDir}/${plan.taskId}`);
}

function printResult(message: string): void {
  if (message.trim() !== '')
    process.stdout.write(message.endsWith('\n') ? message : `${message}\n`);
}

/** What a person should know before the first iteration, one sentence each. */
export function announcements(plan: RunPlan): readonly string[] {
  const { policy } = plan;
  const start = startLine(plan.taskId, {
    maxIterations: policy.maxIterations,
    iterationTimeoutMs: policy.iterationTimeoutMs,
    taskTimeoutMs: plan.taskTimeoutMs,
    completion: describeCompletion(policy),
  });
  // A file's name may hold anything, line breaks too.
  return [start, ...planWarnings(plan)].map((each) => oneLine(each, 2_000));
}

/** What may not be what the user meant, one sentence each. */
export function planWarnings(plan: RunPlan): readonly string[] {
  const { policy, settings } = plan;
  const warnings: string[] = [];
  const allowsNothing =
    policy.agent === 'claude' &&
    settings.permissionMode === null &&
    settings.allowedTools.length === 0 &&
    !settings.dangerouslySkipPermissions &&
    plan.passthrough.length === 0;
  if (allowsNothing) warnings.push(PERMISSIONS_NOTICE);
  const { promise } = policy;
  const text = new TextDecoder().decode(plan.prompt);
  if (promise !== null && mayState(text, promise, policy)) {
    warnings.push(promptStatesPromise(promise));
  }
  return warnings;
}

/** Whether an agent that repeats this text would count as done, or be asked whether it is. */
function mayState(text: string, promise: string, { match }: RunPlan['policy']): boolean {
  const { kind } = judgePromise(text, promise, match, []);
  return kind === 'stated' || kind === 'in-doubt';
}

/** The views that the settings ask for; only what is needed is loaded. */
export async function viewFor(settings: Settings, telling: Telling): Promise<View> {
  const { stderr, stdout } = process;
  const views: View[] = [];
  if (settings.json) {
    const { jsonView } = await import('../../report/terminal/json.ts');
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

/** Job runners give terminals of no width at all, on which nothing can be drawn. */
const NARROWEST_COLUMNS = 20;

function isLiveTerminal(): boolean {
  const { stderr } = process;
  return stderr.isTTY && stderr.columns >= NARROWEST_COLUMNS && process.env.TERM !== 'dumb';
}

async function readStdin(): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

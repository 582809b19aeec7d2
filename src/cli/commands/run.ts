import { ifOpen } from '../../core/task/if-open.ts';
import { defaultTaskId } from '../../core/task/task-id.ts';
import { hasUntoldEnd } from '../../core/task/task-state.ts';
import { type RunPlan, requirePlan } from '../../effects/plan/run-plan.ts';
import { isUntold, readNewestStep } from '../../effects/state/state-file.ts';
import { type SealedPlace, sealAt } from '../../effects/trust/seal.ts';
import { LeftToPersonError, UsageError } from '../../errors.ts';
import { exitCodeFor } from '../../exit-codes.ts';
import { notYoursEither } from '../../report/messages.ts';
import { type ReadFlags, readFlags } from '../flags/flags.ts';
import { runPlan } from '../run/start-run.ts';
import { collectSettings } from '../settings/collect.ts';
import { refusalOf } from '../settings/found-config.ts';
import { resumeCommand as commandToResume, type FoundTask, findTask } from '../tasks/find-task.ts';
import { placeNamed, startFolder } from '../tasks/place.ts';
import { personAt } from '../terminal/ask-person.ts';

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
  const request = {
    ...collected,
    passthrough: flags.passthrough,
    startDir,
    env: process.env,
    readStdin,
    newTaskId: () => defaultTaskId(new Date().toISOString(), Math.random()),
  };
  const problems = [
    ...flags.problems,
    ...collected.problems,
    ...(settings.resumeIfOpen && settings.taskId === null
      ? ['--resume-if-open needs --task-id, by which the open task is known; none was given.']
      : []),
  ];
  const plan = await requirePlan(request, problems, collected.notices);
  let earlier = findEarlier(plan);
  if (!settings.dryRun && hasUntold(earlier, plan)) {
    const { tellBeforeNew } = await import('../run/tell-untold.ts');
    const stopped = await tellBeforeNew(plan.taskId, plan, flags);
    if (stopped !== null) return stopped;
    earlier = findEarlier(plan);
  }
  if (settings.resumeIfOpen && isOpen(earlier, plan)) {
    // A resume takes only the flags, so a dry run requested by a variable would become a real run here.
    if (collected.untrusted !== null) throw new UsageError([refusalOf(collected.untrusted)]);
    const { resumeTask } = await import('./resume.ts');
    const { prompt, promptFile, taskId, taskType, config, ...layer } = flags.layer;
    return resumeTask(plan.taskId, plan, { ...flags, layer, isTrusted: false }, argv);
  }
  const { notices, powers } = collected;
  return runPlan({ plan, notices, powers, again: ['run', ...argv] });
}

/**
 * If the configuration is refused, this adds a task that would be refused next, since both may have come
 * with the same repository. Only flags and variables name that task.
 */
function foreignTask({ layer }: ReadFlags): readonly string[] {
  const taskId = layer.taskId?.value;
  if (typeof taskId !== 'string' || layer.resumeIfOpen === undefined) return [];
  const place = placeNamed(layer);
  // An error is reported when the task is opened.
  const { found } = findEarlier({ ...place, taskId });
  return found === null || found.isOwn ? [] : [notYoursEither(taskId, place.stateDir)];
}

/** `ralph resume [ID]`, loaded only if needed. */
export async function resumeCommand(
  argv: readonly string[],
  help: () => Promise<number>,
): Promise<number> {
  const resume = await import('./resume.ts');
  return resume.resumeCommand(argv, help);
}

/** The task that has the id of a new run already, or why it cannot be read. */
interface Earlier {
  readonly found: FoundTask | null;
  readonly error?: unknown;
}

function findEarlier(place: SealedPlace & Pick<RunPlan, 'taskId'>): Earlier {
  try {
    return { found: findTask(place.taskId, place) };
  } catch (error) {
    return { found: null, error };
  }
}

/** Whether the last driver of this id died before it announced how its task ended. */
function hasUntold({ found }: Earlier, plan: RunPlan): boolean {
  if (found === null || found.isInHistory || !found.isOwn) return false;
  return hasUntoldEnd(readNewestStep(found.paths, found.state, sealAt(plan)).state);
}

/**
 * Whether a task of this id should be resumed instead of started again. Throws if it cannot be read, and a
 * `LeftToPersonError` if only a person may do either, not a cron job.
 */
function isOpen({ found, error }: Earlier, plan: RunPlan): boolean {
  if (error !== undefined) throw error;
  if (found === null) return false;
  const { standing, state, isInHistory } = found;
  // If the driver died after completing it, only the announcement is missing.
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

async function readStdin(): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

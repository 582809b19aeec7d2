import { rowOfState } from '../../core/task/endings.ts';
import { defaultTaskId } from '../../core/task/task-id.ts';
import { hasUntoldEnd } from '../../core/task/task-state.ts';
import { oneLine } from '../../core/text/untrusted-text.ts';
import { planRun, type RunPlan } from '../../effects/plan/run-plan.ts';
import { isUntold, readNewestStep } from '../../effects/state/state-file.ts';
import { sealAt } from '../../effects/trust/seal.ts';
import { LeftToPersonError, UsageError } from '../../errors.ts';
import { notYoursEither } from '../../report/messages.ts';
import { type ReadFlags, readFlags } from '../flags/flags.ts';
import { runPlan } from '../run/start-run.ts';
import { collectSettings } from '../settings/collect.ts';
import { refusalOf } from '../settings/found-config.ts';
import { resumeCommand as commandToResume, findTask } from '../tasks/find-task.ts';
import { placeOf, startFolder } from '../tasks/place.ts';
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
    // The error is reported when the task is opened.
    return [];
  }
}

/** `ralph resume [ID]`, loaded only if needed. */
export async function resumeCommand(
  argv: readonly string[],
  help: () => Promise<number>,
): Promise<number> {
  const resume = await import('./resume.ts');
  return resume.resumeCommand(argv, help);
}

/** Whether the last driver of this id died before it announced how its task ended. Never throws. */
function hasUntold(plan: RunPlan): boolean {
  try {
    const found = findTask(plan.taskId, plan);
    if (found === null || found.isInHistory || !found.isOwn) return false;
    return hasUntoldEnd(readNewestStep(found.paths, found.state, sealAt(plan)).state);
  } catch {
    // The next step reports the error.
    return false;
  }
}

/**
 * Whether a task of this id should be resumed instead of started again. Throws a `LeftToPersonError` if
 * only a person may do either, not a cron job.
 */
function isOpen(plan: RunPlan): boolean {
  const found = findTask(plan.taskId, plan);
  if (found === null) return false;
  const { standing, state, isInHistory } = found;
  // If the driver died after completing it, only the announcement is missing.
  if (standing === 'completed') return found.isOwn && (!isInHistory || isUntold(found.paths));
  if (isInHistory) return false;
  if (standing === 'live') return true;
  const ending = rowOfState(standing, state.exit_reason);
  if (ending?.ifOpen === 'is refused') {
    throw new LeftToPersonError(
      plan.taskId,
      standing === 'stalled' ? `${standing}: ${state.exit_reason}` : standing,
      commandToResume(plan.taskId, standing),
      ending.exitCode,
    );
  }
  return ending === null || ending.ifOpen === 'goes on';
}

async function readStdin(): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

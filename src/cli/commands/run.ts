import { requirePlan } from '../../effects/plan/run-plan.ts';
import { freeTaskId } from '../../effects/state/free-task-id.ts';
import { UsageError } from '../../errors.ts';
import { worksOn } from '../../printed-command.ts';
import { untrustedRefusal } from '../../report/screens/trust.ts';
import { type ReadFlags, readFlags } from '../flags/flags.ts';
import { hasUntoldEnd, isToBeResumed } from '../run/earlier-task.ts';
import { whyNoPrompt } from '../run/prompt-argument.ts';
import { runPlan } from '../run/start-run.ts';
import { collectSettings } from '../settings/collect.ts';
import { findTask } from '../tasks/find-task.ts';
import { foldersNamed, isFound, startFolder } from '../tasks/named-folders.ts';
import { personAt } from '../terminal/ask-person.ts';
import { readStdin } from '../terminal/outlet.ts';

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
  });
  const { settings } = collected;
  const isOpenTask = (id: string): boolean => isOpen(id, flags);
  const noPrompt = whyNoPrompt(flags.promptArgument, { startDir, name: 'run', isOpenTask });
  const problems = [
    ...flags.problems,
    ...collected.problems,
    ...(noPrompt === null ? [] : [noPrompt]),
    ...(settings.resumeIfOpen && settings.taskId === null
      ? ['--resume-if-open needs --task-id, by which the open task is known; none was given.']
      : []),
  ];
  const plan = await requirePlan(
    {
      ...collected,
      passthrough: flags.passthrough,
      startDir,
      env: process.env,
      readStdin,
      newTaskId: freeTaskId,
    },
    problems,
    collected.notices,
  );
  worksOn(plan, isFound);
  if (!settings.dryRun && hasUntoldEnd(plan)) {
    const { announceEarlierEnd } = await import('../run/announce-missed-end.ts');
    const stopped = await announceEarlierEnd(plan, false);
    if (stopped !== null) return stopped;
  }
  if (settings.resumeIfOpen && isToBeResumed(plan)) {
    // With an untrusted configuration, only a dry run gets here. The resume reads only flags, so a dry run that the
    // environment asks for would become a real one.
    if (collected.untrusted !== null) throw new UsageError([untrustedRefusal(collected.untrusted)]);
    const { resumeTask } = await import('./resume.ts');
    // The flags that are left out here apply only to a new task.
    const { prompt, promptFile, taskId, taskType, config, ...others } = flags.layer;
    const { worktree, base, worktreeDir, ...layer } = others;
    const asked = { ...flags, layer, isTrusted: false };
    return resumeTask(plan.taskId, plan, asked, ['run', ...argv]);
  }
  const { notices, powers, untrusted } = collected;
  const refusal = untrusted === null ? {} : { refusal: untrustedRefusal(untrusted) };
  return runPlan({ plan, notices, powers, ...refusal, again: ['run', ...argv] });
}

function isOpen(taskId: string, { layer }: ReadFlags): boolean {
  try {
    const found = findTask(taskId, foldersNamed(layer));
    return found !== null && !found.isInHistory && found.standing !== 'completed';
  } catch {
    // A state that cannot be read belongs to an existing task, too.
    return true;
  }
}

/** `ralph resume [ID]`: resumes a task. Loads the code for it only now. */
export async function loadResume(
  argv: readonly string[],
  help: () => Promise<number>,
): Promise<number> {
  const resume = await import('./resume.ts');
  return resume.runResume(argv, help);
}

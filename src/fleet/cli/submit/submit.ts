import { readFlagsWith } from '../../../cli/flags/flags.ts';
import { whyNoPrompt } from '../../../cli/run/prompt-argument.ts';
import { startFolder } from '../../../cli/tasks/named-folders.ts';
import { readStdin, say, signalled, standardOutlet } from '../../../cli/terminal/outlet.ts';
import { describeCompletion } from '../../../core/completion/conditions/conditions.ts';
import { readChecks, writeCheck } from '../../../core/settings/checks.ts';
import { writeDuration } from '../../../core/settings/duration.ts';
import { settingsFromEnvironment } from '../../../core/settings/environment.ts';
import { resolveSettings } from '../../../core/settings/resolve-settings.ts';
import { type Layer, textOf } from '../../../core/settings/setting-source.ts';
import { SETTINGS, type SettingName, snakeCase } from '../../../core/settings/settings.ts';
import { safeJson } from '../../../core/text/safe-json.ts';
import { oneLine } from '../../../core/text/untrusted-text.ts';
import { FleetError, UsageError } from '../../../errors.ts';
import { EXIT_ALREADY_ACTIVE } from '../../../exit-codes.ts';
import { commandHere, placeInFleet, worksOn } from '../../../printed-command.ts';
import { SUBMIT_SETTINGS, type SubmitLayer } from '../../core/submit-settings.ts';
import { submittedSettings } from '../../core/submitted-settings.ts';
import { renderSpec } from '../../report/fleet-spec.ts';
import { openNamed, wordsFor } from '../on-fleet.ts';
import { refuseInsideLoop, requireFleet } from '../which-fleet.ts';
import { followTask } from './follow-task.ts';
import { type Fleet, type TaskToQueue, variablesOfTask } from './planned-task.ts';
import { type PlanningWorld, planBatch, planOne } from './planned-tasks.ts';

/** The functions and values of the outside world that `ralph submit` needs. */
export interface SubmitWorld extends PlanningWorld {
  readonly env: NodeJS.ProcessEnv;
  readonly open: (url: string) => Promise<Fleet>;
  readonly say: (line: string) => void;
  readonly print: (text: string) => Promise<unknown>;
  /** Returns a signal that ends the following, with an exit code as its reason. */
  readonly stopFollowing: () => AbortSignal;
}

/** `ralph submit`: queues a task, or a batch of them. Resolves to the exit code. */
export async function submitCommand(
  argv: readonly string[],
  help: () => Promise<number>,
): Promise<number> {
  const outlet = standardOutlet();
  return submit(argv, help, {
    ...{ env: process.env, startDir: startFolder(), now: () => new Date() },
    ...{ random: Math.random, open: (url) => openNamed(url), readStdin, say },
    stopFollowing: signalled,
    print: (text) => outlet.write(text),
  });
}

/** Carries out `ralph submit` with the given world. Rejects with a `UsageError` or a `FleetError`. */
export async function submit(
  argv: readonly string[],
  help: () => Promise<number>,
  world: SubmitWorld,
): Promise<number> {
  const flags = readFlagsWith(argv, 'submit', SUBMIT_SETTINGS);
  if (flags.wantsHelp) return help();
  refuseInsideLoop(world.env);
  const { layer } = flags;
  const environment = settingsFromEnvironment(world.env);
  const variables = variablesOfTask(environment.layer);
  const { dryRun, json } = resolveSettings([layer, variables.layer]).settings;
  const asked = { layer, variables: variables.layer, passthrough: flags.passthrough };
  const problems = [...flags.problems];
  const noPrompt = whyNoPrompt(flags.promptArgument, {
    ...{ startDir: world.startDir, name: 'submit' },
    isOpenTask: () => false,
  });
  if (noPrompt !== null) problems.push(noPrompt);
  if (json && !dryRun && layer.json !== undefined) {
    problems.push(
      '--json needs --dry-run: ralph submit prints nothing but ids on standard output.',
    );
  }
  const planned =
    layer.batch === undefined
      ? await planOne(asked, world, problems)
      : await planBatch(asked, world, problems);
  const notices = [...variables.notices, ...environment.warnings];
  if (problems.length > 0) {
    throw new UsageError([...problems, ...notices].map((each) => oneLine(each, 2_000)));
  }
  for (const notice of notices) world.say(notice);
  if (dryRun) {
    await world.print(planned.map((task) => shownTask(task, json)).join(json ? '' : '\n'));
    return 0;
  }
  const named = textOf(layer.fleet);
  const url = requireFleet('submit', named === undefined ? {} : { fleet: named }, world.env);
  worksOn(placeInFleet('', wordsFor(named)));
  const queue = await world.open(url);
  try {
    return await queueTasks(queue, planned, layer, world);
  } finally {
    await queue.close();
  }
}

/** Queues the tasks, prints their ids, and follows the task of `--wait`. Resolves to the exit code. */
async function queueTasks(
  fleet: Fleet,
  planned: readonly TaskToQueue[],
  layer: Layer & SubmitLayer,
  { print, say: tell, stopFollowing }: SubmitWorld,
): Promise<number> {
  const submitted = await fleet.submit(planned.map(({ task }) => task));
  const taken = submitted.flatMap((each) => (each.kind === 'taken' ? [takenLine(each)] : []));
  if (taken.length > 0) throw new FleetError(taken.join('\n'), EXIT_ALREADY_ACTIVE);
  await print(submitted.map(({ taskId }) => `${taskId}\n`).join(''));
  for (const line of alreadyLines(submitted)) tell(line);
  const [only] = submitted;
  if (layer.wait === undefined || only === undefined) return 0;
  const stop = stopFollowing();
  const exitCode = await followTask(fleet, only.taskId, { say: tell, stop });
  if (exitCode !== null) return exitCode;
  tell(
    `The task '${only.taskId}' continues.\nto look at it: ${commandHere('status', only.taskId)}`,
  );
  return typeof stop.reason === 'number' ? stop.reason : 0;
}

type Submitted = Awaited<ReturnType<Fleet['submit']>>[number];

function takenLine({ taskId, isOpen }: Extract<Submitted, { kind: 'taken' }>): string {
  return isOpen
    ? `Nothing was queued: task '${taskId}' is still open in the fleet. Either its content differs, or --again was given, which only works for ended tasks. Use another --task-id, or stop it: ${commandHere('stop', taskId)}`
    : `Nothing was queued: task '${taskId}' has ended in the fleet with other content. Run it again with --again, or use another --task-id.`;
}

/** Returns a line about a single task that the fleet had already, or one with the number of such tasks of a batch. */
function alreadyLines(submitted: readonly Submitted[]): readonly string[] {
  const there = submitted.filter(({ kind }) => kind !== 'queued');
  if (submitted.length === 1) return there.map((each) => `${each.taskId}: ${already(each)}`);
  return there.length === 0
    ? []
    : [`${there.length} of ${submitted.length} tasks were in the fleet already.`];
}

function already(submitted: Submitted): string {
  return submitted.kind === 'already-ended'
    ? `already ended: ${submitted.status}`
    : 'already queued';
}

function shownTask({ task, policy }: TaskToQueue, isJson: boolean): string {
  const { spec, notBefore: not_before } = task;
  const completion = describeCompletion(policy);
  if (isJson) return `${safeJson({ spec, completion, not_before })}\n`;
  const settings = submittedSettings().map((name) => ({
    ...{ name: snakeCase(name), value: shownValue(name, spec.settings[name]?.value) },
    source: spec.settings[name]?.source ?? '',
  }));
  return renderSpec({ spec, completion, not_before, settings });
}

function shownValue(name: SettingName, value: unknown): unknown {
  const { type } = SETTINGS[name];
  if (type.kind === 'duration' && typeof value === 'number') return writeDuration(value);
  return type.kind === 'checks' ? readChecks(value)?.map(writeCheck) : value;
}

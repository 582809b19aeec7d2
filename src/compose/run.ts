import { randomUUID } from 'node:crypto';
import type { AgentName } from '../core/agent/agents/agents.ts';
import type { StopCause } from '../core/machine/loop-state.ts';
import type { Check } from '../core/settings/checks.ts';
import { laterBy } from '../core/task/task-state.ts';
import { withoutControls } from '../core/text/untrusted-text.ts';
import { childEnvironment, type GuardedRunner } from '../effects/agents/agent-runner.ts';
import { gitSetupJson } from '../effects/branches/commit/git-setup.ts';
import { findGitAbove } from '../effects/files/find-git-above.ts';
import { createGitLimits } from '../effects/git/git-limits.ts';
import { thisDriver } from '../effects/lock/driver-identity.ts';
import { createJournal } from '../effects/logs/journal.ts';
import { fixedPrompt, promptFile } from '../effects/plan/prompt-source.ts';
import type { RunPlan } from '../effects/plan/run-plan.ts';
import { settingsJson } from '../effects/plan/stored-settings.ts';
import { preventSleep } from '../effects/processes/keep-awake.ts';
import { watchSignals } from '../effects/processes/signals.ts';
import { watchRequests } from '../effects/state/requests.ts';
import { createStateStore } from '../effects/state/state-store.ts';
import { taskPaths } from '../effects/state/task-folder.ts';
import { startClock, systemClock } from '../effects/time/clock.ts';
import { type Seal, sealAt } from '../effects/trust/seal.ts';
import { watchPending } from '../effects/vault/pending-requests.ts';
import { ownFiles } from '../effects/vault/vault-folders.ts';
import { baselineJson } from '../effects/workspace/kept-baseline.ts';
import { createObserver, watchOf } from '../effects/workspace/observer.ts';
import type { Ports, Reporter, StateStore } from '../loop/ports.ts';
import { runLoop } from '../loop/run-loop.ts';
import type { RunEnd } from '../loop/stop.ts';
import {
  decidedBy,
  journalNotKept,
  notInSnapshots,
  stateNotKept,
  unsupportedFlagNotice,
} from '../report/notices.ts';
import { TaskAlreadyActiveError } from '../task-errors.ts';
import { agentKind, agentPrograms, agentRunner } from './agent.ts';
import { approvalDesk } from './approvals.ts';
import { requireStart } from './before-start.ts';
import { type ClaimedRun, READY, type RunOptions, type TaskTree } from './held-run.ts';
import { countDayOf, examinerOf, settlerOf } from './lazy-ports.ts';
import { legStops, legStore } from './leg-ports.ts';
import { noteWriter, proofKeeper } from './notes.ts';
import { holdTask } from './open-task.ts';
import type { openTaskTree } from './own-work-tree.ts';
import { rememberingChecks } from './proof/checks.ts';
import { decidersOfPlan, storedForm } from './proof/deciders.ts';
import { policyInside, sandboxOfRun } from './sandbox/sandbox-of-run.ts';
import { begin, resumeRun } from './start.ts';
import { taskFileDesk } from './task-file.ts';
import { childOf, commandRunners, userCommands } from './user-commands.ts';

/** Runs one new or resumed task to its end. Rejects with `TaskAlreadyActiveError`, or if it cannot be resumed. */
export async function startRun(
  options: RunOptions,
): Promise<RunEnd & { readonly stoppedBy: StopCause | null }> {
  const { plan, view } = options;
  const paths = taskPaths(plan.stateDir, plan.taskId);
  const warn = (sentence: string): void => view.notice(withoutControls(sentence));
  const driver = thisDriver(systemClock.now(), randomUUID());
  const { leg } = options;
  const asked = options.stops ?? watchSignals();
  const stops = leg === undefined ? asked : legStops(asked, leg);
  // A stopped worker of a fleet has until `--drain-timeout` to hand its work over, so git gets no limit for closing.
  const gitLimits = createGitLimits({ stops, ...(leg === undefined ? {} : { closingMs: null }) });
  const running = gitLimits.keepIn(async () => {
    const sandbox = await sandboxOfRun(plan, {
      programs: () => agentPrograms(plan),
      runId: driver.run_id,
      warn,
    });
    // A run that only announces how the task ended starts nothing, so nothing has to be checked.
    const isNeeded = options.resume?.announcesOnly !== true;
    const coming = { ...options, isNew: options.resume === undefined, signal: stops.signal };
    const { notices, opened } = isNeeded ? await requireStart(coming) : NOTHING_ASKED;
    const found = opened?.kind === 'repository' ? opened.repository : null;
    const hold = await holdTask(paths, plan.taskId, driver);
    try {
      if (isNeeded && plan.workTree === null) await sandbox.open();
      const known = { ...options, paths, warn, driver, stops, sandbox, found };
      const tree = await taskTree(known);
      for (const each of [...(options.announcements ?? []), ...notices]) warn(each);
      const { settings, taskId, gitEnv } = plan;
      const isWanted = settings.preventSleep ?? options.isAttended;
      const isAsked = settings.preventSleep === true;
      const awake = isWanted ? preventSleep({ taskId, env: gitEnv, isAsked }) : null;
      const clock = startClock();
      const run = { ...known, hold, tree, clock, gitLimits };
      const end = await tree
        .whileHeld(() => runHeld({ ...run, seal: sealOf(plan, warn) }))
        .finally(() => {
          awake?.close();
          clock.close();
        });
      if (hold.isLost()) throw new TaskAlreadyActiveError(plan.taskId, 'it has taken over');
      return { ...end, stoppedBy: stops.cause() };
    } finally {
      await sandbox.close();
      hold.release();
    }
  });
  return running.finally(() => {
    view.close();
    gitLimits.close();
    stops.close();
  });
}

const NOTHING_ASKED = { notices: [], opened: null };

/** Returns what signs the task. Warns if there is no key: the task runs, but its resume then needs a person's trust. */
function sealOf(plan: RunPlan, warn: (sentence: string) => void): Seal {
  const seal = sealAt(plan, true);
  if (seal.problem !== null) {
    warn(`This task cannot be signed, so resuming it needs --trust: ${seal.problem}`);
  }
  return seal;
}

async function runHeld(run: ClaimedRun): Promise<RunEnd> {
  const { plan, view, paths, warn, stops, leg } = run;
  const { policy } = plan;
  const watch = watchOf(policy, {
    cwd: plan.cwd,
    existing: plan.settings.watchExisting,
    donePath: plan.donePath,
    isOwn: ownFiles(plan.vault, plan.stateDir),
  });
  const inSandbox = plan.settings.sandbox === true;
  const kindOf = (name: AgentName) =>
    agentKind(name, { ...plan, prefixArgs: run.agentPrefixArgs, inSandbox });
  // The first snapshot is part of the task's time, so the time limit is set now. A resume corrects it with a save.
  run.gitLimits.setDeadline(laterBy(systemClock.now(), plan.taskTimeoutMs));
  const start =
    run.resume === undefined ? await begin(run, watch) : await resumeRun({ ...run, kindOf }, watch);
  for (const name of policy.agents) kindOf(name).interferences?.().forEach(warn);
  const sandbox = run.resume?.announcesOnly === true ? null : await run.sandbox.open();

  const journal = createJournal(paths.eventsFile, (error) =>
    warn(journalNotKept(paths.eventsFile, error)),
  );
  const requests = watchRequests(paths.folder, run.seal);
  requests.stop.addEventListener('abort', () => stops.request('request'));
  stops.signal.addEventListener('abort', () => view.doing?.({ kind: 'stop' }));
  const taskFile = await taskFileDesk(run, start);
  let runner: GuardedRunner | null = null;
  try {
    const store = await createStateStore({
      paths,
      seal: run.seal,
      clock: run.clock,
      task: start.state.task,
      files: {
        prompt: plan.prompt,
        settings: settingsJson(plan),
        baseline: baselineJson(start.baseline, watch),
        gitSetup: start.gitSetup === null ? null : gitSetupJson(start.gitSetup),
        deciders: await storedForm(start.deciders),
      },
      warn,
      onFailure: (error) => warn(stateNotKept(error)),
      syncEvents: journal.sync,
    });
    run.hold.keep(store, stops);
    const reporter: Reporter = {
      publish(event) {
        journal.append(event);
        view.event(event);
      },
      wants: (what) =>
        what === 'agent-text' ? view.showsText : view.showsActivity || journal.hasRoom(what),
      agentText: (text) => view.agentText(text),
      say: (what) => warn(unsupportedFlagNotice(what)),
      doing: (what) => view.doing?.(what),
    };
    if (run.resume === undefined) {
      const { watched, unwatched } = await decidersOfPlan(plan, start.deciders);
      if (watched.length > 0) warn(decidedBy(watched));
      if (unwatched.length > 0) warn(notInSnapshots(unwatched));
    }
    if (policy.judge !== null && run.resume?.announcesOnly !== true) {
      const { whoJudges } = await import('./judge/who-judges.ts');
      warn(whoJudges(plan));
    }
    // The last process may have died between saving these events and publishing them.
    for (const event of start.untold) reporter.publish(event);
    // The events go to the disk now: the next save may overwrite the stored step that contains them.
    await journal.sync();
    const child = childOf(plan, run.driver.run_id);
    runner = agentRunner(run, kindOf, child, sandbox);
    let iteration = start.state.task.current_iteration;
    const agent = runner;
    const {
      run: runCommand,
      measure,
      check,
      runEnd,
    } = commandRunners({ plan, child, stops, sandbox, iteration: () => iteration });
    const { keeper } = start.tree;
    const isResumed = run.resume !== undefined;
    const asked = start.state.task.approval?.file ?? null;
    const observer = createObserver(
      {
        ...watch,
        isResumed,
        git: start.tree.progress,
        pending: watchPending(plan.vault, plan.taskId, { isResumed, asked }),
        run(command, input) {
          keeper?.loseTree();
          return runCommand(command, input);
        },
        measure(command) {
          keeper?.loseTree();
          return measure(command);
        },
      },
      start.baseline,
    );
    const runCheck = async (each: Check) => {
      observer.disturb();
      const result = await check(each);
      if (iteration === 0) await observer.beginAgain();
      return result;
    };
    const verify = rememberingChecks(keeper, runCheck, () => iteration);
    const ports: Ports = {
      agent: {
        run(request) {
          iteration = request.iteration;
          return agent.run(request).finally(taskFile.putBack);
        },
        close: (hurry) => agent.close(hurry),
      },
      store: withDeadline(leg === undefined ? store : legStore(store, leg), run),
      prompt:
        plan.promptFile === null
          ? fixedPrompt(plan.prompt)
          : promptFile(plan.promptFile, plan.prompt, warn),
      snapshots: start.tree.snapshots,
      settler: settlerOf(run, start, sandbox),
      examiner: examinerOf(run, start, sandbox, () => childEnvironment(child, iteration)),
      observer,
      // In a fleet, the worker itself runs the `--on-end` command, once the end of the task is stored.
      commands: userCommands(verify, observer.run, leg === undefined ? runEnd : null, warn),
      keepProof: proofKeeper(run, keeper),
      moveToDone: taskFile.moveToDone,
      ...{ countDay: countDayOf(run), takeMet: async () => (await sandbox?.takeMet()) ?? null },
      requests,
      approvals: leg?.approvals ?? approvalDesk(plan, paths, warn),
      notes: noteWriter(run),
      reporter,
      clock: run.clock,
      stops,
      bugs: AbortSignal.any([run.bugs ?? [], leg?.dropped ?? []].flat()),
      abandon: () => stops.request('request'),
    };
    leg?.opened(keeper);
    const end = await runLoop(ports, start.state, start.event, policyInside(policy, sandbox));
    view.close();
    run.announceEnd?.(end.fields);
    await store.published();
    return end;
  } finally {
    runner?.dismissGuard();
    taskFile.close();
    requests.close();
    journal.close();
  }
}

/** Ends hanging git processes at the task's time limit, even if no agent is running. */
function withDeadline(store: StateStore, { gitLimits }: ClaimedRun): StateStore {
  const save: StateStore['save'] = (state, events) => {
    gitLimits.setDeadline(state.task.timeout_at);
    return store.save(state, events);
  };
  return { ...store, save };
}

/** Opens the task's work tree. Outside a repository, its code is not loaded. */
async function taskTree(run: Parameters<typeof openTaskTree>[0]): Promise<TaskTree> {
  const { workTree, cwd } = run.plan;
  if (workTree === null && findGitAbove(cwd) === null) return NO_TREE;
  const own = await import('./own-work-tree.ts');
  return own.openTaskTree(run);
}

const NO_TREE: TaskTree = {
  ready: async () => READY,
  discard: async () => {},
  whileHeld: (run) => run(),
};

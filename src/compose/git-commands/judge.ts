import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { ToJudge } from '../../core/completion/examination.ts';
import type { JudgeVerdict } from '../../core/judge/verdict.ts';
import { storedPolicy } from '../../core/policy/policy-of.ts';
import type { CheckProof, ProofFacts } from '../../core/proof/statement.ts';
import { withoutFleet } from '../../core/settings/environment.ts';
import { judgeProblems } from '../../core/settings/judge-setting.ts';
import { groupOf, resolveSettings } from '../../core/settings/resolve-settings.ts';
import { type Layer, withSettings } from '../../core/settings/setting-source.ts';
import { settingNames } from '../../core/settings/settings.ts';
import { changesSinceStart } from '../../core/snapshots/timeline.ts';
import { laterBy } from '../../core/task/task-state.ts';
import { claimLanding } from '../../effects/branches/landing-claim.ts';
import { inOwnTree } from '../../effects/branches/own-tree.ts';
import { realPath } from '../../effects/files/real-path.ts';
import { withFrozenCriteria } from '../../effects/plan/run-plan.ts';
import { readStoredPrompt, requireStoredRun } from '../../effects/plan/stored-settings.ts';
import { watchSignals } from '../../effects/processes/signals.ts';
import { systemClock } from '../../effects/time/clock.ts';
import { UsageError } from '../../errors.ts';
import { agentKind } from '../agent.ts';
import { missingJudge } from '../judge/judge-kind.ts';
import { judgeTree } from '../judge/judging.ts';
import { type NamedTask, openTaskSnapshots } from './task-snapshots.ts';

/** A completed task to judge. */
export interface TaskToJudge extends NamedTask {
  /** The settings for the judge that the command line gives; all others are those of the task. */
  readonly given: Layer;
  readonly proof: ProofFacts | null;
  readonly env: NodeJS.ProcessEnv;
  readonly startDir: string;
  readonly warn: (sentence: string) => void;
  /** Called once if a process that also uses this repository's checkouts must end first; `pid` is its pid, if known. */
  readonly onWait: (pid: number | null) => void;
}

/** Lets a judge (an agent) look at the final files of a task. Rejects with a `UsageError` or a `CommandError`. */
export async function judgeTask(task: TaskToJudge): Promise<JudgeVerdict> {
  const { state, paths, warn } = task;
  const plan = await planToJudge(task);
  const { judge } = plan.policy;
  if (judge === null) throw new Error('a judge was required');
  const missing = missingJudge(plan, judge, agentKind);
  if (missing !== null) throw new UsageError([`${missing}.`]);
  const snapshots = await openTaskSnapshots(task, randomUUID(), false);
  const { git, store } = snapshots.keeper;
  const { from: start, to: tree } = changesSinceStart(snapshots.timeline) ?? {
    from: snapshots.newest.tree,
    to: snapshots.newest.tree,
  };
  const own = state.git.work_tree;
  const isOwnTree = own !== null && realPath(own.path) === realPath(git.repository.root);
  const folder = mkdtempSync(path.join(tmpdir(), 'ralph-judge-'));
  const stops = watchSignals();
  let ended: (() => void) | null = null;
  try {
    ended = await claimLanding(git.repository, stops.signal, task.onWait);
    const { verdict } = await judgeTree(
      {
        plan: isOwnTree ? { ...plan, cwd: inOwnTree(own, plan.cwd) } : plan,
        ...{ judge, git, start, tree, folder, stops, warn },
        head: store.head?.commit ?? null,
        iteration: state.metrics.iterations,
        stateFile: paths.stateFile,
        sandbox: null,
        kindOf: agentKind,
      },
      toldOf(task.proof, laterBy(systemClock.now(), plan.settings.timeout)),
    );
    return verdict;
  } finally {
    ended?.();
    stops.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Returns what the judge has to know of the task. Settings on this command line replace those of the task. */
async function planToJudge({ state, paths, given, env, startDir }: TaskToJudge) {
  const stored = requireStoredRun(paths.folder, state);
  const resolved = resolveSettings([given]);
  const taken = settingNames().filter((name) =>
    groupOf(name).some((member) => given[member] !== undefined),
  );
  const isNamedNow = given.judgeCommand !== undefined || given.agentBin !== undefined;
  const hasCriteria = given.criterion !== undefined || given.criteria !== undefined;
  const names = hasCriteria ? [...taken, 'criterion' as const, 'criteria' as const] : taken;
  const problems = [...resolved.problems];
  const merged = withSettings(stored, resolved, names);
  const asked = { ...merged, settings: { ...merged.settings, noJudge: false } };
  const run = await withFrozenCriteria(asked, startDir, problems);
  problems.push(...judgeProblems(run));
  const { settings } = run;
  if (settings.judge === null) {
    problems.push('ralph judge expects --judge AGENT, since the task has no judge; found none.');
  }
  if (settings.sandbox === true) {
    problems.push(
      'ralph judge starts the judge outside of the sandbox, and this task runs in one: give the judge to its run, with ralph run --judge.',
    );
  }
  if (problems.length > 0) throw new UsageError(problems);
  return {
    ...{ taskId: state.task_id, settings, env: withoutFleet(env) },
    policy: storedPolicy(state, run),
    prompt: readStoredPrompt(paths.folder, state),
    // A program that this command names is looked for from this command's folder.
    startDir: isNamedNow ? startDir : stored.startDir,
    cwd: path.resolve(stored.startDir, settings.cwd ?? '.'),
  };
}

function toldOf(proof: ProofFacts | null, taskDeadlineAt: string): ToJudge {
  const { checks = [], changedTestFiles = [] } = proof ?? {};
  return {
    checks: checks.filter(({ where }) => where === 'work-tree').map(asJudgedCheck),
    changed: changedTestFiles,
    known: null,
    taskDeadlineAt,
  };
}

function asJudgedCheck(check: CheckProof): ToJudge['checks'][number] {
  const { name, command, hasPassed, tests, baseline } = check;
  const passed = check.known_failures.length > 0 ? 'known-failures' : 'passed';
  return {
    ...{ name, command, now: { verdict: hasPassed ? passed : 'failed', tests } },
    atStart: baseline === 'not-run' ? null : { verdict: baseline, tests: null },
  };
}

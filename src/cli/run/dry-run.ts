import path from 'node:path';
import { locateAgent } from '../../compose/agent.ts';
import { lookAhead } from '../../compose/before-start.ts';
import { decidersOfPlan } from '../../compose/proof/deciders.ts';
import { SIGN_NAMES } from '../../core/agent/sign.ts';
import { describeCompletion, doneWhen } from '../../core/completion/conditions/conditions.ts';
import { buildAddition } from '../../core/prompt/prompt.ts';
import type { SandboxRules } from '../../core/sandbox/rules.ts';
import { writeCheck } from '../../core/settings/checks.ts';
import { writeDuration } from '../../core/settings/duration.ts';
import {
  SETTINGS,
  type SettingName,
  settingNames,
  snakeCase,
} from '../../core/settings/settings.ts';
import { isTold, SIGNS } from '../../core/supervisor/signs.ts';
import { toldAt } from '../../core/supervisor/supervisor.ts';
import { type Policy, withPolicy } from '../../core/task/policy.ts';
import { safeJson } from '../../core/text/safe-json.ts';
import type { RunPlan } from '../../effects/plan/run-plan.ts';
import { EXIT_USAGE } from '../../exit-codes.ts';
import { notInSnapshots } from '../../report/notices.ts';
import { type PlanFacts, renderPlan } from '../../report/screens/plan.ts';
import { planWarnings } from './run-notices.ts';

/** A run that `--dry-run` only shows. */
export interface DryRun {
  readonly plan: RunPlan;
  readonly isNew: boolean;
  /** Why the run would be refused, as far as planning has shown, one sentence each. */
  readonly refusals: readonly string[];
  readonly notices: readonly string[];
}

/** `--dry-run`: prints what a run would do. Starts and writes nothing. Resolves to 2 if the run would be refused. */
export async function dryRun(run: DryRun): Promise<number> {
  const { plan, isNew } = run;
  const { refusals, notices } = await lookAhead({ plan, isNew });
  const facts = await planFacts(plan, {
    refusals: [...run.refusals, ...refusals.map(({ message }) => message)],
    notices: [...run.notices, ...notices],
  });
  const { json, verbose } = plan.settings;
  process.stdout.write(
    json
      ? `${safeJson(facts, 2)}\n`
      : renderPlan({ ...facts, completion: doneWhen(plan.policy) }, verbose),
  );
  return facts.refusals.length === 0 ? 0 : EXIT_USAGE;
}

const EXAMPLE_OUTPUT = '(the output of the previous iteration)';

async function planFacts(
  plan: RunPlan,
  { refusals, notices }: Pick<DryRun, 'refusals' | 'notices'>,
): Promise<PlanFacts> {
  const { policy } = plan;
  const agents = policy.agents.map((name) => ({ name, ...locateAgent(name, plan) }));
  const programs = agents.flatMap(({ argv, missing }) =>
    missing === null ? argv.slice(0, 1) : [],
  );
  const sandbox = await plannedSandbox(plan, programs);
  const prompt = new TextDecoder('utf-8', { ignoreBOM: true }).decode(plan.prompt);
  // In a continued session the agent remembers its own output, so the prompt does not repeat that.
  const output = policy.session === 'continue' ? null : EXAMPLE_OUTPUT;
  const carry = { output, wasCut: false, missing: [], hints: [] };
  const told = sandbox?.rules == null ? policy : withSandbox(policy, sandbox.rules);
  const deciders = await decidersOfPlan(plan);
  return {
    task_id: plan.taskId,
    refusals,
    task_type: plan.taskType,
    completion: describeCompletion(policy),
    full_iterations: fullIterations(plan),
    max_iterations: policy.maxIterations,
    argv: agents[0]?.argv ?? [],
    further_agents: agents.slice(1).map(({ name, argv }) => ({ agent: name, argv })),
    cwd: plan.cwd,
    first_prompt: prompt + buildAddition(told, carry, 1),
    continuation_prompt: prompt + buildAddition(told, carry, 2),
    settings: settingNames().map((name) => ({
      name: snakeCase(name),
      value: shownValue(name, plan),
      source: plan.sources[name].where,
    })),
    deciders: deciders.watched,
    judge: await plannedJudge(plan),
    supervision: supervisionOf(plan),
    sandbox,
    writes: writes(plan),
    warnings: [
      ...notices,
      ...planWarnings(plan),
      ...(deciders.unwatched.length > 0 ? [notInSnapshots(deciders.unwatched)] : []),
      ...agents.flatMap(({ missing }) =>
        missing === null ? [] : [`Cannot start the agent: ${missing}.`],
      ),
    ],
  };
}

async function plannedSandbox(
  plan: RunPlan,
  programs: readonly string[],
): Promise<PlanFacts['sandbox']> {
  if (plan.settings.sandbox !== true) return null;
  const { sandboxRulesOf } = await import('../../compose/sandbox/plan-sandbox.ts');
  return sandboxRulesOf(plan, programs);
}

async function plannedJudge(plan: RunPlan): Promise<PlanFacts['judge']> {
  const { judge } = plan.policy;
  if (judge === null) return null;
  const { criteriaOf } = await import('../../core/judge/criteria.ts');
  return { ...judge, criteria: criteriaOf(plan.settings.criterion) };
}

/** Adds the sandbox to the settings of the run. The sandbox's version can be empty, as the prompt does not name it. */
function withSandbox(policy: Policy, rules: SandboxRules): Policy {
  return withPolicy(policy, { inSandbox: { rules, version: '' } });
}

/** Returns a setting's value as a user would write it; for an absent value, the one that the run would use. */
function shownValue(name: SettingName, plan: RunPlan): unknown {
  const inForce: Partial<Record<SettingName, unknown>> = {
    agent: plan.policy.agents.join(','),
    promise: plan.policy.promise,
    askBack: plan.policy.askBack,
    doneFolder: plan.policy.doneFolder,
    iterationTimeout: plan.policy.iterationTimeoutMs,
    taskId: plan.taskId,
    taskType: plan.taskType,
    vault: plan.vault,
    stateDir: plan.stateDir,
    cwd: plan.cwd,
  };
  if (name === 'verify') return plan.settings.verify.map(writeCheck);
  if (name === 'model' || name === 'agentBin') {
    const [text = null, ...further] = plan.settings[name];
    return further.length === 0 ? text : plan.settings[name];
  }
  const value = inForce[name] ?? plan.settings[name];
  const isDuration = SETTINGS[name].type.kind === 'duration';
  return isDuration && typeof value === 'number' ? writeDuration(value) : value;
}

/** Returns how many iterations of full length, with delays between them, fit into the time limit of the whole task. */
function fullIterations({ policy, taskTimeoutMs }: RunPlan): number {
  const { iterationTimeoutMs, delayMs } = policy;
  return Math.floor((taskTimeoutMs + delayMs) / (iterationTimeoutMs + delayMs));
}

function supervisionOf({ policy, settings }: RunPlan): PlanFacts['supervision'] {
  return SIGN_NAMES.map((sign) => {
    const most = settings.supervise ? settings[SIGNS[sign].setting] : null;
    const cutAt = most === 0 ? null : most;
    return {
      sign,
      told_at: cutAt === null || !SIGNS[sign].isToldFirst ? null : toldAt(cutAt),
      cut_at: cutAt,
      off_for: policy.agents.filter((agent) => !isTold(sign, agent)),
    };
  });
}

function writes(plan: RunPlan): PlanFacts['writes'] {
  const state = path.join(plan.stateDir, plan.taskId);
  return [
    { path: `${state}.json`, what: 'the state of the task' },
    { path: `${state}/`, what: 'the prompt, the settings, and every byte the agent writes' },
    { path: path.join(plan.stateDir, 'events.jsonl'), what: 'every event, one on each line' },
    {
      path: path.join(plan.stateDir, 'history/'),
      what: 'all of these, after the task is completed',
    },
    {
      path: path.join(plan.vault, 'Needs_Action', `RALPH_*_${plan.taskId}_*.md`),
      what: 'a note for a human, if the task does not end well',
    },
    {
      path: path.join(plan.vault, 'Pending_Approval', `APPROVAL_${plan.taskId}_*.md`),
      what: 'a request to a person, if the agent asks for an approval',
    },
    ...ownTree(plan),
    ...taskFileMoves(plan),
  ];
}

function ownTree({ workTree }: RunPlan): PlanFacts['writes'] {
  if (workTree === null) return [];
  const { path: place, branch, base, onto } = workTree;
  const from = `${base.slice(0, 12)}${onto === null ? '' : ` (${onto})`}`;
  return [
    { path: place, what: `a work tree of its own, on the new branch ${branch} from ${from}` },
  ];
}

function taskFileMoves({ taskFile, vault, policy }: RunPlan): PlanFacts['writes'] {
  if (taskFile === null) return [];
  const name = path.basename(taskFile);
  return [
    { path: path.join(vault, 'In_Progress', name), what: 'the task file, while the task runs' },
    {
      path: path.join(policy.doneFolder, name),
      what: 'the task file, after the task is completed',
    },
  ];
}

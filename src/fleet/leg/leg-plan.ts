import { existsSync } from 'node:fs';
import path from 'node:path';
import { settle } from '../../compose/settings.ts';
import type { Layer, Written } from '../../core/settings/setting-source.ts';
import { type RunPlan, requirePlan } from '../../effects/plan/run-plan.ts';
import { specSettings } from '../core/fleet-spec.ts';
import type { FleetSpec } from '../core/fleet-task.ts';
import { isSandboxed } from '../core/worker-policy.ts';
import type { LegWorld } from './leg-world.ts';
import type { LegFolder } from './worker-home.ts';

/**
 * Plans a worker's run of a task from the task's stored settings alone, without configuration files or the worker's
 * variables. Rejects with a `UsageError` if the task cannot be run as it was submitted.
 */
export async function planLeg(
  spec: FleetSpec,
  { tree, stateDir }: LegFolder,
  world: Pick<LegWorld, 'env' | 'accounts' | 'policy' | 'hidden'>,
): Promise<RunPlan> {
  const cwd = spec.subdir === null ? tree : path.join(tree, spec.subdir);
  const source = { kind: 'flag', where: 'the worker' } as const;
  const own: Layer = {
    taskId: { value: spec.task_id, source },
    prompt: { value: spec.prompt, source },
    vault: { value: tree, source },
    stateDir: { value: stateDir, source },
    cwd: { value: cwd, source },
  };
  // The type's settings are stored already. If a row was written by hand without some, the type must not add them.
  const { taskType: _, ...stored } = specSettings(spec);
  const settled = await settle({
    flags: { ...stored, ...sandboxLayer(world, tree), ...own },
    ...{ variables: {}, config: {}, taskTypes: {}, startDir: tree },
  });
  const request = {
    ...settled,
    taskType: spec.task_type,
    passthrough: spec.passthrough,
    startDir: tree,
    env: { ...legEnvironment(world.env), ...world.accounts?.get(spec.account) },
    newTaskId: () => spec.task_id,
  };
  return requirePlan(request, [...settled.valueProblems, ...settled.problems]);
}

/** Returns the worker's environment without the variables that lead to the database or mark the processes of a run. */
export function legEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => !/^(PG|RALPH_FLEET|RALPH_RUN_ID)/.test(name)),
  );
}

/** Returns the policy's sandbox settings, which no task can change, and hides the files of `hidden` in the sandbox. */
function sandboxLayer(
  { policy, hidden }: Pick<LegWorld, 'policy' | 'hidden'>,
  tree: string,
): Layer {
  const { sandbox } = policy;
  if (!isSandboxed(policy)) return sandbox;
  const source = { kind: 'config', where: 'the policy of the worker' } as const;
  const all = (written: Written | undefined, more: readonly string[]): Written => {
    const given = Array.isArray(written?.value) ? written.value : [];
    return { value: [...given, ...more], source };
  };
  return {
    ...sandbox,
    denyRead: all(
      sandbox.denyRead,
      hidden.filter((file) => existsSync(file)),
    ),
    allowRead: all(sandbox.allowRead, [tree]),
  };
}

import { settle } from '../../src/compose/settings.ts';
import { layerOf } from '../../src/core/settings/setting-source.ts';
import { type RunPlan, requirePlan } from '../../src/effects/plan/run-plan.ts';

/** Plans the task `t` as a worker of a fleet does: in a folder, by settings of which no file says anything. */
export async function legPlan(
  folder: string,
  env: Readonly<Record<string, string>>,
  settings: Readonly<Record<string, unknown>> = {},
): Promise<RunPlan> {
  const given = {
    prompt: 'Fix it',
    cwd: folder,
    vault: folder,
    taskId: 't',
    delay: 0,
    ...settings,
  };
  const settled = await settle({
    flags: layerOf(given, () => ({ kind: 'flag', where: 'the test' })),
    variables: {},
    config: {},
    taskTypes: {},
    startDir: folder,
  });
  const request = { passthrough: [], startDir: folder, env: { ...env }, newTaskId: () => 't' };
  return requirePlan({ ...settled, ...request });
}

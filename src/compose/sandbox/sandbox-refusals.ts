import { existsSync } from 'node:fs';
import type { RunPlan } from '../../effects/plan/run-plan.ts';
import { examineSandbox } from '../../effects/sandbox/examine.ts';
import { planSandbox } from '../../effects/sandbox/surroundings.ts';
import { SandboxError } from '../../errors.ts';
import { sandboxRequest } from './sandbox-request.ts';

/** Returns why `--sandbox` would be refused in a folder, one sentence each. Opens no sandbox. */
export async function sandboxRefusals(
  cwd: string,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<readonly string[]> {
  return (await examineSandbox(cwd, env, signal)).map((error) => error.message);
}

/** Returns why the sandbox of a run would be refused, as far as this can be told without opening one. */
export async function refusalsOfRun(
  plan: RunPlan,
  programs: () => readonly string[],
  signal: AbortSignal = new AbortController().signal,
): Promise<readonly SandboxError[]> {
  const refusals = await examineSandbox(plan.cwd, plan.env, signal);
  // The task's own work tree may not exist yet, or not be complete.
  if (plan.workTree !== null || !existsSync(plan.cwd)) return refusals;
  try {
    await planSandbox(await sandboxRequest(plan, programs()));
    return refusals;
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
    return refusals.some(({ message }) => message === error.message)
      ? refusals
      : [...refusals, error];
  }
}

import { COMPONENT_VERSION } from '../../core/sandbox/refusals.ts';
import { type Policy, withPolicy } from '../../core/task/policy.ts';
import type { RunPlan } from '../../effects/plan/run-plan.ts';
import type { Sandbox } from '../../effects/sandbox/sandbox.ts';
import type { LaterChecks, LaterSandbox, RunInSandbox, RunSandbox } from './run-sandbox.ts';

/** Returns the sandbox of a run, not yet opened. Its code is loaded only with `--sandbox`. */
export async function sandboxOfRun(plan: RunPlan, run: RunInSandbox): Promise<RunSandbox> {
  if (plan.settings.sandbox !== true) return NO_SANDBOX;
  const { createRunSandbox } = await import('./run-sandbox.ts');
  return createRunSandbox(plan, run);
}

const NO_SANDBOX = {
  require: async () => {},
  open: async () => null,
  denied: async () => [],
  close: async () => {},
} satisfies RunSandbox & LaterSandbox;

/** Returns the sandbox, not yet opened, for checks after a task's run. `checks` is null if its settings are unknown. */
export async function laterSandbox(checks: LaterChecks | null): Promise<LaterSandbox> {
  if (checks === null) return NO_SANDBOX;
  const { sandbox, sandboxChecks } = checks.stored.settings;
  if (sandbox !== true || !sandboxChecks) return NO_SANDBOX;
  const { createLaterSandbox } = await import('./run-sandbox.ts');
  return createLaterSandbox(checks);
}

/** Returns the policy of a run with the rules of its sandbox, so that the prompt and the state can name them. */
export function policyInside(policy: Policy, sandbox: Sandbox | null): Policy {
  if (sandbox === null) return policy;
  const { rules } = sandbox;
  return withPolicy(policy, { inSandbox: { rules, version: COMPONENT_VERSION } });
}

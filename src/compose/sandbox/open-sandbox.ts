import { fileURLToPath } from 'node:url';
import {
  openPlannedSandbox,
  requireSandboxUser,
} from '../../effects/sandbox/open-planned-sandbox.ts';
import type { Sandbox } from '../../effects/sandbox/sandbox.ts';
import {
  planSandbox,
  type SandboxPlan,
  type SandboxRequest,
} from '../../effects/sandbox/surroundings.ts';

/** With what a sandbox is opened; the request says what for. */
export interface SandboxOptions extends SandboxRequest {
  /** The value of `RALPH_RUN_ID` in the environment of what the run starts. */
  readonly runId: string;
  readonly warn: (sentence: string) => void;
}

/** An open sandbox with the plan that it follows. */
export interface OpenedSandbox {
  readonly sandbox: Sandbox;
  readonly plan: SandboxPlan;
}

/**
 * Plans a sandbox, opens it and shows that it holds. Rejects with a `SandboxError` otherwise. Import this
 * file only with `--sandbox`: nothing else loads the code of the sandbox.
 */
export async function openSandbox(options: SandboxOptions): Promise<OpenedSandbox> {
  requireSandboxUser();
  const plan = await planSandbox(options);
  const sandbox = await openPlannedSandbox({
    plan,
    env: options.env,
    runId: options.runId,
    helperProgram: fileURLToPath(new URL('sandbox-helper.js', import.meta.url)),
    warn: options.warn,
  });
  return { sandbox, plan };
}

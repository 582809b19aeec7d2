import { fileURLToPath } from 'node:url';
import {
  openPlannedSandbox,
  requireSandboxUser,
} from '../../effects/sandbox/open-planned-sandbox.ts';
import type { Sandbox } from '../../effects/sandbox/sandbox.ts';
import { planSandbox, type SandboxRequest } from '../../effects/sandbox/surroundings.ts';

/** What is needed to open a sandbox, in addition to the request for its rules. */
export interface SandboxOptions extends SandboxRequest {
  /** The value of `RALPH_RUN_ID` in the environment of the processes that the run starts. */
  readonly runId: string;
  readonly warn: (sentence: string) => void;
}

/** Plans, opens and tests a sandbox. Rejects with a `SandboxError`. Import this file only with `--sandbox`. */
export async function openSandbox(options: SandboxOptions): Promise<Sandbox> {
  requireSandboxUser();
  const plan = await planSandbox(options);
  return openPlannedSandbox({
    plan,
    env: options.env,
    runId: options.runId,
    helperProgram: fileURLToPath(new URL('sandbox-helper.js', import.meta.url)),
    warn: options.warn,
  });
}

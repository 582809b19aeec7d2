import { existsSync } from 'node:fs';
import type { SandboxRules } from '../../core/sandbox/rules.ts';
import type { RunPlan } from '../../effects/plan/run-plan.ts';
import { variablesInside } from '../../effects/sandbox/inner-environment.ts';
import { requireSandboxUser } from '../../effects/sandbox/open-planned-sandbox.ts';
import { futureTemporaryFolder } from '../../effects/sandbox/run-folder.ts';
import { planSandbox } from '../../effects/sandbox/surroundings.ts';
import { SandboxError } from '../../errors.ts';
import { sandboxRequest } from './sandbox-request.ts';

/** The rules of a run's sandbox. Each of `refusals` says why the sandbox would be refused, or its rules are unknown. */
export interface PlannedRules {
  /** Null if the rules are unknown: something is missing, or the work tree does not exist yet. */
  readonly rules: SandboxRules | null;
  readonly refusals: readonly string[];
  /** The variables that the sandbox sets; for the `XXXXXX` in their values, random letters are chosen at the start. */
  readonly variables: Readonly<Record<string, string>>;
}

/** Returns what the sandbox of a run would allow and deny, without opening it. */
export async function sandboxRulesOf(
  plan: RunPlan,
  programs: readonly string[],
): Promise<PlannedRules> {
  const refusals: string[] = [];
  const variables = variablesInside(futureTemporaryFolder());
  const note = (error: unknown): null => {
    if (!(error instanceof SandboxError)) throw error;
    refusals.push(error.message);
    return null;
  };
  try {
    requireSandboxUser();
  } catch (error) {
    note(error);
  }
  if (!existsSync(plan.cwd)) {
    refusals.push(`The rules are known once the work tree is there: ${plan.cwd}.`);
    return { rules: null, refusals, variables };
  }
  const planned = await planSandbox(await sandboxRequest(plan, programs)).catch(note);
  return { rules: planned?.rules ?? null, refusals, variables };
}

import { existsSync } from 'node:fs';
import type { SandboxRule, SandboxRules } from '../../core/sandbox/rules.ts';
import type { SourcedSettings } from '../../core/settings/setting-source.ts';
import type { RunPlan } from '../../effects/plan/run-plan.ts';
import { requireSandboxUser } from '../../effects/sandbox/open-planned-sandbox.ts';
import { planSandbox, type SandboxRequest } from '../../effects/sandbox/surroundings.ts';
import { ownFiles } from '../../effects/vault/vault-folders.ts';
import { protectedFiles } from '../../effects/workspace/baseline.ts';
import { watchOf } from '../../effects/workspace/observer.ts';
import { SandboxError } from '../../errors.ts';

/** The rules of the sandbox of a run, and why it would be refused or they are not known, one sentence each. */
export interface PlannedRules {
  /** Null if the rules cannot be known: something is missing, or the work tree is not made yet. */
  readonly rules: SandboxRules | null;
  readonly refusals: readonly string[];
}

/** Returns what the sandbox of a run would allow and deny. Opens none. */
export async function sandboxRulesOf(
  plan: RunPlan,
  programs: readonly string[],
): Promise<PlannedRules> {
  const refusals: string[] = [];
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
    return { rules: null, refusals };
  }
  const planned = await planSandbox(await sandboxRequest(plan, programs)).catch(note);
  return { rules: planned?.rules ?? null, refusals };
}

/** Returns for what the sandbox of a run is asked; `programs` are the absolute paths of its agents. */
async function sandboxRequest(plan: RunPlan, programs: readonly string[]): Promise<SandboxRequest> {
  const { cwd, vault, stateDir, policy, keyFile, env, promptFile } = plan;
  const watch = watchOf(policy, {
    cwd,
    existing: plan.settings.watchExisting,
    donePath: plan.donePath,
    isOwn: ownFiles(vault, stateDir),
  });
  return {
    ...{ cwd, vault, stateDir, keyFile, env },
    doneFolder: policy.doneFolder,
    fixed: [
      ...(promptFile === null ? [] : [promptFile]),
      ...programs,
      ...(await protectedFiles(watch)),
    ],
    agents: policy.agents,
    asked: askedRules(plan),
  };
}

function askedRules({ settings, sources }: SourcedSettings): SandboxRequest['asked'] {
  const rules = (
    name: 'allowWrite' | 'denyRead' | 'allowRead' | 'allowNet' | 'keepEnv',
  ): readonly SandboxRule[] =>
    settings[name].map((value) => ({ value, from: sources[name].where }));
  return {
    allowWrite: rules('allowWrite'),
    denyRead: rules('denyRead'),
    allowRead: rules('allowRead'),
    allowNet: rules('allowNet'),
    keepEnv: rules('keepEnv'),
    unixSockets: settings.allowUnixSockets,
    checksInside: settings.sandboxChecks,
  };
}

import type { SandboxRule } from '../../core/sandbox/rules.ts';
import type { SourcedSettings } from '../../core/settings/setting-source.ts';
import type { RunPlan } from '../../effects/plan/run-plan.ts';
import type { SandboxRequest } from '../../effects/sandbox/surroundings.ts';
import { ownFiles } from '../../effects/vault/vault-folders.ts';
import { protectedFiles } from '../../effects/workspace/baseline.ts';
import { watchOf } from '../../effects/workspace/observer.ts';

/** Returns the request for the sandbox of a run. `programs` are the programs of its agents. */
export async function sandboxRequest(
  plan: RunPlan,
  programs: readonly string[],
): Promise<SandboxRequest> {
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
    agents: [
      ...new Set([...policy.agents, ...(policy.judge === null ? [] : [policy.judge.agent])]),
    ],
    asked: askedRules(plan),
  };
}

/** Returns the sandbox rules that the user asked for in addition to the defaults. */
export function askedRules({ settings, sources }: SourcedSettings): SandboxRequest['asked'] {
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

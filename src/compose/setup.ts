// The door to the effects for the commands around a run: `init` and `doctor`.

import { claudeAgent } from '../effects/claude-agent.ts';
import { commandAgent } from '../effects/command-agent.ts';

// biome-ignore lint/performance/noBarrelFile: this room is the only door to the effects
export { askVersion } from '../effects/ask-version.ts';
export { freeBytes, probeFolder } from '../effects/folder-probe.ts';
export { probeGit } from '../effects/git-probe.ts';
export { findLoginSigns } from '../effects/login-signs.ts';
export { findOtherLoops } from '../effects/other-loops.ts';
export { findStaleLocks } from '../effects/stale-locks.ts';
export { leadsOut, VAULT_FOLDERS } from '../effects/vault-folders.ts';
export { liesIn, makeVaultFolders, type SetUp, writeNewConfig } from '../effects/vault-setup.ts';

export interface AgentSearch {
  /** The program of a command agent and its arguments; null for `claude`. */
  readonly words: readonly string[] | null;
  readonly claudeBin: string | null;
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

/** Where the agent's program lies, or where it was looked for in vain; nothing is started. */
export function findAgent(
  search: AgentSearch,
): { readonly file: string } | { readonly missing: string } {
  const { words, claudeBin, cwd, env } = search;
  const kind =
    words === null
      ? claudeAgent({
          bin: claudeBin,
          prefixArgs: [],
          model: null,
          permissionMode: null,
          allowedTools: [],
          skipPermissions: false,
          passthrough: [],
          cwd,
          env,
        })
      : commandAgent({ words, passthrough: [], cwd, env });
  return kind.locate({ resumeSession: null, budgetUsd: null });
}

import { readdirSync } from 'node:fs';
import path from 'node:path';
import { AGENTS, type AgentName } from '../../core/agent/agents/agents.ts';
import { agentsFolders } from '../../core/sandbox/default-rules.ts';

/**
 * Returns what lies in the folders of agents and is not their own state, such as a script that the user's
 * settings name, and what other sessions run of it. All of these paths exist.
 */
export function foreignEntries(
  agents: readonly AgentName[],
  facts: Parameters<typeof agentsFolders>[1],
): readonly string[] {
  return agents.flatMap((name) => {
    const { state } = AGENTS[name].sandbox;
    if (state === null) return [];
    const folders = agentsFolders([name], facts);
    const others = folders.flatMap(entriesOf).filter((each) => !isNamed(each, state.names));
    const ofSessions = folders.flatMap((folder) =>
      state.ofSessions.flatMap((each) => entriesOf(path.join(folder, each))),
    );
    return [...others, ...ofSessions];
  });
}

function isNamed(entry: string, names: readonly string[]): boolean {
  return names.includes(path.basename(entry));
}

/** Nobody runs a socket or a pipe, and opening one would wait. */
function entriesOf(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((each) => each.isFile() || each.isDirectory() || each.isSymbolicLink())
      .map(({ name }) => path.join(folder, name));
  } catch {
    return [];
  }
}

import { lstatSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { AGENTS, type AgentName } from '../../core/agent/agents/agents.ts';
import { agentsFolders } from '../../core/sandbox/default-rules.ts';
import { SandboxError } from '../../errors.ts';
import { ifPossible } from '../files/if-possible.ts';

/** The limit for programs and data files together: each becomes a mount of every command, and many mounts are slow. */
const AT_MOST = 200;
/** Data files, the first to be left out: nothing runs them, and some plug-ins write one for each session. */
const DATA = /\.(?:jsonl?|log)$/;
/** How many entries of each session folder count, newest first: older sessions have ended and run nothing anymore. */
const NEWEST_SESSIONS = 50;

/**
 * Returns the entries in the agents' folders that a sandbox has to protect: those that are not the agent's own state,
 * such as a script that the user's settings name, and the newest entries of its folders for sessions. All of these
 * paths exist. Throws a `SandboxError` if too many of the entries may be programs.
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
    const data = others.filter((each) => DATA.test(each));
    const programs = others.filter((each) => !DATA.test(each));
    if (programs.length > AT_MOST) refuse(folders, programs.length);
    const ofSessions = folders.flatMap((folder) =>
      state.ofSessions.flatMap((each) => newest(entriesOf(path.join(folder, each)))),
    );
    return [...programs, ...data.slice(0, AT_MOST - programs.length), ...ofSessions];
  });
}

function refuse(folders: readonly string[], count: number): never {
  throw new SandboxError({
    code: 'wrong-path',
    sentence: `--sandbox cannot hold ${folders.join(' and ')}: ${count} entries there may be programs and not the agent's own state, and at most ${AT_MOST} can be kept as they are. Move them into one folder there, or remove what you no longer need.`,
  });
}

function newest(places: readonly string[]): readonly string[] {
  return places
    .map((place) => ({
      place,
      changed: lstatSync(place, { throwIfNoEntry: false })?.mtimeMs ?? 0,
    }))
    .sort((a, b) => b.changed - a.changed)
    .slice(0, NEWEST_SESSIONS)
    .map(({ place }) => place);
}

function isNamed(entry: string, names: readonly string[]): boolean {
  return names.includes(path.basename(entry));
}

/** Returns a folder's files, folders and symbolic links. Nothing runs sockets or pipes, and opening one would block. */
function entriesOf(folder: string): readonly string[] {
  const entries = ifPossible(() => readdirSync(folder, { withFileTypes: true })) ?? [];
  return entries
    .filter((each) => each.isFile() || each.isDirectory() || each.isSymbolicLink())
    .map(({ name }) => path.join(folder, name));
}

import { AGENT_NAMES, AGENTS } from '../agent/agents/agents.ts';

/** The names of all agents' instruction files, since a judge may be a command that starts any agent. */
const INSTRUCTING: ReadonlySet<string> = new Set(
  AGENT_NAMES.flatMap((name) => AGENTS[name].judging?.instructedBy ?? []).map((name) =>
    name.toLowerCase(),
  ),
);

/** Matches `.env` files, which some agents load from their folder. They can set another service or system prompt. */
const ENVIRONMENT = /^\.env(?:\..+)?$/;

/** Whether a path is or lies in a file or folder that instructs an agent, or is a `.env` file. Ignores case. */
export function isInstructing(path: string): boolean {
  return path.split('/').some((part) => {
    const name = part.toLowerCase();
    return INSTRUCTING.has(name) || ENVIRONMENT.test(name);
  });
}

/** Returns the changes by path that give `claimed` the instruction files of `start`; null deletes a new file. */
export function instructionsOfStart<Entry>(
  start: ReadonlyMap<string, Entry>,
  claimed: ReadonlyMap<string, Entry>,
): ReadonlyMap<string, Entry | null> {
  const changes = new Map<string, Entry | null>();
  for (const path of claimed.keys()) {
    if (isInstructing(path) && !start.has(path)) changes.set(path, null);
  }
  for (const [path, entry] of start) {
    if (isInstructing(path) && claimed.get(path) !== entry) changes.set(path, entry);
  }
  return changes;
}

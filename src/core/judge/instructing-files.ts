import { AGENT_NAMES, AGENTS } from '../agent/agents/agents.ts';

/** What instructs any agent: a judge may be a command that starts another one. */
const INSTRUCTING: ReadonlySet<string> = new Set(
  AGENT_NAMES.flatMap((name) => AGENTS[name].judging?.instructedBy ?? []).map((name) =>
    name.toLowerCase(),
  ),
);

/** Some agents load them from their folder: they can name another service, or another system prompt. */
const ENVIRONMENT = /^\.env(?:\..+)?$/;

/** Whether a path is a file that instructs an agent, or lies in such a folder. Some file systems ignore case. */
export function isInstructing(path: string): boolean {
  return path.split('/').some((part) => {
    const name = part.toLowerCase();
    return INSTRUCTING.has(name) || ENVIRONMENT.test(name);
  });
}

/**
 * Returns what has to change in a claimed tree so that the files that instruct an agent are those of the start: the
 * entry of the start by path, null for a file that is new.
 */
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

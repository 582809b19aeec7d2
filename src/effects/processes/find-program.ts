import { accessSync, constants, statSync } from 'node:fs';
import path from 'node:path';
import { AGENT_NAMES, AGENTS } from '../../core/agent/agents/agents.ts';
import { isFile } from '../files/file-kinds.ts';
import { ifPossible } from '../files/if-possible.ts';

export interface ProgramSearch {
  /** A bare name is looked up on PATH; a name with a slash is a path relative to `cwd`. */
  readonly name: string;
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly further: readonly string[];
}

/** Finds an executable file, or returns a sentence that says where ralph looked for it. */
export function findProgram(search: ProgramSearch): { readonly file: string } | AgentMissing {
  const { name, cwd } = search;
  if (name.includes('/')) {
    const file = path.resolve(cwd, name);
    return isExecutable(file) ? { file } : notExecutable(file);
  }
  const onPath = (search.env.PATH ?? '/usr/bin:/bin').split(path.delimiter);
  const folders = [...onPath, ...search.further].filter((folder) => folder !== '');
  for (const folder of folders) {
    const file = path.resolve(cwd, folder, name);
    if (isExecutable(file)) return { file };
  }
  return { missing: `${name} was not found in ${[...new Set(folders)].join(', ')}` };
}

function notExecutable(file: string): AgentMissing {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats === undefined) return { missing: `${file} is not there` };
  const why = stats.isFile() ? 'it may not be executed (chmod +x)' : 'it is no file';
  return { missing: `${file} is there, but cannot be started: ${why}`, isThere: true };
}

function isExecutable(file: string): boolean {
  return isFile(file) && ifPossible(() => accessSync(file, constants.X_OK)) !== null;
}

export interface AgentCommand {
  readonly file: string;
  readonly args: readonly string[];
}

export interface PlacedCommand extends AgentCommand {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
}

/** The command to start so that another command runs in the sandbox. */
export interface ConfinedCommand extends AgentCommand {
  readonly env: NodeJS.ProcessEnv;
  /** Returns the exit code that the shell in the sandbox saw, null if it saw none. Call this once, at the end. */
  readonly exitCodeInside?: () => number | null;
  /** Call this after the command has ended and before git runs outside: it removes symlinks that would mislead git. */
  readonly ended?: () => void;
  /** Removes the files made for this command alone. Call this once, when none of its processes is alive. */
  readonly discard?: () => Promise<void>;
}

/** Returns the command to start so that a command runs in the sandbox; the same command if it runs outside. */
export type Confine = (command: PlacedCommand) => Promise<ConfinedCommand>;

/** The program is missing or cannot be started; `missing` says in a sentence where ralph looked, or why it fails. */
export interface AgentMissing {
  readonly missing: string;
  /** Set if a file of this name is there. */
  readonly isThere?: true;
}

/** Variables that make a child agent believe it runs inside another one. */
const NOT_FOR_THE_CHILD = AGENT_NAMES.flatMap((name) => AGENTS[name].nestingVariables);

/** Returns a copy of an environment without the variables of an agent that ralph runs inside. */
export function forAgent(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const own = { ...env };
  for (const name of Object.keys(own)) {
    const isOfAgent = NOT_FOR_THE_CHILD.some((each) =>
      typeof each === 'string' ? each === name : each.test(name),
    );
    if (isOfAgent) delete own[name];
  }
  return own;
}

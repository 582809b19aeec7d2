import type { AgentFolder } from '../agent/agent.ts';
import { AGENT_NAMES, AGENTS, type AgentName } from '../agent/agents/agents.ts';
import { droppedVariables } from './dropped-variables.ts';
import { FIXED_IN_GIT, FIXED_IN_TREE } from './fixed-names.ts';
import { hostOfAddress } from './net-rules.ts';
import { below, isAtOrBelow } from './places.ts';
import { type AskedRules, BY_DEFAULT, type SandboxRule, type SandboxRules } from './rules.ts';
import {
  DESKTOP_SOCKETS,
  SECRETS_IN_HOME,
  SERVICE_SOCKETS,
  VARIABLES_OF_SECRETS,
} from './unreadable.ts';

/** A folder in which git keeps the data of a repository, a submodule or a work tree. */
export interface GitFolder {
  readonly path: string;
  /** Whether this folder belongs to an additional work tree, whose hooks and settings are in another folder. */
  readonly isOfWorkTree: boolean;
  readonly hooks: string;
  /** Whether the surrounding repository tracks the files of this folder, for example as data for its tests. */
  readonly isTracked: boolean;
}

/** The facts from which the rules are made. Paths are absolute, without symbolic links, and need not exist. */
export interface Surroundings {
  readonly home: string | null;
  readonly workFolder: string;
  /** The root of the work tree; outside a repository the work folder. */
  readonly treeRoot: string;
  /** The folder of git that all work trees share; null outside a repository. */
  readonly commonGitFolder: string | null;
  readonly gitFolders: readonly GitFolder[];
  /** The `.git` files of work trees and submodules. */
  readonly gitLinks: readonly string[];
  /** Places that can be read although they lie in folders that are hidden by default. All of them exist. */
  readonly shown: readonly string[];
  /** The folders of the vault (the folder of task files) in which the agent moves files. */
  readonly vaultFolders: readonly string[];
  /** Folders with state files or a person's answers. The agent may not write them; they exist before it starts. */
  readonly fixedFolders: readonly string[];
  /** Everything else that only ralph or a person writes: the prompt, protected files, the agent's program. */
  readonly fixed: readonly string[];
  /** The folder of the key with which ralph marks state files as written by this user; null without a home folder. */
  readonly keyFolder: string | null;
  readonly namedKey: string | null;
  readonly agents: readonly AgentName[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Returns the rules of a sandbox: the default rules, combined with those that the user asked for. */
export function sandboxRules(facts: Surroundings, asked: AskedRules): SandboxRules {
  const { workFolder, commonGitFolder, env } = facts;
  const rows = facts.agents.map((name) => AGENTS[name].sandbox);
  const folders = agentsFolders(facts.agents, facts);
  const loginVariables = rows.flatMap((row) => row.loginVariables);
  const addresses = rows
    .flatMap((row) => row.addressVariables)
    .map((name) => hostOfAddress(env[name] ?? ''));
  const loginFiles = inHome(
    facts,
    rows.flatMap((row) => row.loginFiles),
  );
  const denyRead = [
    ...byDefault(unreadable(facts, asked.unixSockets)).filter(
      (rule) => !asked.allowRead.some((allowed) => allowed.value === rule.value),
    ),
    ...asked.denyRead,
  ];
  const keptNames = [...loginVariables, ...asked.keepEnv.map((rule) => rule.value)];
  return {
    allowWrite: [
      ...byDefault([
        workFolder,
        ...(commonGitFolder === null ? [] : [commonGitFolder]),
        ...folders,
        ...facts.vaultFolders,
      ]),
      ...asked.allowWrite,
    ],
    denyWrite: byDefault(fixedPlaces(facts, folders, asked)),
    denyRead,
    allowRead: [
      ...byDefault([...facts.shown, ...loginFiles]).filter(
        ({ value }) => !asked.denyRead.some((denied) => isAtOrBelow(value, denied.value)),
      ),
      ...asked.allowRead.filter((rule) => !asked.denyRead.some(hasValue(rule.value))),
    ],
    hiddenHome: hiddenHome(facts, asked),
    allowNet: [
      ...byDefault([
        ...rows.flatMap((row) => row.hosts),
        ...addresses.filter((host) => host !== null),
      ]),
      ...asked.allowNet,
    ],
    keepEnv: [
      ...byDefault(loginVariables.filter((name) => env[name] !== undefined)),
      ...asked.keepEnv,
    ],
    dropEnv: byDefault(droppedVariables(env, keptNames)),
    unixSockets: asked.unixSockets,
    checksInside: asked.checksInside,
    ofAgent: { places: [...folders, ...loginFiles], variables: loginVariables },
  };
}

/** Returns the rules for a check, which runs the agent's code: without the agent's login, and with named hosts only. */
export function rulesForChecks(rules: SandboxRules): SandboxRules {
  const { places, variables } = rules.ofAgent;
  const isNamed = (rule: SandboxRule): boolean => rule.from !== BY_DEFAULT;
  const isNamedVariable = (name: string): boolean =>
    rules.keepEnv.some((rule) => rule.value === name && isNamed(rule));
  return {
    ...rules,
    allowWrite: rules.allowWrite.filter(
      (rule) => isNamed(rule) || !places.some((place) => isAtOrBelow(rule.value, place)),
    ),
    denyRead: [...rules.denyRead, ...byDefault(places)],
    allowRead: rules.allowRead.filter((rule) => isNamed(rule) || !places.includes(rule.value)),
    allowNet: rules.allowNet.filter(isNamed),
    keepEnv: rules.keepEnv.filter(isNamed),
    dropEnv: [...rules.dropEnv, ...byDefault(variables.filter((name) => !isNamedVariable(name)))],
  };
}

/** Returns the home folder if its dot files are hidden; null if it is unknown, `/`, or allowed by the user. */
function hiddenHome({ home }: Surroundings, { allowRead }: AskedRules): string | null {
  const isShown = home === null || home === '/' || allowRead.some(hasValue(home));
  return isShown ? null : home;
}

/** Returns everything that stays unreadable unless the user allows exactly that path. */
function unreadable(facts: Surroundings, unixSockets: boolean): readonly string[] {
  const others = AGENT_NAMES.filter((name) => !facts.agents.includes(name));
  const own = agentsFolders(facts.agents, facts);
  return unique([
    ...inHome(facts, SECRETS_IN_HOME),
    ...movedSecrets(facts),
    ...agentsFolders(others, facts).filter((folder) => !own.includes(folder)),
    ...inHome(
      facts,
      others.flatMap((name) => AGENTS[name].sandbox.loginFiles),
    ),
    ...[facts.keyFolder, facts.namedKey].filter((place) => place !== null),
    ...SERVICE_SOCKETS,
    ...(unixSockets ? DESKTOP_SOCKETS : []),
  ]);
}

/** Returns the places of keys, logins and histories that variables name, except those that contain the work folder. */
function movedSecrets({ env, workFolder }: Surroundings): readonly string[] {
  const config = env.XDG_CONFIG_HOME ?? '';
  const inConfig = SECRETS_IN_HOME.filter(
    (name) => config !== '' && name.startsWith('.config/'),
  ).map((name) => below(config, name.slice('.config/'.length)));
  const named = VARIABLES_OF_SECRETS.flatMap((name) => (env[name] ?? '').split(':'));
  return [...inConfig, ...named]
    .map((place) => place.replace(/\/+$/, ''))
    .filter((place) => place.startsWith('/') && !isAtOrBelow(place, '/dev'))
    .filter((place) => !isAtOrBelow(workFolder, place));
}

function fixedPlaces(
  facts: Surroundings,
  agentFolders: readonly string[],
  { allowWrite }: AskedRules,
): readonly string[] {
  const allowed = allowWrite.map((rule) => rule.value);
  const inTree = unique([facts.treeRoot, facts.workFolder, ...allowed]).flatMap((root) =>
    FIXED_IN_TREE.map((name) => below(root, name)),
  );
  const names = unique(facts.agents.flatMap((name) => AGENTS[name].sandbox.fixed));
  return unique([
    ...facts.fixedFolders,
    ...facts.fixed,
    ...facts.gitFolders.flatMap(({ path, hooks }) => [
      // `/dev/null` turns hooks off, and programs must be able to write to it.
      ...(isAtOrBelow(hooks, '/dev') ? [] : [hooks]),
      ...FIXED_IN_GIT.map((name) => below(path, name)),
    ]),
    ...facts.gitLinks,
    ...agentFolders.flatMap((folder) => names.map((name) => below(folder, name))),
    ...inTree,
  ]);
}

/** Returns the folders in which agents keep their own state, and to which they may write. */
export function agentsFolders(
  agents: readonly AgentName[],
  facts: Pick<Surroundings, 'home' | 'env'>,
): readonly string[] {
  const folders = agents.flatMap((name) => AGENTS[name].sandbox.folders);
  return unique(folders.flatMap((folder) => placeOf(folder, facts) ?? []));
}

function placeOf(
  folder: AgentFolder,
  { home, env }: Pick<Surroundings, 'home' | 'env'>,
): string | null {
  const moved = env[folder.variable] ?? '';
  if (moved.startsWith('/')) {
    return folder.inVariable === '' ? moved : below(moved, folder.inVariable);
  }
  return home === null ? null : below(home, folder.inHome);
}

function inHome({ home }: Surroundings, names: readonly string[]): readonly string[] {
  return home === null ? [] : names.map((name) => below(home, name));
}

function byDefault(values: readonly string[]): readonly SandboxRule[] {
  return unique(values).map((value) => ({ value, from: BY_DEFAULT }));
}

function hasValue(value: string): (rule: SandboxRule) => boolean {
  return (rule) => rule.value === value;
}

function unique(values: readonly string[]): readonly string[] {
  return [...new Set(values)];
}

import { AGENT_NAMES, AGENTS } from '../agent/agents/agents.ts';

/*
 * Names in a tree by which the next start of a program outside runs what the agent wrote.
 */

/** What editors, shells, git and ralph itself run or believe in a folder that they open. */
const OF_OTHERS = [
  ...['.vscode', '.idea', '.husky', '.envrc'],
  ...['ralph.config.yaml', 'ralph.config.yml', 'ralph.config.json'],
];

/**
 * Names in the root of a tree, in the work folder and in allowed folders that the agent may not write: existing ones
 * are read-only inside, and the birth of others is told.
 */
export const FIXED_IN_TREE: readonly string[] = [
  ...new Set(AGENT_NAMES.flatMap((name) => AGENTS[name].sandbox.inTree)),
  ...OF_OTHERS,
];

/** Names that are told, and not held: the agent may have to write them. */
const ONLY_TOLD = [
  ...['.pre-commit-config.yaml', '.devcontainer', '.devcontainer.json', '.zed', '.cursor/mcp.json'],
  ...['.cursor/hooks.json', 'lefthook.yml', '.lefthook.yml', 'lefthook.yaml', '.lefthook.yaml'],
  ...['lefthook-local.yml', 'mise.toml', '.mise.toml', 'mise.local.toml', '.config/mise.toml'],
  ...['.cargo/config.toml', '.cargo/config', '.npmrc', '.yarnrc.yml', '.yarnrc', '.bazelrc'],
  ...['.pnpmfile.cjs', '.pnpmfile.mjs', '.nvim.lua', '.nvimrc', '.exrc', '.dir-locals.el'],
  ...['.Rprofile', '.irbrc', '.pryrc', '.gdbinit', '.lldbinit'],
];

const TOLD_ENDING = '.code-workspace';

/** The names by the folder that they have to be in; those for any folder are under ''. */
const BY_FOLDER = new Map<string, Set<string>>();
for (const each of [...FIXED_IN_TREE, ...ONLY_TOLD]) {
  const at = each.indexOf('/');
  const folder = at === -1 ? '' : each.slice(0, at);
  BY_FOLDER.set(folder, (BY_FOLDER.get(folder) ?? new Set()).add(each.slice(at + 1)));
}

/** Whether what has this name in a folder of that name is run, at any depth of a tree. */
export function runsByItself(name: string, folder: string): boolean {
  const isNamed =
    BY_FOLDER.get('')?.has(name) === true || BY_FOLDER.get(folder)?.has(name) === true;
  return isNamed || name.endsWith(TOLD_ENDING);
}

/** Whether a folder of this name may hold such names: a link in its place brings all that it leads to. */
export function holdsSuchNames(folder: string): boolean {
  return BY_FOLDER.has(folder);
}

/** Names in each folder of git by which git runs programs. */
export const FIXED_IN_GIT: readonly string[] = ['hooks', 'config', 'config.worktree', 'commondir'];

import { AGENT_NAMES, AGENTS } from '../agent/agents/agents.ts';

/*
 * Names of files and folders that programs outside the sandbox run or obey. By writing such a file, an agent could
 * make its own code run outside.
 */

/** Names that editors, shells, git and ralph itself run or obey in a folder that they open. */
const OF_OTHERS = [
  ...['.vscode', '.idea', '.husky', '.envrc'],
  ...['ralph.config.yaml', 'ralph.config.yml', 'ralph.config.json'],
];

/**
 * Names that the agent may not write in the root of the work tree, in the work folder and in folders that the user
 * allowed. Existing files and folders are read-only in the sandbox; the creation of new ones is reported.
 */
export const FIXED_IN_TREE: readonly string[] = [
  ...new Set(AGENT_NAMES.flatMap((name) => AGENTS[name].sandbox.inTree)),
  ...OF_OTHERS,
];

/** Names that are only reported and not write-protected, since the agent may have to write them. */
const ONLY_TOLD = [
  ...['.pre-commit-config.yaml', '.devcontainer', '.devcontainer.json', '.zed', '.cursor/mcp.json'],
  ...['.cursor/hooks.json', 'lefthook.yml', '.lefthook.yml', 'lefthook.yaml', '.lefthook.yaml'],
  ...['lefthook-local.yml', 'mise.toml', '.mise.toml', 'mise.local.toml', '.config/mise.toml'],
  ...['.cargo/config.toml', '.cargo/config', '.npmrc', '.yarnrc.yml', '.yarnrc', '.bazelrc'],
  ...['.pnpmfile.cjs', '.pnpmfile.mjs', '.nvim.lua', '.nvimrc', '.exrc', '.dir-locals.el'],
  ...['.Rprofile', '.irbrc', '.pryrc', '.gdbinit', '.lldbinit'],
];

const TOLD_ENDING = '.code-workspace';

/**
 * All names in small letters, since some file systems do not distinguish capitals from them, grouped by the folder in
 * which they must be; names that count in any folder are under ''.
 */
const BY_FOLDER = new Map<string, Set<string>>();
for (const each of [...FIXED_IN_TREE, ...ONLY_TOLD].map((name) => name.toLowerCase())) {
  const at = each.indexOf('/');
  const folder = at === -1 ? '' : each.slice(0, at);
  BY_FOLDER.set(folder, (BY_FOLDER.get(folder) ?? new Set()).add(each.slice(at + 1)));
}

/** Whether programs run or obey a file with this name, in a folder of that name, at any depth of a tree. */
export function runsByItself(name: string, folder: string): boolean {
  const own = name.toLowerCase();
  const isNamed = ['', folder.toLowerCase()].some((each) => BY_FOLDER.get(each)?.has(own) === true);
  return isNamed || own.endsWith(TOLD_ENDING);
}

/** Whether a folder, or a symbolic link to one, may contain files that programs run or obey, if it has this name. */
export function holdsSuchNames(folder: string): boolean {
  return BY_FOLDER.has(folder.toLowerCase());
}

/** Names in each git folder through which git can be made to run programs. */
export const FIXED_IN_GIT: readonly string[] = ['hooks', 'config', 'config.worktree', 'commondir'];

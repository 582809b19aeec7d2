/*
 * Names in a tree by which the next start of a program outside runs what the agent wrote. They stay as
 * they are: existing ones are read-only inside, and the birth of others is reported.
 */

/** What claude runs or believes, in its folder of a tree. */
const OF_CLAUDE = [
  ...['settings.json', 'settings.local.json', 'commands', 'agents', 'skills', 'hooks'],
  ...['plugins', 'local'],
];

/** Names in the root of a tree and in the work folder that the agent may not write. */
export const FIXED_IN_TREE: readonly string[] = [
  ...OF_CLAUDE.map((name) => `.claude/${name}`),
  ...['.mcp.json', '.vscode', '.idea', '.husky', '.envrc'],
  ...['ralph.config.yaml', 'ralph.config.yml', 'ralph.config.json'],
];

/** Names in each folder of git by which git runs programs. */
export const FIXED_IN_GIT: readonly string[] = ['hooks', 'config', 'config.worktree', 'commondir'];

/*
 * Names in a tree by which the next start of a program outside runs what the agent wrote. They stay as
 * they are: existing ones are read-only inside, and the birth of others is reported.
 */

/** What claude runs or believes, in its folder of a tree. */
const OF_CLAUDE = [
  ...['settings.json', 'settings.local.json', 'commands', 'agents', 'skills', 'hooks'],
  ...['plugins', 'local'],
];

const OF_OTHERS = [
  ...['.mcp.json', '.vscode', '.idea', '.husky', '.envrc'],
  ...['ralph.config.yaml', 'ralph.config.yml', 'ralph.config.json'],
];

/** Names in the root of a tree, in the work folder and in allowed folders that the agent may not write. */
export const FIXED_IN_TREE: readonly string[] = [
  ...OF_CLAUDE.map((name) => `.claude/${name}`),
  ...OF_OTHERS,
];

/** The same names, by the folder that they are in: their birth is told at any depth. */
export const NAMES_IN_CLAUDE: ReadonlySet<string> = new Set(OF_CLAUDE);
export const NAMES_IN_TREE: ReadonlySet<string> = new Set(OF_OTHERS);

/** Names in each folder of git by which git runs programs. */
export const FIXED_IN_GIT: readonly string[] = ['hooks', 'config', 'config.worktree', 'commondir'];

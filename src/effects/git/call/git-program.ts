import { findGitAbove } from '../../files/find-git-above.ts';
import { realPath } from '../../files/real-path.ts';
import { findProgram } from '../../processes/find-program.ts';
import { outerPath } from '../../processes/outer-path.ts';

/** Returns the file of git, and the PATH for what git starts. Takes a `git` in the work tree only without another. */
export function gitProgram(
  cwd: string,
  env: NodeJS.ProcessEnv,
): { readonly file: string; readonly path: string | undefined } {
  // `npx` and `npm run` add folders around the current one to PATH, and git may work in a checkout elsewhere: a
  // `git` in either place is not trusted.
  const trees = [cwd, currentFolder()].map((folder) => findGitAbove(folder) ?? realPath(folder));
  const outer = outerPath(
    env,
    trees.filter((tree) => tree !== '/'),
  );
  const found = findProgram({ name: 'git', env: { PATH: outer }, cwd: '/', further: [] });
  return 'file' in found ? { file: found.file, path: outer } : { file: 'git', path: env.PATH };
}

function currentFolder(): string {
  try {
    return process.cwd();
  } catch {
    // The current folder was deleted.
    return '/';
  }
}

/** A git setting, passed to git in environment variables because its name can contain any character. */
export interface GitSetting {
  readonly name: string;
  readonly value: string;
}

/**
 * The hooks that ralph's calls could start. Since 2.54 git takes hooks from its settings as well, which an agent can
 * edit, and runs those in spite of `core.hooksPath`; since 2.55 a setting for each turns them off.
 */
const HOOKS = [
  ...['reference-transaction', 'post-index-change', 'post-checkout', 'pre-auto-gc', 'pre-push'],
  ...['pre-commit', 'prepare-commit-msg', 'commit-msg', 'post-commit', 'pre-merge-commit'],
  ...['post-merge', 'post-rewrite', 'pre-rebase', 'applypatch-msg', 'pre-applypatch'],
  'post-applypatch',
];

/** Options that keep git from running programs the repository chooses, such as hooks, a file watcher or a signer. */
export const SAFE_SETTINGS = [
  'core.fsmonitor=false',
  'core.hooksPath=/dev/null',
  'commit.gpgSign=false',
  'log.showSignature=false',
  'submodule.recurse=false',
  ...HOOKS.map((hook) => `hook.${hook}.enabled=false`),
  // Ralph asks many questions in the folder `.git`, which git before 2.44 takes for a bare repository.
  'safe.bareRepository=all',
].flatMap((setting) => ['-c', setting]);

export const SAFELY = ['--no-pager', ...SAFE_SETTINGS];

/**
 * Matches the GIT_ variables that are passed on: those that configure git or limit how far up it
 * searches. Others would do harm: GIT_DIR and GIT_INDEX_FILE, which hooks set, point to another
 * repository, and with GIT_LITERAL_PATHSPECS git would read ralph's exclude patterns as file names.
 */
const KEPT =
  /^GIT_(?:EXEC_PATH|CEILING_DIRECTORIES|DISCOVERY_ACROSS_FILESYSTEM|CONFIG_(?:GLOBAL|SYSTEM|NOSYSTEM|COUNT|KEY_\d+|VALUE_\d+))$/;

export function gitEnvironment(
  env: NodeJS.ProcessEnv,
  settings: readonly GitSetting[],
): NodeJS.ProcessEnv {
  const kept = Object.entries(env).filter(([name]) => !name.startsWith('GIT_') || KEPT.test(name));
  return {
    ...Object.fromEntries(kept),
    ...settingVariables(env, settings),
    LC_ALL: 'C',
    // The agent may lock the index at any moment, and must never find it locked by ralph.
    GIT_OPTIONAL_LOCKS: '0',
    GIT_TERMINAL_PROMPT: '0',
    GIT_NO_LAZY_FETCH: '1',
    // With a ref that replaces objects, the agent could pass off one object as another.
    GIT_NO_REPLACE_OBJECTS: '1',
    // Keeps git from fetching if it is too old for GIT_NO_LAZY_FETCH. A setting would not be enough: the
    // repository can allow a single protocol, and that overrides a setting for all protocols.
    GIT_ALLOW_PROTOCOL: 'none',
  };
}

/** Variables that bind git to one repository, index or way to read paths. A git hook that starts ralph has some set. */
const BOUND =
  /^GIT_(?:DIR|WORK_TREE|IMPLICIT_WORK_TREE|COMMON_DIR|INDEX_FILE|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES|NAMESPACE|PREFIX|QUARANTINE_PATH|SHALLOW_FILE|GRAFT_FILE|NO_REPLACE_OBJECTS|REPLACE_REF_BASE|CONFIG|CONFIG_PARAMETERS|REFLOG_ACTION|EDITOR|(?:LITERAL|GLOB|NOGLOB|ICASE)_PATHSPECS)$/;

/** Variables in which an outer ralph describes its own run, and by which programs prompt a person who may be away. */
const OF_THE_LOOP =
  /^(?:RALPH_(?:RUN_ID|TASK_ID|ITERATION|MAX_ITERATIONS|STATE_FILE)|GPG_TTY|SSH_ASKPASS)$/;

/** Variables by which git tells a hook the author and committer of the commit under way. */
const OF_OUTER_COMMIT = /^GIT_(?:AUTHOR|COMMITTER)_/;

export function userEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  // Outside of a hook, the user has set the author's variables on purpose.
  const isInHook = env.GIT_DIR !== undefined || env.GIT_INDEX_FILE !== undefined;
  const kept = Object.entries(env).filter(
    ([name]) =>
      !BOUND.test(name) && !OF_THE_LOOP.test(name) && !(isInHook && OF_OUTER_COMMIT.test(name)),
  );
  return { ...Object.fromEntries(kept), GIT_TERMINAL_PROMPT: '0', SSH_ASKPASS_REQUIRE: 'never' };
}

/** Returns variables that append `settings` to those in `env`: of several with one name, git uses the last. */
function settingVariables(
  env: NodeJS.ProcessEnv,
  settings: readonly GitSetting[],
): NodeJS.ProcessEnv {
  if (settings.length === 0) return {};
  const first = Number(env.GIT_CONFIG_COUNT ?? 0) || 0;
  const variables = settings.flatMap(({ name, value }, index) => [
    [`GIT_CONFIG_KEY_${first + index}`, name],
    [`GIT_CONFIG_VALUE_${first + index}`, value],
  ]);
  return {
    ...Object.fromEntries(variables),
    GIT_CONFIG_COUNT: String(first + settings.length),
  };
}

/** How the command line of a program that starts another one looks: its options, and the words before that program. */
interface Wrapper {
  readonly values?: readonly string[];
  readonly words?: number;
  /** The word with which it starts another program, such as `exec` in `npm exec`; absent if it always does. */
  readonly after?: readonly string[];
}

/** Keywords of the shell that stand before a command and are not programs themselves. */
export const KEYWORDS = new Set([
  ...['if', 'then', 'else', 'elif', 'while', 'until', 'do', '!', '{', 'time'],
]);

/** Commands that are part of the shell, so they are not looked for on PATH. */
export const BUILTINS = new Set([
  ...[
    'cd',
    'pushd',
    'popd',
    'exit',
    'export',
    'set',
    'unset',
    'shift',
    'trap',
    'wait',
    'read',
    ':',
  ],
  ...['source', '.', 'eval', 'exec', 'command', 'builtin', 'fi', 'done', 'esac', '}', '[[', 'for'],
  ...['case', 'select', 'function', 'return', 'break', 'continue', 'local', 'declare', 'ulimit'],
  ...['umask', 'alias', 'unalias', 'shopt', 'type', 'hash', 'in', 'let', 'readonly'],
]);

/** Programs such as `grep` and `cp`, which do not run the files among their words. */
export const LOOKERS = new Set([
  ...[
    'grep',
    'egrep',
    'fgrep',
    'rg',
    'test',
    '[',
    '[[',
    'cat',
    'ls',
    'echo',
    'printf',
    'diff',
    'cmp',
  ],
  ...['head', 'tail', 'wc', 'find', 'jq', 'yq', 'git', 'sort', 'uniq', 'cut', 'tr', 'stat', 'file'],
  ...['sed', 'true', 'false', 'sleep', 'curl', 'wget', 'rm', 'mkdir', 'cp', 'mv', 'touch', 'tee'],
]);

export const WRAPPERS: ReadonlyMap<string, Wrapper> = new Map<string, Wrapper>([
  ['env', { values: ['-u', '--unset', '-C', '--chdir'] }],
  ['nice', { values: ['-n'] }],
  ['ionice', { values: ['-c', '-n'] }],
  ['timeout', { values: ['-k', '--kill-after', '-s', '--signal'], words: 1 }],
  ['stdbuf', { values: ['-i', '-o', '-e'] }],
  ['exec', { values: ['-a'] }],
  ['sudo', { values: ['-u', '-g'] }],
  ['xargs', { values: ['-n', '-P', '-I', '-L', '-d', '-a', '-s', '-E'] }],
  ['nohup', {}],
  ['flock', { values: ['-w', '--timeout', '-E', '--conflict-exit-code'], words: 1 }],
  ['watch', { values: ['-n', '--interval'] }],
  ['doas', { values: ['-u'] }],
  ['busybox', {}],
  ['unbuffer', {}],
  ['chronic', {}],
  ['setsid', {}],
  ['command', {}],
  ['builtin', {}],
  ['xvfb-run', { values: ['-s', '-n', '-e', '-f'] }],
  ['cross-env', {}],
  ['cross-env-shell', {}],
  ['dotenv', { values: ['-e', '-v', '-p'] }],
  ['npx', { values: ['-p', '--package', '-w', '--workspace'] }],
  ['pnpx', {}],
  ['bunx', {}],
  ['c8', { values: ['-r', '--reporter', '-n', '--include', '-x', '--exclude', '-o', '-c'] }],
  ['nyc', { values: ['-r', '--reporter', '-n', '--include', '-x', '--exclude'] }],
  ['coverage', { values: ['--source', '--omit', '--include', '--rcfile'], after: ['run'] }],
  ['npm', { values: ['-C', '--prefix', '-w', '--workspace'], after: ['exec', 'x'] }],
  ['pnpm', { values: ['-C', '--dir', '--filter', '-F'], after: ['exec', 'dlx'] }],
  ['yarn', { values: ['--cwd'], after: ['exec', 'dlx'] }],
  ['bun', { values: ['--cwd'], after: ['x'] }],
  [
    'uv',
    { values: ['--with', '--extra', '--group', '-p', '--python', '--directory'], after: ['run'] },
  ],
  ['poetry', { values: ['-C', '--directory'], after: ['run'] }],
  ['pipenv', { after: ['run'] }],
  ['pdm', { values: ['-p'], after: ['run'] }],
  ['rye', { after: ['run'] }],
  ['hatch', { values: ['-e'], after: ['run'] }],
  ['bundle', { after: ['exec'] }],
  ['mise', { after: ['exec', 'x'] }],
  ['uvx', { values: ['--with', '--from', '-p', '--python'] }],
  ['pipx', { values: ['--spec'], after: ['run'] }],
]);

/** How the command line of an interpreter names what it runs. */
interface Interpreter {
  /** Options whose value is not a program. */
  readonly values?: readonly string[];
  /** Options whose value is a file that is run, too. */
  readonly files?: readonly string[];
  /** Options that mean that no program file follows, since the program is a text, a module or a list of tests. */
  readonly without?: readonly string[];
  /** Whether `-c` is followed by a shell command. */
  readonly isShell?: boolean;
  /** Whether `-m` is followed by the name of a module. */
  readonly hasModules?: boolean;
  /** The word before the file, such as `run` of `deno run`. */
  readonly after?: readonly string[];
  /** The endings that may be omitted from the file's name. */
  readonly endings?: readonly string[];
}

const SHELL: Interpreter = { isShell: true, values: ['-o', '+o', '-O', '--rcfile', '--init-file'] };
const JS_ENDINGS = ['.js', '.cjs', '.mjs', '.ts', '/index.js'];
const NODE: Interpreter = {
  values: ['-C', '--conditions', '--env-file', '--watch-path', '--input-type'],
  files: [
    ...['-r', '--require', '--import', '--loader', '--experimental-loader', '--test-reporter'],
    '--test-global-setup',
  ],
  without: ['-e', '--eval', '-p', '--print', '-pe', '--test', '--run', '-c', '--check'],
  endings: JS_ENDINGS,
};
const PYTHON: Interpreter = { hasModules: true, values: ['-W', '-X'], without: ['-c'] };

const SHELLS = ['sh', 'bash', 'dash', 'zsh', 'ksh', 'ash', 'fish'];

export const INTERPRETERS: ReadonlyMap<string, Interpreter> = new Map<string, Interpreter>([
  ...SHELLS.map((name) => [name, SHELL] as const),
  ...['node', 'nodejs', 'tsx', 'ts-node', 'babel-node', 'zx'].map((name) => [name, NODE] as const),
  [
    'bun',
    { after: ['run'], files: ['-r', '--preload'], without: ['test', '-e'], endings: JS_ENDINGS },
  ],
  [
    'deno',
    { after: ['run'], values: ['-c', '--config'], without: ['test', 'task', 'eval', 'lint'] },
  ],
  ['python', PYTHON],
  ['ruby', { values: ['-I'], files: ['-r'], without: ['-e'] }],
  ['perl', { values: ['-I'], without: ['-e', '-E'] }],
  ['php', { values: ['-d', '-c'], without: ['-r'] }],
  ['lua', { values: ['-l'], without: ['-e'] }],
  ['rscript', { without: ['-e'] }],
  ['julia', { values: ['-p', '-t'], without: ['-e'] }],
  ['elixir', { values: ['-r', '-pa'], without: ['-e'] }],
  ['dart', { after: ['run'], without: ['test', 'analyze', 'format', 'pub', 'compile'] }],
  ['expect', { without: ['-c'] }],
  ['pwsh', { after: ['-File', '-f'], without: ['-c', '-Command'] }],
  ['source', {}],
  ['.', {}],
]);

/** Options, in many programs, whose value is the folder to work in. */
export const FOLDER_OPTIONS = /^(?:-C|--dir|--directory|--prefix|--cwd|--chdir)$/;

/** Programs that run the recipes of a task file, such as a Makefile. */
export type TaskTool = 'make' | 'just' | 'task' | 'tox' | 'nox' | 'composer' | 'deno';

export const TASK_PROGRAMS: ReadonlyMap<string, TaskTool> = new Map<string, TaskTool>([
  ...['make', 'gmake', 'remake'].map((name) => [name, 'make'] as const),
  ...['task', 'go-task'].map((name) => [name, 'task'] as const),
  ...(['just', 'tox', 'nox', 'composer', 'deno'] as const).map((name) => [name, name] as const),
]);

/** Options of `TASK_PROGRAMS` whose value is a task file. */
export const TASK_FILE_OPTION = /^(?:-[fct]|--(?:file|makefile|justfile|taskfile|noxfile|conf))$/;

/** Options, in many programs, whose value is a settings file that decides what they report. */
export const SETTINGS_OPTION =
  /^(?:-[cp]|--(?:env-file(?:-if-exists)?|config(?:uration)?(?:-?file)?|conf|rc-?file|ini|settings|project|preset|global-?setup|rulesdir|bootstrap))$/i;
/** Matches names of settings files, since the values of `SETTINGS_OPTION` can be something else: `tsc -p .`. */
export const SETTINGS_FILE =
  /^[^\s=]*(?:\.(?:jsonc?|json5|ya?ml|toml|ini|cfg|conf|xml|env|[cm]?[jt]s|php|neon)|rc|\.env(?:\.\w+)?)$/;

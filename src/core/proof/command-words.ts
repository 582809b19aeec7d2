/** How a program that starts another one is written: options with a value, words before the program. */
interface Wrapper {
  readonly values?: readonly string[];
  readonly words?: number;
  /** The first of its words that makes it one, such as `exec` of `npm exec`. */
  readonly after?: readonly string[];
}

/** Words of the shell before a command. They are no programs. */
export const KEYWORDS = new Set([
  ...['if', 'then', 'else', 'elif', 'while', 'until', 'do', '!', '{', 'time'],
]);

/** Commands of the shell itself: found on no PATH. */
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

/** Programs that look at what they are given: their words name the work, and run nothing. */
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

/** How an interpreter is given what it runs. */
interface Interpreter {
  /** Options with a value that is no program. */
  readonly values?: readonly string[];
  /** Options whose value is a file that runs, too. */
  readonly files?: readonly string[];
  /** Options after which no file comes: the program is a text, a module, or a list of tests. */
  readonly without?: readonly string[];
  /** Whether `-c` gives it a shell command. */
  readonly isShell?: boolean;
  /** Whether `-m` gives it a module. */
  readonly hasModules?: boolean;
  /** The word before the file, such as `run` of `deno run`. */
  readonly after?: readonly string[];
  /** What may be left away at the end of the file's name. */
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

/** Options of many programs whose value is the folder that they work in. */
export const FOLDER_OPTIONS = /^(?:-C|--dir|--directory|--prefix|--cwd|--chdir)$/;

/** Programs that run the recipes of a task file. */
export type TaskTool = 'make' | 'just' | 'task' | 'tox' | 'nox' | 'composer' | 'deno';

export const TASK_PROGRAMS: ReadonlyMap<string, TaskTool> = new Map<string, TaskTool>([
  ...['make', 'gmake', 'remake'].map((name) => [name, 'make'] as const),
  ...['task', 'go-task'].map((name) => [name, 'task'] as const),
  ...(['just', 'tox', 'nox', 'composer', 'deno'] as const).map((name) => [name, name] as const),
]);

/** Options of those programs whose value is a task file. */
export const TASK_FILE_OPTION = /^(?:-[fct]|--(?:file|makefile|justfile|taskfile|noxfile|conf))$/;

/** Options of many programs whose value is a file that decides what they say. */
export const SETTINGS_OPTION =
  /^(?:-[cp]|--(?:env-file(?:-if-exists)?|config(?:uration)?(?:-?file)?|conf|rc-?file|ini|settings|project|preset|global-?setup|rulesdir|bootstrap))$/i;
/** The names of such files: `tsc -p .` names a folder, and `sh -c` is given a text. */
export const SETTINGS_FILE =
  /^[^\s=]*(?:\.(?:jsonc?|json5|ya?ml|toml|ini|cfg|conf|xml|env|[cm]?[jt]s|php|neon)|rc|\.env(?:\.\w+)?)$/;

/**
 * The one table of settings: flags, their kinds, defaults and help all come from here, and so do
 * the variables, configuration keys and documentation made from them.
 */

/** How a setting is written, and what it becomes. */
export type SettingKind =
  /** Text as it stands. */
  | { readonly kind: 'text' }
  /** Text, may be given several times. */
  | { readonly kind: 'texts' }
  /** A whole number, at least `min`. */
  | { readonly kind: 'count'; readonly min: number }
  /** `500ms`, `90s`, `1h30m`; becomes milliseconds, at least `minMs`. */
  | { readonly kind: 'duration'; readonly minMs: number }
  /** `64KB`, `500MB`, `1GB`; becomes bytes. */
  | { readonly kind: 'size' }
  /** US dollars, more than 0: `2`, `0.50`. */
  | { readonly kind: 'cost' }
  /** 1 to 100. */
  | { readonly kind: 'percent' }
  | { readonly kind: 'choice'; readonly choices: readonly string[] }
  | { readonly kind: 'switch' };

type SettingGroup = 'Prompt' | 'Completion' | 'Limits' | 'Agent' | 'Around it' | 'Output';

export interface SettingRow {
  readonly flag: string;
  /** Further names of the flag. */
  readonly aliases?: readonly string[];
  readonly short?: string;
  /** What stands after the flag in help: `TEXT`, `N`. */
  readonly argument?: string;
  readonly type: SettingKind;
  readonly group: SettingGroup;
  /** As it is written on the command line; absent where there is none. */
  readonly default?: string;
  /** False where no `RALPH_*` variable sets it. */
  readonly variable?: false;
  /** False where no key of the configuration file sets it. */
  readonly key?: false;
  readonly help: string;
}

/** Used where no completion condition is given at all. */
export const DEFAULT_PROMISE = 'TASK_COMPLETE';

/** Every setting, in the order of the help. */
const TABLE = {
  prompt: {
    flag: '--prompt',
    short: '-p',
    argument: 'TEXT',
    type: { kind: 'text' },
    group: 'Prompt',
    help: 'the task; "-" reads it from standard input',
  },
  promptFile: {
    flag: '--prompt-file',
    argument: 'FILE',
    type: { kind: 'text' },
    group: 'Prompt',
    help: 'the task in a file, read afresh each iteration',
  },
  promise: {
    flag: '--promise',
    aliases: ['--completion-promise'],
    argument: 'TEXT',
    type: { kind: 'text' },
    group: 'Completion',
    help: `the words by which the agent states that the task is complete (${DEFAULT_PROMISE} where no condition is given)`,
  },
  match: {
    flag: '--match',
    argument: 'RULE',
    type: { kind: 'choice', choices: ['statement', 'tag', 'contains'] },
    group: 'Completion',
    default: 'statement',
    help: 'how the promise must be said: stated in its tags or bare, stated in its tags only, or contained anywhere',
  },
  watchGlob: {
    flag: '--watch-glob',
    argument: 'GLOB',
    type: { kind: 'texts' },
    group: 'Completion',
    help: 'complete when a new or changed file matches; may be repeated',
  },
  watchExisting: {
    flag: '--watch-existing',
    type: { kind: 'switch' },
    group: 'Completion',
    help: 'let files count that matched before the task began',
  },
  watchFile: {
    flag: '--watch-file',
    argument: 'FILE',
    type: { kind: 'text' },
    group: 'Completion',
    help: 'complete when this file has been moved to the done folder',
  },
  doneFolder: {
    flag: '--done-folder',
    argument: 'DIR',
    type: { kind: 'text' },
    group: 'Completion',
    help: 'where the watched file is moved to (default: Done in the vault)',
  },
  until: {
    flag: '--until',
    argument: 'COMMAND',
    type: { kind: 'text' },
    group: 'Completion',
    help: 'complete when this shell command exits 0 after an iteration',
  },
  signal: {
    flag: '--signal',
    argument: 'TEXT',
    type: { kind: 'texts' },
    group: 'Completion',
    help: 'complete when the agent states this in two iterations in a row; may be repeated',
  },
  planFile: {
    flag: '--plan-file',
    argument: 'FILE',
    type: { kind: 'text' },
    group: 'Completion',
    help: 'complete when every checkbox in this Markdown file is ticked',
  },
  verify: {
    flag: '--verify',
    argument: 'COMMAND',
    type: { kind: 'text' },
    group: 'Completion',
    help: 'accept completion only if this shell command exits 0',
  },
  confirm: {
    flag: '--confirm',
    argument: 'N',
    type: { kind: 'count', min: 1 },
    group: 'Completion',
    default: '1',
    help: 'accept completion only if it is claimed in N iterations in a row',
  },
  minIterations: {
    flag: '--min-iterations',
    argument: 'N',
    type: { kind: 'count', min: 1 },
    group: 'Completion',
    default: '1',
    help: 'accept no completion before iteration N',
  },
  protect: {
    flag: '--protect',
    argument: 'GLOB',
    type: { kind: 'texts' },
    group: 'Completion',
    help: 'accept no completion if a file that matched at the start has changed; may be repeated',
  },
  acceptRefused: {
    flag: '--accept-refused',
    argument: 'PATTERN',
    type: { kind: 'texts' },
    group: 'Completion',
    help: 'refused tools that do not hold a promise, as "Bash(git push:*)", or * for all; may be repeated',
  },
  abortPromise: {
    flag: '--abort-promise',
    argument: 'TEXT',
    type: { kind: 'text' },
    group: 'Completion',
    help: 'end the task as failed when the agent states this',
  },
  maxIterations: {
    flag: '--max-iterations',
    short: '-n',
    argument: 'N',
    type: { kind: 'count', min: 1 },
    group: 'Limits',
    default: '5',
    help: 'iterations before it gives up',
  },
  iterationTimeout: {
    flag: '--iteration-timeout',
    argument: 'TIME',
    type: { kind: 'duration', minMs: 1 },
    group: 'Limits',
    default: '180s',
    help: 'time for one iteration',
  },
  idleTimeout: {
    flag: '--idle-timeout',
    argument: 'TIME',
    type: { kind: 'duration', minMs: 1 },
    group: 'Limits',
    help: 'how long the agent may be silent (default: no limit)',
  },
  timeout: {
    flag: '--timeout',
    argument: 'TIME',
    type: { kind: 'duration', minMs: 1 },
    group: 'Limits',
    default: '30m',
    help: 'time for the whole task',
  },
  delay: {
    flag: '--delay',
    argument: 'TIME',
    type: { kind: 'duration', minMs: 0 },
    group: 'Limits',
    default: '2s',
    help: 'pause between iterations',
  },
  maxCost: {
    flag: '--max-cost',
    argument: 'USD',
    type: { kind: 'cost' },
    group: 'Limits',
    help: 'money for the whole task, in US dollars',
  },
  maxUsage: {
    flag: '--max-usage',
    argument: 'PERCENT',
    type: { kind: 'percent' },
    group: 'Limits',
    help: "stop when this much of the account's usage limit is used",
  },
  noProgressLimit: {
    flag: '--no-progress-limit',
    argument: 'N',
    type: { kind: 'count', min: 0 },
    group: 'Limits',
    default: '3',
    help: 'iterations without progress before it stops; 0 never stops',
  },
  sameErrorLimit: {
    flag: '--same-error-limit',
    argument: 'N',
    type: { kind: 'count', min: 0 },
    group: 'Limits',
    default: '5',
    help: 'iterations that fail with the same error before it stops; 0 never stops',
  },
  retries: {
    flag: '--retries',
    argument: 'N',
    type: { kind: 'count', min: 0 },
    group: 'Limits',
    default: '5',
    help: 'quick further attempts after a passing fault, before one every 5 minutes',
  },
  maxWait: {
    flag: '--max-wait',
    argument: 'TIME',
    type: { kind: 'duration', minMs: 0 },
    group: 'Limits',
    default: '6h',
    help: 'how long a usage limit or an outage is waited for; 0 does not wait',
  },
  agent: {
    flag: '--agent',
    argument: 'KIND',
    type: { kind: 'choice', choices: ['claude', 'command'] },
    group: 'Agent',
    default: 'claude',
    help: 'claude, or any command that reads the prompt on standard input',
  },
  agentCommand: {
    flag: '--agent-command',
    argument: 'COMMAND',
    type: { kind: 'text' },
    group: 'Agent',
    help: 'the command of --agent command, split into words as a shell does; no shell runs it',
  },
  claudeBin: {
    flag: '--claude-bin',
    argument: 'PATH',
    type: { kind: 'text' },
    group: 'Agent',
    help: 'the claude program (default: claude on PATH or where its installers put it)',
  },
  model: {
    flag: '--model',
    argument: 'NAME',
    type: { kind: 'text' },
    group: 'Agent',
    help: 'handed to claude as its --model',
  },
  permissionMode: {
    flag: '--permission-mode',
    argument: 'MODE',
    type: { kind: 'text' },
    group: 'Agent',
    help: 'handed to claude: acceptEdits, plan, bypassPermissions, …',
  },
  allowedTools: {
    flag: '--allowed-tools',
    argument: 'TOOLS',
    type: { kind: 'texts' },
    group: 'Agent',
    help: 'handed to claude: tools it may use unasked, such as "Edit,Bash(npm test:*)"; may be repeated',
  },
  dangerouslySkipPermissions: {
    flag: '--dangerously-skip-permissions',
    type: { kind: 'switch' },
    group: 'Agent',
    help: 'handed to claude: no permission is asked for anything',
  },
  session: {
    flag: '--session',
    argument: 'HOW',
    type: { kind: 'choice', choices: ['fresh', 'continue'] },
    group: 'Agent',
    default: 'fresh',
    help: "whether each iteration begins afresh or resumes claude's own session",
  },
  context: {
    flag: '--context',
    argument: 'WHAT',
    type: { kind: 'choice', choices: ['last', 'none'] },
    group: 'Agent',
    default: 'last',
    help: 'what of the previous output goes into the next prompt',
  },
  contextChars: {
    flag: '--context-chars',
    argument: 'N',
    type: { kind: 'count', min: 1 },
    group: 'Agent',
    default: '20000',
    help: 'how many characters of it at most; its end is kept',
  },
  keepBackground: {
    flag: '--keep-background',
    type: { kind: 'switch' },
    group: 'Agent',
    help: 'leave running at the end what the agent started in the background',
  },
  taskType: {
    flag: '--task-type',
    argument: 'TYPE',
    type: { kind: 'text' },
    group: 'Limits',
    help: 'a set of limits by name: coding, weekly_audit, … (docs/settings.md)',
  },
  taskId: {
    flag: '--task-id',
    argument: 'ID',
    type: { kind: 'text' },
    group: 'Around it',
    variable: false,
    key: false,
    help: 'name of the task: A-Z a-z 0-9 . _ -, up to 128 (default: date, time and six digits)',
  },
  vault: {
    flag: '--vault',
    argument: 'DIR',
    type: { kind: 'text' },
    group: 'Around it',
    help: 'the folder with Needs_Action, Done and .ralph_state (default: here)',
  },
  stateDir: {
    flag: '--state-dir',
    argument: 'DIR',
    type: { kind: 'text' },
    group: 'Around it',
    help: 'where states and logs are kept (default: .ralph_state in the vault)',
  },
  cwd: {
    flag: '--cwd',
    argument: 'DIR',
    type: { kind: 'text' },
    group: 'Around it',
    help: 'the folder the agent works in (default: here)',
  },
  after: {
    flag: '--after',
    argument: 'COMMAND',
    type: { kind: 'text' },
    group: 'Around it',
    help: 'shell command after each iteration; its outcome as JSON on standard input',
  },
  onEnd: {
    flag: '--on-end',
    argument: 'COMMAND',
    type: { kind: 'text' },
    group: 'Around it',
    help: 'shell command once at the end; the outcome as JSON on standard input',
  },
  logLimit: {
    flag: '--log-limit',
    argument: 'SIZE',
    type: { kind: 'size' },
    group: 'Around it',
    default: '1GB',
    help: 'how much of an iteration the log keeps: its head and its tail',
  },
  config: {
    flag: '--config',
    argument: 'FILE',
    type: { kind: 'text' },
    group: 'Around it',
    key: false,
    help: 'the configuration file (default: the nearest ralph.config.yaml upward)',
  },
  dryRun: {
    flag: '--dry-run',
    type: { kind: 'switch' },
    group: 'Output',
    help: 'print what would be done, and do nothing',
  },
  json: {
    flag: '--json',
    type: { kind: 'switch' },
    group: 'Output',
    help: 'one event a line on standard output, instead of the final message',
  },
  quiet: {
    flag: '--quiet',
    type: { kind: 'switch' },
    group: 'Output',
    help: 'nothing on standard error unless it ends badly',
  },
  verbose: {
    flag: '--verbose',
    type: { kind: 'switch' },
    group: 'Output',
    help: "the agent's text and tool calls as they come",
  },
  noColor: {
    flag: '--no-color',
    type: { kind: 'switch' },
    group: 'Output',
    help: 'no colours (NO_COLOR does the same)',
  },
} as const satisfies Readonly<Record<string, SettingRow>>;

export type SettingName = keyof typeof TABLE;

export const SETTINGS: Readonly<Record<SettingName, SettingRow>> = TABLE;

/** The values of all settings; durations in milliseconds, null where nothing was given. */
export type Settings = { readonly [Name in SettingName]: ValueOf<(typeof TABLE)[Name]> };

type ValueOf<Row extends SettingRow> = Row['type'] extends {
  readonly choices: readonly (infer Choice)[];
}
  ? Choice
  : Row['type']['kind'] extends 'text'
    ? string | null
    : Row['type']['kind'] extends 'texts'
      ? readonly string[]
      : Row['type']['kind'] extends 'switch'
        ? boolean
        : Row extends { readonly default: string }
          ? number
          : number | null;

/** The names of all settings, in the order of the help. */
export function settingNames(): readonly SettingName[] {
  return Object.keys(TABLE).filter((name): name is SettingName => name in TABLE);
}

/** The environment variable of a setting: `maxIterations` is `RALPH_MAX_ITERATIONS`. */
export function variableOf(name: SettingName): string | null {
  return SETTINGS[name].variable === false ? null : `RALPH_${snakeCase(name).toUpperCase()}`;
}

/** The key of a setting in the configuration file: `maxIterations` is `max_iterations`. */
export function keyOf(name: SettingName): string | null {
  return SETTINGS[name].key === false ? null : snakeCase(name);
}

/** A flag's further names as variables and keys have them: `--completion-promise` is `completion_promise`. */
export function furtherNames(name: SettingName): readonly string[] {
  return (SETTINGS[name].aliases ?? []).map((flag) => flag.slice(2).replaceAll('-', '_'));
}

/** `maxIterations` as `max_iterations`. */
export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

import type { WrittenRow } from './setting-row.ts';

const OWN_FOLDERS = { not: 'a worker keeps the state of its tasks itself' } as const;
const SHOWN = {
  not: 'nobody watches a worker; ralph logs ID and ralph status ID show the task',
} as const;

/** The settings that say where tasks are stored, and what happens around the loop. */
export const PLACE_ROWS = {
  taskId: {
    argument: 'ID',
    type: { kind: 'text' },
    variable: false,
    key: false,
    ...{ trust: false, fleet: 'beside', resume: 'fixed', rescue: 'file' },
    help: 'name of the task: A-Z a-z 0-9 . _ -, up to 128 (default: words of the prompt and four characters)',
  },
  vault: {
    argument: 'DIR',
    type: { kind: 'text' },
    ...{ trust: true, fleet: OWN_FOLDERS, resume: 'changes', rescue: 'own' },
    help: 'the folder with Needs_Action, Done and .ralph_state (default: the nearest with .ralph_state up to the root of the git work tree, or here)',
  },
  stateDir: {
    argument: 'DIR',
    type: { kind: 'text' },
    ...{ trust: true, fleet: OWN_FOLDERS, resume: 'changes', rescue: 'own' },
    help: 'where states and logs are kept (default: .ralph_state in the vault)',
  },
  cwd: {
    argument: 'DIR',
    type: { kind: 'text' },
    fleet: {
      not: 'the agent works in a clone of the repository; name a folder in it with --subdir',
    },
    ...{ trust: true, resume: 'changes', rescue: 'own' },
    help: 'the folder the agent works in (default: here)',
  },
  after: {
    type: { kind: 'command' },
    ...{ trust: true, fleet: 'stored', resume: 'changes', rescue: 'program' },
    help: 'shell command after each iteration; its outcome as JSON on standard input',
  },
  onEnd: {
    type: { kind: 'command' },
    ...{ trust: true, fleet: 'stored', resume: 'changes', rescue: 'program' },
    help: 'shell command once at the end; the outcome as JSON on standard input',
  },
  detach: {
    type: { kind: 'switch' },
    fleet: { not: 'a submitted task runs in the background anyway' },
    ...{ trust: false, resume: 'now', rescue: 'off' },
    help: 'run in the background, even after a log-out; prints the id and the log',
  },
  resumeIfOpen: {
    type: { kind: 'switch' },
    fleet: { not: 'a task with --task-id is queued once, so the same command may be repeated' },
    ...{ trust: false, resume: 'now', rescue: 'off' },
    help: 'resume the task of --task-id if it is open, else start it: one line for cron',
  },
  noWait: {
    type: { kind: 'switch' },
    fleet: { not: 'a task of a fleet waits without a process; --approval-timeout bounds it' },
    ...{ trust: false, resume: 'changes', rescue: 'off' },
    help: 'end with exit code 6 if an approval is wanted, instead of waiting for it',
  },
  approvalTimeout: {
    type: { kind: 'duration', minMs: 1 },
    default: '24h',
    ...{ trust: false, fleet: 'stored', resume: 'changes', rescue: 'own' },
    help: 'how long an approval is waited for',
  },
  logLimit: {
    type: { kind: 'size' },
    default: '1GB',
    ...{ trust: false, fleet: 'stored', resume: 'changes', rescue: 'own' },
    help: 'how much output of an iteration its log keeps: the head and the tail',
  },
  preventSleep: {
    negation: '--no-prevent-sleep',
    type: { kind: 'switch' },
    fleet: { not: 'it is about the machine on which the loop runs' },
    ...{ trust: false, resume: 'changes', rescue: 'own' },
    help: 'keep the machine awake; --no-prevent-sleep does not (default: on at a terminal)',
  },
  keyFile: {
    argument: 'FILE',
    type: { kind: 'text' },
    key: false,
    fleet: { not: 'a worker seals with its own key' },
    ...{ trust: false, resume: 'now', rescue: 'own' },
    help: 'the key by which your tasks are known, for a vault that several machines share (default: your own)',
  },
  config: {
    argument: 'FILE',
    type: { kind: 'text' },
    key: false,
    fleet: { not: 'no configuration file is read; give its settings as flags or variables' },
    ...{ trust: false, resume: 'fixed', rescue: 'own' },
    help: 'the configuration file (default: the nearest ralph.config.yaml upward)',
  },
} as const satisfies Readonly<Record<string, WrittenRow>>;

/** The settings that say what is printed. */
export const OUTPUT_ROWS = {
  dryRun: {
    type: { kind: 'switch' },
    ...{ trust: false, fleet: 'command', resume: 'now', rescue: 'off' },
    help: 'print what would be done, and do nothing',
  },
  json: {
    type: { kind: 'switch' },
    ...{ trust: false, fleet: 'command', resume: 'now', rescue: 'off' },
    help: 'one event a line on standard output, instead of the final message',
  },
  quiet: {
    type: { kind: 'switch' },
    ...{ trust: false, fleet: SHOWN, resume: 'now', rescue: 'own' },
    help: 'nothing on standard error unless it ends badly',
  },
  verbose: {
    type: { kind: 'switch' },
    ...{ trust: false, fleet: SHOWN, resume: 'now', rescue: 'own' },
    help: "the agent's text and tool calls as they come",
  },
  noColor: {
    type: { kind: 'switch' },
    ...{ trust: false, fleet: SHOWN, resume: 'now', rescue: 'own' },
    help: 'no colours (NO_COLOR does the same)',
  },
} as const satisfies Readonly<Record<string, WrittenRow>>;

import { inGroup, type SubmitRow } from '../../core/settings/rows/setting-row.ts';
import type { Written } from '../../core/settings/setting-source.ts';
import { SETTINGS, snakeCase } from '../../core/settings/settings.ts';

/** The settings of `ralph submit`: its own, and those of a local run that mean something else for it. */
export const SUBMIT_SETTINGS = inGroup('The fleet', {
  fleet: {
    argument: 'URL',
    type: { kind: 'text' },
    fleet: 'command',
    help: 'the database of the fleet (default: RALPH_FLEET)',
  },
  repo: {
    argument: 'URL',
    type: { kind: 'text' },
    fleet: 'beside',
    help: 'the repository to work on, which a worker clones; no password in it',
  },
  base: {
    ...SETTINGS.base,
    group: 'The fleet',
    help: "where the task begins: a branch, a tag or a hash (default: the repository's HEAD)",
  },
  subdir: {
    argument: 'DIR',
    type: { kind: 'text' },
    fleet: 'beside',
    help: 'the folder in the repository in which the agent works (default: its root)',
  },
  branch: {
    argument: 'NAME',
    type: { kind: 'text' },
    fleet: 'beside',
    help: 'the branch that gets the work of a completed task (default: ralph/ID)',
  },
  setup: {
    ...SETTINGS.setup,
    group: 'The fleet',
    help: 'shell command, or @NAME of the policy, once in each new work tree, for example "npm ci"',
  },
  priority: {
    argument: 'N',
    type: { kind: 'text' },
    default: '0',
    fleet: 'beside',
    help: 'from -100 to 100; higher is taken first',
  },
  account: {
    argument: 'NAME',
    type: { kind: 'text' },
    default: 'default',
    fleet: 'beside',
    help: 'the account whose usage limit the task shares',
  },
  queue: {
    argument: 'NAME',
    type: { kind: 'text' },
    default: 'default',
    fleet: 'beside',
    help: 'queue whose workers take the task (up to 40 of a-z 0-9 -)',
  },
  notBefore: {
    argument: 'TIME',
    type: { kind: 'text' },
    fleet: 'beside',
    help: 'when it may be taken: a time such as 2027-01-31T22:00+01:00, or a duration from now',
  },
  wait: {
    type: { kind: 'switch' },
    fleet: 'one',
    help: 'follow the task and exit with its code; Ctrl-C stops following, not the task',
  },
  again: {
    type: { kind: 'switch' },
    fleet: 'command',
    help: 'run an ended task of this id again from the beginning',
  },
  batch: {
    argument: 'FILE',
    type: { kind: 'text' },
    fleet: 'command',
    help: 'queue many tasks: a JSON object on each line, with the keys of a configuration; "-" reads standard input',
  },
  promptFile: { ...SETTINGS.promptFile, help: 'a file with the task, read once' },
  maxWait: { ...SETTINGS.maxWait, default: '7d' },
  dryRun: { ...SETTINGS.dryRun, help: 'print what would be queued, and queue nothing' },
  json: { ...SETTINGS.json, help: 'with --dry-run: as JSON, a task on each line' },
} as const satisfies Readonly<Record<string, SubmitRow>>);

export type SubmitSettingName = keyof typeof SUBMIT_SETTINGS;

/** The settings of `ralph submit` from one source. */
export type SubmitLayer = Readonly<Partial<Record<SubmitSettingName, Written>>>;

function isOfLine({ fleet }: SubmitRow): boolean {
  return fleet === 'stored' || fleet === 'path' || fleet === 'beside';
}

/** The keys of a line of `--batch`, each with the name of its setting. */
export const BATCH_KEYS: ReadonlyMap<string, string> = new Map(
  Object.entries<SubmitRow>({ ...SETTINGS, ...SUBMIT_SETTINGS }).flatMap(([name, row]) =>
    isOfLine(row) ? [[snakeCase(name), name]] : [],
  ),
);

import type { SubmitRow } from '../../core/settings/rows/setting-row.ts';
import type { Written } from '../../core/settings/setting-source.ts';
import { SETTINGS, snakeCase } from '../../core/settings/settings.ts';

/** The settings of `ralph submit`: its own, and those of a run that mean something else there. */
const TABLE = {
  fleet: {
    flag: '--fleet',
    argument: 'URL',
    type: { kind: 'text' },
    group: 'Around it',
    batch: 'whole',
    help: 'the database of the fleet (default: RALPH_FLEET)',
  },
  repo: {
    flag: '--repo',
    argument: 'URL',
    type: { kind: 'text' },
    group: 'Git',
    batch: 'line',
    help: 'the repository to work on, which a worker clones; no password in it',
  },
  base: {
    ...SETTINGS.base,
    help: "where the task begins: a branch, a tag or a hash (default: the repository's HEAD)",
  },
  subdir: {
    flag: '--subdir',
    argument: 'DIR',
    type: { kind: 'text' },
    group: 'Git',
    batch: 'line',
    help: 'the folder in the repository in which the agent works (default: its root)',
  },
  branch: {
    flag: '--branch',
    argument: 'NAME',
    type: { kind: 'text' },
    group: 'Git',
    batch: 'line',
    help: 'the branch that gets the work of a completed task (default: ralph/ID)',
  },
  setup: {
    ...SETTINGS.setup,
    help: 'shell command, or @NAME of the policy, once in each new work tree, for example "npm ci"',
  },
  priority: {
    flag: '--priority',
    argument: 'N',
    type: { kind: 'text' },
    group: 'Around it',
    default: '0',
    batch: 'line',
    help: 'from -100 to 100; higher is taken first',
  },
  account: {
    flag: '--account',
    argument: 'NAME',
    type: { kind: 'text' },
    group: 'Around it',
    default: 'default',
    batch: 'line',
    help: 'the account whose usage limit the task shares',
  },
  queue: {
    flag: '--queue',
    argument: 'NAME',
    type: { kind: 'text' },
    group: 'Around it',
    default: 'default',
    batch: 'line',
    help: 'queue whose workers take the task (up to 40 of a-z 0-9 -)',
  },
  notBefore: {
    flag: '--not-before',
    argument: 'TIME',
    type: { kind: 'text' },
    group: 'Around it',
    batch: 'line',
    help: 'when it may be taken: a time such as 2027-01-31T22:00+01:00, or a duration from now',
  },
  wait: {
    flag: '--wait',
    type: { kind: 'switch' },
    group: 'Around it',
    batch: 'no',
    help: 'follow the task and exit with its code; Ctrl-C stops following, not the task',
  },
  again: {
    flag: '--again',
    type: { kind: 'switch' },
    group: 'Around it',
    batch: 'whole',
    help: 'run an ended task of this id again from the beginning',
  },
  batch: {
    flag: '--batch',
    argument: 'FILE',
    type: { kind: 'text' },
    group: 'Around it',
    batch: 'whole',
    help: 'queue many tasks: a JSON object on each line, with the keys of a configuration; "-" reads standard input',
  },
  promptFile: { ...SETTINGS.promptFile, help: 'a file with the task, read once' },
  maxWait: { ...SETTINGS.maxWait, default: '7d' },
  dryRun: { ...SETTINGS.dryRun, help: 'print what would be queued, and queue nothing' },
  json: { ...SETTINGS.json, help: 'with --dry-run: as JSON, a task on each line' },
} as const satisfies Readonly<Record<string, SubmitRow>>;

export type SubmitSettingName = keyof typeof TABLE;

export const SUBMIT_SETTINGS: Readonly<Record<SubmitSettingName, SubmitRow>> = TABLE;

/** The settings of `ralph submit` from one source. */
export type SubmitLayer = Readonly<Partial<Record<SubmitSettingName, Written>>>;

/** The keys of a line of `--batch`, and what they set. */
export const BATCH_KEYS: ReadonlyMap<string, string> = new Map(
  Object.entries({ ...SETTINGS, ...SUBMIT_SETTINGS }).flatMap(([name, { batch }]) =>
    batch === 'line' ? [[snakeCase(name), name]] : [],
  ),
);

import { type SettingName, settingNames } from '../settings/settings.ts';

const OWN_TREE = 'each task of a fleet has a clone of its own';
const OWN_FOLDERS = 'a worker keeps the state of its tasks itself';
const BY_POLICY = 'the policy file of the worker decides about its sandbox';
const SHOWN = 'nobody watches a worker; ralph logs ID and ralph status ID show the task';

/** The settings that concern one machine, so that no task of a fleet has them: why, and what to do. */
const OF_A_MACHINE: Readonly<Partial<Record<SettingName, string>>> = {
  vault: OWN_FOLDERS,
  stateDir: OWN_FOLDERS,
  keyFile: 'a worker seals with its own key',
  cwd: 'the agent works in a clone of the repository; name a folder in it with --subdir',
  detach: 'a submitted task runs in the background anyway',
  agentBin: 'it is a program of this machine, and a worker finds its own on its PATH',
  config: 'no configuration file is read; give its settings as flags or variables',
  taskFile: 'it is a file of a vault; give its text with --prompt-file',
  resumeIfOpen: 'a task with --task-id is queued once, so the same command may be repeated',
  worktree: OWN_TREE,
  worktreeDir: OWN_TREE,
  shareWorktree: OWN_TREE,
  copy: 'it copies files of this machine; make them with --setup',
  keepBackground: 'a worker ends all that a task has started',
  maxCostPerDay: 'it counts the tasks of a vault; limit the task with --max-cost',
  preventSleep: 'it is about the machine on which the loop runs',
  noWait: 'a task of a fleet waits without a process; --approval-timeout bounds it',
  snapshots: 'a fleet hands a task on by its snapshots',
  sandbox: BY_POLICY,
  allowWrite: BY_POLICY,
  allowNet: BY_POLICY,
  denyRead: BY_POLICY,
  allowRead: BY_POLICY,
  keepEnv: BY_POLICY,
  allowUnixSockets: BY_POLICY,
  sandboxChecks: BY_POLICY,
  verbose: SHOWN,
  quiet: SHOWN,
  noColor: SHOWN,
};

/** How a task is submitted; no task has these. */
const OF_THE_COMMAND: readonly SettingName[] = ['dryRun', 'json'];

/** What a `FleetSpec` has beside its settings. */
const BESIDE: readonly SettingName[] = ['prompt', 'promptFile', 'taskId', 'base', 'setup'];

/** Returns why `ralph submit` does not take a setting, and what to do; null if it takes it. */
export function whyNotSubmitted(name: SettingName): string | null {
  return OF_A_MACHINE[name] ?? null;
}

/** Returns the settings that `ralph submit` takes, in the order of the help. */
function submittableSettings(): readonly SettingName[] {
  return settingNames().filter((name) => OF_A_MACHINE[name] === undefined);
}

const STORED = submittableSettings().filter(
  (name) => !OF_THE_COMMAND.includes(name) && !BESIDE.includes(name),
);

/** Returns the settings that are stored with a task of a fleet. */
export function submittedSettings(): readonly SettingName[] {
  return STORED;
}

import { existsSync } from 'node:fs';
import path from 'node:path';
import { AGENTS, rulesForAll } from '../../core/agent/agents/agents.ts';
import { policyOf, promiseProblems } from '../../core/policy/policy-of.ts';
import { contextRoom, promptTooLong } from '../../core/prompt/prompt-room.ts';
import { withoutFleet } from '../../core/settings/environment.ts';
import { judgeOf } from '../../core/settings/judge-setting.ts';
import type { SourcedSettings } from '../../core/settings/setting-source.ts';
import { settingsProblems } from '../../core/settings/settings-problems.ts';
import type { StoredRun } from '../../core/settings/stored-run.ts';
import { type Policy, withPolicy } from '../../core/task/policy.ts';
import { isTaskId, TASK_ID_RULE } from '../../core/task/task-id.ts';
import type { OwnWorkTree } from '../../core/task/task-state.ts';
import { oneLine } from '../../core/text/untrusted-text.ts';
import { UsageError } from '../../errors.ts';
import { inOwnTree } from '../branches/own-tree.ts';
import { isFile, isFolder } from '../files/file-kinds.ts';
import { leadsOut, realPath } from '../files/real-path.ts';
import { keyFlag, readKey } from '../trust/key.ts';
import { distrustPath } from '../trust/owner.ts';
import { taskIdOfFile } from '../vault/task-file.ts';
import { vaultAbove } from '../vault/vault-above.ts';
import { IN_PROGRESS } from '../vault/vault-folders.ts';
import { planGit } from './git-plan.ts';
import { outerEnvironment } from './outer-environment.ts';
import { firstWords, type PromptRequest, readPrompt } from './prompt-source.ts';

/** What the user asked for, before any check. */
export interface RunRequest extends StoredRun, PromptRequest {
  readonly env: NodeJS.ProcessEnv;
  /** Whether the task file requires that a person approves the work before it begins. */
  readonly approvalRequired?: boolean;
  /** The resumed task's own work tree; null if it has none, absent for a new task. */
  readonly workTree?: OwnWorkTree | null;
  /**
   * Creates a task id for a prompt and a state folder, if neither a setting nor a task file gives one. The prompt is
   * empty if it is on standard input.
   */
  readonly newTaskId: (prompt: string, stateDir: string) => string;
}

/** A run whose settings are checked and whose paths are absolute. */
export interface RunPlan extends StoredRun {
  readonly taskId: string;
  readonly policy: Policy;
  readonly prompt: Uint8Array;
  /** The regular file from which the prompt is read each time; null if the prompt never changes. */
  readonly promptFile: string | null;
  readonly vault: string;
  readonly stateDir: string;
  /** The folder in which the agent works; it lies in `workTree` if there is one. */
  readonly cwd: string;
  /** The task's own work tree, which need not exist yet; null if it has none. */
  readonly workTree: OwnWorkTree | null;
  /** Path of the key that the user named; null for the default key. */
  readonly keyFile: string | null;
  /** The key file that commands shown to the user must name with a flag; null if they find the key without it. */
  readonly keyFlag: string | null;
  readonly env: NodeJS.ProcessEnv;
  /** The environment of the git that ralph itself starts. */
  readonly gitEnv: NodeJS.ProcessEnv;
  readonly taskTimeoutMs: number;
  /** Path of the task file before the run moves it; null if there is no task file. */
  readonly taskFile: string | null;
  /** Path to which the agent must move the watched file; null if no file is watched. */
  readonly donePath: string | null;
}

/** Checks a request and resolves its paths. Returns the plan, or all problems as whole sentences. */
export async function planRun(
  asked: RunRequest,
): Promise<{ readonly plan: RunPlan } | { readonly problems: readonly string[] }> {
  const { startDir } = asked;
  const env = withoutFleet(asked.env);
  const problems: string[] = [];
  const vault = path.resolve(startDir, asked.settings.vault ?? vaultAbove(startDir));
  const cwd = path.resolve(startDir, asked.settings.cwd ?? '.');
  const request = await withFrozenCriteria(asked, cwd, problems);
  const { settings } = request;
  if (!isFolder(cwd))
    problems.push(`${request.sources.cwd.where} expects an existing folder; found none at ${cwd}.`);
  if (existsSync(vault) && !isFolder(vault)) {
    problems.push(`${request.sources.vault.where} expects a folder; ${vault} is something else.`);
  }
  const ownStateDir = path.join(vault, '.ralph_state');
  if (settings.stateDir === null && leadsOut(ownStateDir, vault)) {
    problems.push(
      `${ownStateDir} is a link that leads out of the vault; remove it, or name the folder with --state-dir.`,
    );
  }
  const taskFile = settings.taskFile === null ? null : lookUp(settings.taskFile, vault, cwd);
  const stateDir = settings.stateDir === null ? ownStateDir : path.resolve(cwd, settings.stateDir);
  const promptFile = settings.promptFile === null ? null : path.resolve(cwd, settings.promptFile);
  const newId = (): string => request.newTaskId(firstWords(settings.prompt, promptFile), stateDir);
  const taskId = settings.taskId ?? (taskFile === null ? newId() : taskIdOfFile(taskFile));
  for (const name of isTaskId(taskId) ? writtenBelow(taskId) : []) {
    const file = path.join(stateDir, name);
    if (leadsOut(file, stateDir)) {
      problems.push(`${file} is a link that leads out of ${stateDir}; remove it.`);
      continue;
    }
    const why = distrustPath(realPath(file));
    if (why !== null) {
      problems.push(
        `${file} is not used: ${why}. Another folder can be named with --state-dir; in a container, run as the user to whom the vault belongs.`,
      );
    }
  }
  const keyFile = settings.keyFile === null ? null : path.resolve(startDir, settings.keyFile);
  if (keyFile !== null) {
    const key = readKey(keyFile, request.env, { create: false });
    if ('problem' in key) {
      problems.push(`${request.sources.keyFile.where} expects a key; ${key.problem}`);
    }
  }
  if (judgeOf(settings) !== null && settings.judgeCommand !== null) {
    const { commandInTree } = await import('./command-in-tree.ts');
    const found = commandInTree(settings.judgeCommand, startDir, cwd);
    if (found !== null) {
      const { where } = request.sources.judgeCommand;
      problems.push(
        `${where} expects a program outside of the work tree, since the worker could rewrite it; found ${found}.`,
      );
    }
  }
  if (!isTaskId(taskId)) problems.push(`--task-id expects ${TASK_ID_RULE}; found '${taskId}'.`);

  const inVaultFirst = (name: string): string => lookUp(name, vault, cwd);
  const doneFolder =
    settings.doneFolder === null ? path.join(vault, 'Done') : inVaultFirst(settings.doneFolder);
  const gitEnv = outerEnvironment(env, request);
  const git = await planGit({ ...request, env: gitEnv, cwd, taskId });
  problems.push(...git.problems);
  const inTree = (place: string): string =>
    path.isAbsolute(place) ? inOwnTree(git.workTree, place) : place;
  const plain = policyOf(request, {
    // The agent can complete the task by moving the task file, as with a watched file.
    fileInWork: taskFile === null ? null : path.join(IN_PROGRESS, path.basename(taskFile)),
    doneFolder,
    approvalRequired:
      request.approvalRequired === true ? `work on ${settings.taskFile ?? taskId}` : null,
    timeZone: machineZone,
  });
  const policy = withPolicy(plain, {
    planFile: plain.planFile === null ? null : inTree(plain.planFile),
    watchGlobs: plain.watchGlobs.map(inTree),
    protect: plain.protect.map(inTree),
  });
  const places = { promptFile, taskFile, vault, rules: rulesForAll(policy.agents) };
  const prompt = await readPrompt(request, places, problems);
  problems.push(...promiseProblems(policy, request.sources));
  problems.push(...settingsProblems(request));
  const contextChars = prompt === null ? 0 : contextFitting(prompt, policy, problems);
  if (problems.length > 0 || prompt === null) return { problems };

  const watchFile = policy.watchFile === null ? null : inVaultFirst(policy.watchFile);
  const plan: RunPlan = {
    taskId,
    taskType: request.taskType,
    policy: withPolicy(policy, { contextChars }),
    settings,
    sources: request.sources,
    prompt,
    // A pipe, as from a process substitution, can be read only once.
    promptFile: promptFile !== null && isFile(promptFile) ? promptFile : null,
    vault,
    stateDir,
    cwd: inTree(cwd),
    workTree: git.workTree,
    keyFile,
    keyFlag: keyFlag(keyFile, request.env),
    startDir,
    env,
    gitEnv,
    taskTimeoutMs: settings.timeout,
    taskFile,
    donePath: watchFile === null ? null : path.join(doneFolder, path.basename(watchFile)),
    passthrough: request.passthrough,
  };
  return { plan };
}

/** Reads the file of `--criteria`, relative to `folder`. Loads the code for that only if the setting names a file. */
export async function withFrozenCriteria<T extends SourcedSettings>(
  asked: T,
  folder: string,
  problems: string[],
): Promise<T> {
  if (asked.settings.criteria === null) return asked;
  const { withCriteria } = await import('./criteria-file.ts');
  return withCriteria(asked, (name) => path.resolve(folder, name), problems);
}

/** Plans a run. Rejects with a `UsageError`, ending with `notices`, if there are problems here or in `others`. */
export async function requirePlan(
  request: RunRequest,
  others: readonly string[] = [],
  notices: readonly string[] = [],
): Promise<RunPlan> {
  const planned = await planRun(request);
  const problems = [...others, ...('problems' in planned ? planned.problems : [])];
  if ('plan' in planned && problems.length === 0) return planned.plan;
  // A file name in a problem can contain line breaks.
  throw new UsageError([...problems, ...notices].map((each) => oneLine(each, 2_000)));
}

/**
 * Returns how many characters of earlier output fit into the prompt of every agent. Adds to `problems` if the
 * user's own prompt is too long for one.
 */
function contextFitting(prompt: Uint8Array, policy: Policy, problems: string[]): number {
  let most = policy.contextChars;
  for (const agent of policy.agents) {
    const { promptLimit: limit } = AGENTS[agent];
    if (limit === null) continue;
    const tooLong = promptTooLong(prompt, agent);
    if (tooLong !== null) problems.push(tooLong);
    most = Math.min(most, contextRoom(prompt, limit) ?? most);
  }
  return most;
}

/** Returns the paths in the state folder that must not lead out of it: a run writes even through symbolic links. */
function writtenBelow(taskId: string): readonly string[] {
  return ['.', taskId, path.join(taskId, 'requests'), 'history', 'locks', 'events.jsonl'];
}

/** Returns the path in `cwd` if the file exists only there, otherwise the path in the vault. */
function lookUp(name: string, vault: string, cwd: string): string {
  const inVault = path.resolve(vault, name);
  const inCwd = path.resolve(cwd, name);
  return !existsSync(inVault) && existsSync(inCwd) ? inCwd : inVault;
}

/** Returns the machine's time zone. If `TZ` is empty, the runtime names none, contrary to its type, and uses UTC. */
function machineZone(): string {
  const { timeZone }: { timeZone?: string } = Intl.DateTimeFormat().resolvedOptions();
  return timeZone ?? 'UTC';
}

import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { promiseInForce } from '../../core/completion/conditions/conditions.ts';
import { untagged } from '../../core/completion/promise.ts';
import type { Sources } from '../../core/settings/setting-source.ts';
import { SETTINGS, type SettingName, type Settings } from '../../core/settings/settings.ts';
import { agentOf, settingsProblems } from '../../core/settings/settings-problems.ts';
import { shellWords } from '../../core/settings/shell-words.ts';
import type { Policy } from '../../core/task/policy.ts';
import { isTaskId, TASK_ID_RULE } from '../../core/task/task-id.ts';
import { messageOf } from '../../errors.ts';
import { readTextWithin } from '../files/bounded-read.ts';
import { leadsOut, realPath } from '../files/real-path.ts';
import { keyFlag, readKey } from '../trust/key.ts';
import { distrustPath } from '../trust/owner.ts';
import {
  IN_PROGRESS,
  intoWorkProblem,
  splitFrontMatter,
  TASK_FILE_MAX_BYTES,
  taskFileProblem,
  taskFilePrompt,
  taskIdOfFile,
} from '../vault/task-file.ts';
import { promptProblem } from './prompt-source.ts';

/** The unvalidated request for a run. */
export interface RunRequest {
  readonly settings: Settings;
  readonly sources: Sources;
  /** Settings whose bad value was already reported: they cause no further problems. */
  readonly bad: ReadonlySet<SettingName>;
  readonly taskType: string;
  /** The arguments after `--`. */
  readonly passthrough: readonly string[];
  /** The folder ralph was started in. */
  readonly startDir: string;
  readonly env: NodeJS.ProcessEnv;
  /** Reads all of standard input, for the prompt `-`. */
  readonly readStdin: () => Promise<Uint8Array>;
  /** Whether the task file requires an approval before the work begins. */
  readonly approvalRequired?: boolean;
  /** The prompt of a resumed task; it replaces all other sources. */
  readonly keptPrompt?: Uint8Array;
  /** Creates the id of a task that names none. */
  readonly newTaskId: () => string;
}

/** A run with all paths resolved, and everything checked that can be checked before it starts. */
export interface RunPlan {
  readonly taskId: string;
  readonly taskType: string;
  readonly policy: Policy;
  readonly settings: Settings;
  readonly sources: Sources;
  readonly prompt: Uint8Array;
  /** Absolute; null if the prompt does not come from a file. */
  readonly promptFile: string | null;
  readonly vault: string;
  readonly stateDir: string;
  readonly cwd: string;
  /** The key that the user named, absolute; null for the user's own. */
  readonly keyFile: string | null;
  /** The key that commands shown to the user must name; null if they find it without. */
  readonly keyFlag: string | null;
  /** The folder in which ralph first started the task. */
  readonly startDir: string;
  readonly env: NodeJS.ProcessEnv;
  readonly taskTimeoutMs: number;
  /** The task file, absolute, as it is before the task begins; null if there is none. */
  readonly taskFile: string | null;
  /** Where the watched file must arrive; null if none is watched. */
  readonly donePath: string | null;
  /** The words of a command agent; empty for claude. */
  readonly agentWords: readonly string[];
  readonly passthrough: readonly string[];
}

/** Resolves a request, or returns all problems with it. */
export async function planRun(
  request: RunRequest,
): Promise<{ readonly plan: RunPlan } | { readonly problems: readonly string[] }> {
  const { settings, startDir } = request;
  const problems: string[] = [];
  const vault = path.resolve(startDir, settings.vault ?? '.');
  const cwd = path.resolve(startDir, settings.cwd ?? '.');
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
  const taskId =
    settings.taskId ?? (taskFile === null ? request.newTaskId() : taskIdOfFile(taskFile));
  const stateDir = settings.stateDir === null ? ownStateDir : path.resolve(cwd, settings.stateDir);
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
  if (!isTaskId(taskId)) problems.push(`--task-id expects ${TASK_ID_RULE}; found '${taskId}'.`);

  const promptFile = settings.promptFile === null ? null : path.resolve(cwd, settings.promptFile);
  const prompt = await readPrompt(request, { promptFile, taskFile, vault }, problems);
  const promise = completionPromise(settings, request.sources.promise.where, problems);
  problems.push(...settingsProblems(request));
  if (problems.length > 0 || prompt === null) return { problems };

  const inVaultFirst = (name: string): string => lookUp(name, vault, cwd);
  // If the agent moves the task file, that completes the task like a watched file.
  const inWork = taskFile === null ? null : path.join(IN_PROGRESS, path.basename(taskFile));
  const watched = settings.watchFile ?? inWork;
  const watchFile = watched === null ? null : inVaultFirst(watched);
  const doneFolder =
    settings.doneFolder === null ? path.join(vault, 'Done') : inVaultFirst(settings.doneFolder);
  const policy: Policy = {
    agent: agentOf(request),
    promise,
    match: settings.match,
    watchGlobs: settings.watchGlob,
    watchFile: watched,
    doneFolder,
    until: settings.until,
    signals: settings.signal,
    planFile: settings.planFile,
    verify: settings.verify,
    confirm: settings.confirm,
    minIterations: settings.minIterations,
    protect: settings.protect,
    acceptRefused: settings.acceptRefused,
    abortPromise: settings.abortPromise === null ? null : untagged(settings.abortPromise),
    // A command has no session in which it could be asked.
    askBack: settings.askBack && agentOf(request) === 'claude',
    maxCostUsd: settings.maxCost,
    maxUsagePercent: settings.maxUsage,
    noProgressLimit: settings.noProgressLimit,
    sameErrorLimit: settings.sameErrorLimit,
    session: settings.session,
    after: settings.after,
    approvalRequired:
      request.approvalRequired === true ? `work on ${settings.taskFile ?? taskId}` : null,
    approvalTimeoutMs: settings.approvalTimeout,
    noWait: settings.noWait,
    maxIterations: settings.maxIterations,
    iterationTimeoutMs: Math.min(settings.iterationTimeout, settings.timeout),
    idleTimeoutMs: settings.idleTimeout,
    delayMs: settings.delay,
    retries: settings.retries,
    maxWaitMs: settings.maxWait,
    // Lazy, because finding it takes 15 ms, and only usage limits that reset at a time of day need it.
    get timeZone() {
      return machineZone();
    },
    context: settings.context,
    contextChars: settings.contextChars,
  };
  const plan: RunPlan = {
    taskId,
    taskType: request.taskType,
    policy,
    settings,
    sources: request.sources,
    prompt,
    // A pipe, as from a process substitution, can be read only once.
    promptFile: promptFile !== null && isRegularFile(promptFile) ? promptFile : null,
    vault,
    stateDir,
    cwd,
    keyFile,
    keyFlag: keyFlag(keyFile, request.env),
    startDir,
    env: request.env,
    taskTimeoutMs: settings.timeout,
    taskFile,
    donePath: watchFile === null ? null : path.join(doneFolder, path.basename(watchFile)),
    agentWords:
      agentOf(request) === 'command' ? (shellWords(settings.agentCommand ?? '') ?? []) : [],
    passthrough: request.passthrough,
  };
  return { plan };
}

/** Everything in the state folder that a run writes to, except files that a rename replaces. */
function writtenBelow(taskId: string): readonly string[] {
  return ['.', taskId, path.join(taskId, 'requests'), 'history', 'locks', 'events.jsonl'];
}

async function readPrompt(
  request: RunRequest,
  { promptFile, taskFile, vault }: PromptPlaces,
  problems: string[],
): Promise<Uint8Array | null> {
  const { prompt } = request.settings;
  const names = ['prompt', 'promptFile', 'taskFile'] as const;
  if (names.some((name) => request.bad.has(name))) return null;
  if (request.keptPrompt !== undefined) return request.keptPrompt;
  const given = names.filter((name) => request.settings[name] !== null);
  if (given.length !== 1) {
    const found = given.map((name) => SETTINGS[name].flag).join(' and ') || 'none';
    problems.push(
      `ralph run expects exactly one of --prompt TEXT, --prompt-file FILE and --task-file FILE; found ${found}.`,
    );
    return null;
  }
  if (taskFile !== null) return promptFromTask(request, taskFile, vault, problems);
  // `/dev/stdin` is standard input, too, but cannot be opened if that is a socket.
  const isStdin = prompt === '-' || promptFile === '/dev/stdin';
  const bytes = isStdin
    ? await request.readStdin()
    : promptFile === null
      ? new TextEncoder().encode(prompt ?? '')
      : promptFromFile(promptFile, request.sources.promptFile.where, problems);
  const problem = bytes === null ? null : promptProblem(bytes);
  if (problem !== null) {
    problems.push(`The prompt ${problem}; ralph expects 1 byte to 1 MB of text.`);
  }
  return bytes;
}

interface PromptPlaces {
  readonly promptFile: string | null;
  readonly taskFile: string | null;
  readonly vault: string;
}

/** Returns the prompt that asks for the work described in a task file. */
function promptFromTask(
  request: RunRequest,
  file: string,
  vault: string,
  problems: string[],
): Uint8Array | null {
  const { where } = request.sources.taskFile;
  const problem = taskFileProblem(file, vault);
  if (problem !== null) {
    problems.push(`${where} expects a file of the vault; ${file} ${problem}.`);
    return null;
  }
  const blocked = intoWorkProblem(vault, file);
  if (blocked !== null) {
    problems.push(
      `${where}: ${file} cannot be moved to ${IN_PROGRESS}: ${blocked}. If that is this task, ralph resume goes on with it; otherwise rename one of the two.`,
    );
    return null;
  }
  const { body } = splitFrontMatter(readTextWithin(file, TASK_FILE_MAX_BYTES));
  const wrong = promptProblem(new TextEncoder().encode(body));
  if (wrong !== null) {
    problems.push(`${where}: the text of ${file} ${wrong}; ralph expects 1 byte to 1 MB of text.`);
    return null;
  }
  const text = taskFilePrompt(path.basename(file), body, agentOf(request) === 'claude');
  return new TextEncoder().encode(text);
}

function promptFromFile(file: string, where: string, problems: string[]): Uint8Array | null {
  try {
    return readFileSync(file);
  } catch (error) {
    const reason = messageOf(error);
    problems.push(`${where} expects a file that can be read; found: ${reason}.`);
    return null;
  }
}

function completionPromise(settings: Settings, where: string, problems: string[]): string | null {
  const promise = settings.promise === null ? null : untagged(settings.promise);
  if (promise === '') {
    problems.push(
      `${where} expects the words by which the agent states completion; found an empty text, which every message would contain.`,
    );
  }
  const { watchFile, until, planFile, watchGlob: watchGlobs, signal: signals } = settings;
  const conditions = { watchGlobs, watchFile, doneFolder: '', until, signals, planFile };
  return promiseInForce({ ...conditions, promise });
}

/** Resolves against the vault, then the working directory; a missing file belongs to the vault. */
function lookUp(name: string, vault: string, cwd: string): string {
  const inVault = path.resolve(vault, name);
  const inCwd = path.resolve(cwd, name);
  return !existsSync(inVault) && existsSync(inCwd) ? inCwd : inVault;
}

/** With `TZ=` the runtime returns no zone, contrary to its type; its clock then shows UTC. */
function machineZone(): string {
  const { timeZone }: { timeZone?: string } = Intl.DateTimeFormat().resolvedOptions();
  return timeZone ?? 'UTC';
}

function isFolder(folder: string): boolean {
  try {
    return statSync(folder).isDirectory();
  } catch {
    return false;
  }
}

function isRegularFile(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.isFile() ?? false;
}

import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import type { Policy } from '../core/policy.ts';
import { untagged } from '../core/promise.ts';
import { isGiven, type Source, type Sources } from '../core/setting-source.ts';
import { DEFAULT_PROMISE, SETTINGS, type SettingName, type Settings } from '../core/settings.ts';
import { shellWords } from '../core/shell-words.ts';
import { isTaskId, TASK_ID_RULE } from '../core/task-id.ts';
import { promptProblem } from './prompt-source.ts';

/** What a run is asked for, before anything of it is looked at. */
export interface RunRequest {
  readonly settings: Settings;
  readonly sources: Sources;
  readonly taskType: string;
  /** What the user gave after `--`. */
  readonly passthrough: readonly string[];
  /** The folder ralph was started in. */
  readonly startDir: string;
  readonly env: NodeJS.ProcessEnv;
  /** Reads standard input whole, for the prompt `-`. */
  readonly readStdin: () => Promise<Uint8Array>;
  /** The id a task without one gets. */
  readonly newTaskId: () => string;
}

/** A run with every path resolved and everything checked that can be checked without starting. */
export interface RunPlan {
  readonly taskId: string;
  readonly taskType: string;
  readonly policy: Policy;
  readonly settings: Settings;
  readonly sources: Sources;
  readonly prompt: Uint8Array;
  /** Absolute; null where the prompt does not come from a file. */
  readonly promptFile: string | null;
  readonly vault: string;
  readonly stateDir: string;
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly taskTimeoutMs: number;
  /** Where the watched file has to arrive; null when none is watched. */
  readonly donePath: string | null;
  /** The words of a command agent; empty for claude. */
  readonly agentWords: readonly string[];
  readonly passthrough: readonly string[];
}

/** Resolves a request, or says everything that is wrong with it. */
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
  const taskId = settings.taskId ?? request.newTaskId();
  if (!isTaskId(taskId)) problems.push(`--task-id expects ${TASK_ID_RULE}; found '${taskId}'.`);

  const promptFile = settings.promptFile === null ? null : path.resolve(cwd, settings.promptFile);
  const prompt = await readPrompt(request, promptFile, problems);
  const promise = completionPromise(settings, problems);
  problems.push(...conditionProblems(request), ...limitProblems(request));
  const agentWords = agentCommand(request, problems);
  problems.push(...passthroughProblems(request));
  if (problems.length > 0 || prompt === null) return { problems };

  const inVaultFirst = (name: string): string => lookUp(name, vault, cwd);
  const watchFile = settings.watchFile === null ? null : inVaultFirst(settings.watchFile);
  const doneFolder =
    settings.doneFolder === null ? path.join(vault, 'Done') : inVaultFirst(settings.doneFolder);
  const policy: Policy = {
    agent: agentWords.length > 0 ? 'command' : 'claude',
    promise,
    match: settings.match,
    watchGlobs: settings.watchGlob,
    watchFile: settings.watchFile,
    doneFolder,
    maxIterations: settings.maxIterations,
    iterationTimeoutMs: Math.min(settings.iterationTimeout, settings.timeout),
    idleTimeoutMs: settings.idleTimeout,
    delayMs: settings.delay,
    retries: settings.retries,
    maxWaitMs: settings.maxWait,
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
    promptFile,
    vault,
    stateDir:
      settings.stateDir === null
        ? path.join(vault, '.ralph_state')
        : path.resolve(cwd, settings.stateDir),
    cwd,
    env: request.env,
    taskTimeoutMs: settings.timeout,
    donePath: watchFile === null ? null : path.join(doneFolder, path.basename(watchFile)),
    agentWords,
    passthrough: request.passthrough,
  };
  return { plan };
}

async function readPrompt(
  request: RunRequest,
  promptFile: string | null,
  problems: string[],
): Promise<Uint8Array | null> {
  const { prompt } = request.settings;
  if ((prompt === null) === (promptFile === null)) {
    const found = prompt === null ? 'neither' : 'both';
    problems.push(
      `ralph run expects exactly one of --prompt TEXT and --prompt-file FILE; found ${found}.`,
    );
    return null;
  }
  const bytes =
    promptFile === null
      ? await promptText(prompt ?? '', request.readStdin)
      : promptFromFile(promptFile, problems);
  const problem = bytes === null ? null : promptProblem(bytes);
  if (problem !== null) {
    problems.push(`The prompt ${problem}; ralph expects 1 byte to 1 MB of text.`);
  }
  return bytes;
}

async function promptText(
  prompt: string,
  readStdin: () => Promise<Uint8Array>,
): Promise<Uint8Array> {
  return prompt === '-' ? readStdin() : new TextEncoder().encode(prompt);
}

function promptFromFile(file: string, problems: string[]): Uint8Array | null {
  try {
    return readFileSync(file);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    problems.push(`--prompt-file expects a file that can be read; found: ${reason}.`);
    return null;
  }
}

function completionPromise(settings: Settings, problems: string[]): string | null {
  const { promise } = settings;
  if (promise === null) {
    const hasOther = settings.watchGlob.length > 0 || settings.watchFile !== null;
    return hasOther ? null : DEFAULT_PROMISE;
  }
  const words = untagged(promise);
  if (words === '') {
    problems.push(
      '--promise expects the words by which the agent states completion; found an empty text, which every message would contain.',
    );
  }
  return words;
}

function conditionProblems({ settings, sources }: RunRequest): readonly string[] {
  const problems: string[] = [];
  if (settings.watchGlob.some((glob) => glob.trim() === '')) {
    problems.push(
      `${sources.watchGlob.where} expects a pattern such as "out/*.md"; found an empty text.`,
    );
  }
  if (settings.watchFile?.trim() === '') {
    problems.push(`${sources.watchFile.where} expects a file; found an empty text.`);
  }
  // Written once for many tasks these are harmless; on the command line they are a slip.
  if (settings.watchExisting && isFlag(sources.watchExisting) && settings.watchGlob.length === 0) {
    problems.push('--watch-existing needs --watch-glob, and none was given.');
  }
  if (settings.doneFolder !== null && isFlag(sources.doneFolder) && settings.watchFile === null) {
    problems.push('--done-folder needs --watch-file, and none was given.');
  }
  if (settings.quiet && settings.verbose) {
    problems.push(`${sources.quiet.where} and ${sources.verbose.where} exclude each other.`);
  }
  return problems;
}

function isFlag(source: Source): boolean {
  return source.kind === 'flag';
}

/** Limits that cannot hold together. A default or a task type's limit gives way instead. */
function limitProblems({ settings, sources }: RunRequest): readonly string[] {
  const problems: string[] = [];
  const { iterationTimeout, idleTimeout, timeout } = settings;
  if (isGiven(sources.iterationTimeout) && iterationTimeout > timeout) {
    problems.push(
      `${sources.iterationTimeout.where} (${seconds(iterationTimeout)}) is longer than the time for the whole task (${seconds(timeout)}, ${sources.timeout.where}); lower the one or raise the other.`,
    );
  }
  if (idleTimeout !== null && idleTimeout > Math.min(iterationTimeout, timeout)) {
    problems.push(
      `${sources.idleTimeout.where} (${seconds(idleTimeout)}) is longer than an iteration may last (${seconds(Math.min(iterationTimeout, timeout))}, ${sources.iterationTimeout.where}), so it would never be reached; lower it or raise --iteration-timeout.`,
    );
  }
  if (settings.maxIterations > 1 && settings.delay >= timeout) {
    problems.push(
      `${sources.delay.where} (${seconds(settings.delay)}) leaves no time for a second iteration within the whole task (${seconds(timeout)}, ${sources.timeout.where}); lower it or raise --timeout.`,
    );
  }
  return problems;
}

function seconds(ms: number): string {
  return `${ms / 1000}s`;
}

function agentCommand(request: RunRequest, problems: string[]): readonly string[] {
  const { settings, sources } = request;
  // A command says of itself which kind of agent is meant, unless a kind was named.
  const isNamed = isGiven(sources.agent);
  const isCommand = isNamed ? settings.agent === 'command' : settings.agentCommand !== null;
  if (!isCommand) {
    if (settings.agentCommand !== null && isFlag(sources.agentCommand)) {
      problems.push('--agent-command goes with --agent command; found --agent claude.');
    }
    return [];
  }
  for (const name of CLAUDE_ONLY) {
    if (isFlag(sources[name])) {
      problems.push(`${SETTINGS[name].flag} is for --agent claude; found --agent command.`);
    }
  }
  const words = shellWords(settings.agentCommand ?? '');
  if (words === null) {
    problems.push(`--agent-command has a quote that is not closed: ${settings.agentCommand}`);
  } else if (words.length === 0) {
    problems.push('--agent command needs --agent-command "PROGRAM ARGUMENTS", and none was given.');
  }
  return words ?? [];
}

const CLAUDE_ONLY: readonly SettingName[] = [
  'claudeBin',
  'model',
  'permissionMode',
  'allowedTools',
  'dangerouslySkipPermissions',
];

/** Ralph reads structured output and writes the prompt itself: these would break both. */
const NOT_AFTER_DASHES = ['--output-format', '--input-format'];

function passthroughProblems({ passthrough, settings }: RunRequest): readonly string[] {
  if (settings.agent !== 'claude') return [];
  return NOT_AFTER_DASHES.filter((flag) =>
    passthrough.some((word) => word === flag || word.startsWith(`${flag}=`)),
  ).map((flag) => `${flag} after -- would break how ralph talks to claude; take it out.`);
}

/** In the vault first, then where the agent works; what is nowhere yet belongs to the vault. */
function lookUp(name: string, vault: string, cwd: string): string {
  const inVault = path.resolve(vault, name);
  const inCwd = path.resolve(cwd, name);
  return !existsSync(inVault) && existsSync(inCwd) ? inCwd : inVault;
}

function isFolder(folder: string): boolean {
  return statSync(folder, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import type { Policy } from '../core/policy.ts';
import { untagged } from '../core/promise.ts';
import { DEFAULT_PROMISE, type SettingName, type Settings } from '../core/settings.ts';
import { shellWords } from '../core/shell-words.ts';
import { isTaskId, TASK_ID_RULE } from '../core/task-id.ts';
import { promptProblem } from './prompt-source.ts';

/** What a run is asked for, before anything of it is looked at. */
export interface RunRequest {
  readonly settings: Settings;
  /** Which settings were written down, not defaulted. */
  readonly given: ReadonlySet<SettingName>;
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
  readonly policy: Policy;
  readonly settings: Settings;
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
  if (!isFolder(cwd)) problems.push(`--cwd expects an existing folder; found none at ${cwd}.`);
  if (existsSync(vault) && !isFolder(vault)) {
    problems.push(`--vault expects a folder; ${vault} is something else.`);
  }
  const taskId = settings.taskId ?? request.newTaskId();
  if (!isTaskId(taskId)) problems.push(`--task-id expects ${TASK_ID_RULE}; found '${taskId}'.`);

  const promptFile = settings.promptFile === null ? null : path.resolve(cwd, settings.promptFile);
  const prompt = await readPrompt(request, promptFile, problems);
  const promise = completionPromise(settings, problems);
  problems.push(...conditionProblems(settings), ...limitProblems(request));
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
    policy,
    settings,
    prompt,
    promptFile,
    vault,
    stateDir: path.join(vault, '.ralph_state'),
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

function conditionProblems(settings: Settings): readonly string[] {
  const problems: string[] = [];
  if (settings.watchGlob.some((glob) => glob.trim() === '')) {
    problems.push('--watch-glob expects a pattern such as "out/*.md"; found an empty text.');
  }
  if (settings.watchFile?.trim() === '') {
    problems.push('--watch-file expects a file; found an empty text.');
  }
  if (settings.watchExisting && settings.watchGlob.length === 0) {
    problems.push('--watch-existing needs --watch-glob, and none was given.');
  }
  if (settings.doneFolder !== null && settings.watchFile === null) {
    problems.push('--done-folder needs --watch-file, and none was given.');
  }
  return problems;
}

function limitProblems({ settings, given }: RunRequest): readonly string[] {
  // A default gives way; a limit that somebody wrote down and that can never be reached is a mistake.
  if (!given.has('iterationTimeout') || settings.iterationTimeout <= settings.timeout) return [];
  return [
    `--iteration-timeout (${settings.iterationTimeout / 1000}s) is longer than the --timeout of the whole task (${settings.timeout / 1000}s); lower the one or raise the other.`,
  ];
}

function agentCommand(request: RunRequest, problems: string[]): readonly string[] {
  const { settings, given } = request;
  const isCommand = given.has('agent') ? settings.agent === 'command' : given.has('agentCommand');
  if (!isCommand) {
    if (settings.agentCommand !== null) {
      problems.push('--agent-command goes with --agent command; found --agent claude.');
    }
    return [];
  }
  for (const [name, flag] of CLAUDE_ONLY) {
    if (given.has(name)) problems.push(`${flag} is for --agent claude; found --agent command.`);
  }
  const words = shellWords(settings.agentCommand ?? '');
  if (words === null) {
    problems.push(`--agent-command has a quote that is not closed: ${settings.agentCommand}`);
  } else if (words.length === 0) {
    problems.push('--agent command needs --agent-command "PROGRAM ARGUMENTS", and none was given.');
  }
  return words ?? [];
}

const CLAUDE_ONLY: readonly (readonly [SettingName, string])[] = [
  ['claudeBin', '--claude-bin'],
  ['model', '--model'],
  ['permissionMode', '--permission-mode'],
  ['allowedTools', '--allowed-tools'],
  ['dangerouslySkipPermissions', '--dangerously-skip-permissions'],
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

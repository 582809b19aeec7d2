import { maskSecrets } from '../core/secrets/secrets.ts';
import { newTaskState } from '../core/task/new-task.ts';
import { defaultTaskId } from '../core/task/task-id.ts';
import { msBetween, type TaskState } from '../core/task/task-state.ts';
import { safeJson } from '../core/text/safe-json.ts';
import { withoutControls } from '../core/text/untrusted-text.ts';
import { sha256Of } from '../effects/files/file-hash.ts';
import { leadsOut, nameInside } from '../effects/files/real-path.ts';
import { promptProblem } from '../effects/plan/prompt-source.ts';
import { readTaskFile } from '../effects/vault/task-file.ts';
import { UsageError } from '../errors.ts';
import { InvalidPromptError, TaskNotFoundError } from '../task-errors.ts';
import type { ServicePlace } from './service-options.ts';
import { type StartTaskOptions, taskSettings } from './task-options.ts';

/** The longest prompt preview in a state, in UTF-16 code units. */
const PREVIEW_CHARS = 1_000;

/**
 * Reads the options of a new task. `isNamed`: the task has its id from the caller or a task file; it was not made up.
 * Throws the errors that `startTask` documents.
 */
export function readNewTask(options: StartTaskOptions, place: ServicePlace, at: string) {
  const settings = taskSettings(options, place);
  const { vault, stateDir, doneFolder } = place;
  if (stateDir.startsWith(vault) && leadsOut(stateDir, vault)) {
    throw new UsageError([
      `${stateDir} is a link that leads out of the vault; remove it, or name another stateDir.`,
    ]);
  }
  const source = readSource(options, place);
  const named = settings.taskId ?? source.taskId;
  const encoder = new TextEncoder();
  const problem = promptProblem(encoder.encode(source.words));
  if (problem !== null) throw new InvalidPromptError(named, problem);
  const prompt = encoder.encode(source.prompt);
  const taskId = named ?? defaultTaskId(at, Math.random());
  const { file } = source;
  const state = newTaskState(
    {
      task_id: taskId,
      task_prompt: withoutControls(maskSecrets(source.words)).slice(0, PREVIEW_CHARS),
      prompt_sha256: sha256Of(prompt),
      task_type: settings.taskType,
      completion_promise: settings.promise,
      match: 'statement',
      watch_glob: [],
      watch_file: file ?? (settings.strategy === 'file_movement' ? `${taskId}.md` : null),
      done_folder: nameInside(vault, doneFolder),
      max_iterations: settings.maxIterations,
    },
    at,
    settings.timeoutMs,
  );
  // A task from a file is pending until its first iteration.
  const status = file === null ? 'running' : 'pending';
  const task: TaskState = { ...state, status, task_file: file, kept_by: 'library' };
  return { prompt, task, isNamed: named !== null };
}

interface PromptSource {
  /** What was asked, in the caller's words. */
  readonly words: string;
  /** The prompt as an agent would receive it. */
  readonly prompt: string;
  /** Absolute path, or null if the prompt was given as text. */
  readonly file: string | null;
  readonly taskId: string | null;
}

function readSource(options: StartTaskOptions, place: ServicePlace): PromptSource {
  const { prompt = '', taskFile, taskId } = options;
  if (taskFile === undefined) return { words: prompt, prompt, file: null, taskId: null };
  const source = readTaskFile(taskFile, place.vault);
  if (source === null) {
    const sentence = `there is no task file ${taskFile}; ralph looked for it in ${place.vault}.`;
    throw new TaskNotFoundError(taskId ?? taskFile, place.stateDir, sentence);
  }
  if ('problem' in source) throw new UsageError([`The task file ${taskFile} ${source.problem}.`]);
  return { ...source, words: source.body };
}

/** Returns a new task's settings as a run stores them, so that `ralph resume` can continue the task. */
export function librarySettingsJson(task: TaskState, startDir: string): string {
  const source = 'the library';
  const { watch_file, done_folder } = task;
  const values = {
    promise: task.completion_promise,
    ...(watch_file === null ? {} : { watch_file, done_folder }),
    max_iterations: task.max_iterations,
    timeout: msBetween(task.started_at, task.timeout_at),
  };
  const settings = Object.fromEntries(
    Object.entries(values).map(([key, value]) => [key, { value, source, from: 'flag' }]),
  );
  const stored = { settings, task_type: task.task_type, passthrough: [], start_dir: startDir };
  return `${safeJson(stored, 2)}\n`;
}

import path from 'node:path';
import * as z from 'zod/mini';
import { fromStored, type StoredRun, storedSettings } from '../../core/settings/stored-run.ts';
import type { TaskState } from '../../core/task/task-state.ts';
import { safeJson } from '../../core/text/safe-json.ts';
import { StateCorruptedError } from '../../task-errors.ts';
import { MB, readWithin } from '../files/bounded-read.ts';
import { sha256Of } from '../files/file-hash.ts';
import { lstatOf } from '../files/file-kinds.ts';
import { ifPossible } from '../files/if-possible.ts';
import { parseObject } from '../files/json-fields.ts';
import { isRealFolder } from '../state/task-list.ts';

const SETTINGS = 'settings.json';
const PROMPT = 'prompt.md';

/** Returns the text of `settings.json`, without a checksum: each setting by its configuration key, with its source. */
export function settingsJson(run: StoredRun): string {
  const { passthrough, taskType: task_type, startDir: start_dir } = run;
  const settings = storedSettings(run);
  return `${safeJson({ settings, passthrough, task_type, start_dir }, 2)}\n`;
}

const storedRun = z.object({
  settings: z.record(
    z.string(),
    z.object({
      value: z.unknown(),
      source: z.string(),
      from: z.enum(['flag', 'variable', 'front-matter', 'task-type', 'config', 'default']),
    }),
  ),
  task_type: z.string(),
  passthrough: z.array(z.string()),
  start_dir: z.string(),
});

/** Reads `settings.json` in a task's folder; null if it is missing or invalid. Does not check who wrote it. */
export function readStoredRun(folder: string): StoredRun | null {
  const parsed = storedRun.safeParse(parseObject(readOr(folder, SETTINGS)?.toString() ?? ''));
  if (!parsed.success) return null;
  const { settings, task_type: taskType, passthrough, start_dir: startDir } = parsed.data;
  return { ...fromStored(settings), taskType, passthrough, startDir };
}

/** Reads `settings.json` in a task's folder. Throws a `StateCorruptedError` if it is missing or invalid. */
export function requireStoredRun(folder: string, { task_id }: TaskState): StoredRun {
  const stored = readStoredRun(folder);
  if (stored !== null) return stored;
  const why = 'it is gone or damaged, and with it what the task has to pass and may do';
  throw new StateCorruptedError(task_id, path.join(folder, SETTINGS), why);
}

/**
 * Returns the prompt of a task's start, from `prompt.md` or the task's state: `ralph run` stores only its beginning in
 * the state, other programs all of it. Throws a `StateCorruptedError` if a task of `ralph run` has lost its prompt.
 */
export function readStoredPrompt(folder: string, task: TaskState): Uint8Array {
  const kept = readOr(folder, PROMPT);
  const inState = new TextEncoder().encode(task.task_prompt);
  if (!isOfRun(task)) return kept ?? inState;
  const whole = [kept, inState].find(
    (text) => text !== null && sha256Of(text) === task.prompt_sha256,
  );
  if (whole != null) return whole;
  const why = 'it is not what the task was started with';
  throw new StateCorruptedError(task.task_id, path.join(folder, PROMPT), why);
}

/** Whether `ralph run` started the task: it stores a checksum of the prompt, and names no program in `kept_by`. */
export function isOfRun({ prompt_sha256, kept_by }: TaskState): boolean {
  return prompt_sha256 !== '' && kept_by == null;
}

/** The settings may contain a prompt of 1 MB, which JSON escapes can make six times as long. */
const MAX_BYTES = 8 * MB;

/** Returns the content of a file; null if unreadable. Follows no symbolic link, because any user could have made it. */
function readOr(folder: string, name: string): Uint8Array | null {
  const file = path.join(folder, name);
  const isOwn = isRealFolder(folder) && lstatOf(file)?.isFile() === true;
  return isOwn ? ifPossible(() => readWithin(file, MAX_BYTES)) : null;
}

import { isUtf8 } from 'node:buffer';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { SETTINGS } from '../../core/settings/settings.ts';
import type { RequestedSettings } from '../../core/settings/settings-problems.ts';
import type { MaterialRules } from '../../core/text/untrusted-text.ts';
import { messageOf } from '../../errors.ts';
import type { PromptSource } from '../../loop/ports.ts';
import { MB, readFirstBytes, readTextWithin, readWithin } from '../files/bounded-read.ts';
import { ifPossible } from '../files/if-possible.ts';
import { errorCode } from '../files/write-file.ts';
import {
  intoWorkProblem,
  splitFrontMatter,
  TASK_FILE_MAX_BYTES,
  taskFileProblem,
  taskFilePrompt,
} from '../vault/task-file.ts';
import { IN_PROGRESS } from '../vault/vault-folders.ts';

/** The largest prompt; far below the limit of `claude`, which refuses standard input over 10 MB. */
export const PROMPT_MAX_BYTES = MB;

/** The settings of a requested run, and further sources of its prompt. */
export interface PromptRequest extends RequestedSettings {
  /** Reads all of standard input, for the prompt `-`. If absent, standard input counts as empty. */
  readonly readStdin?: () => Promise<Uint8Array>;
  /** The prompt of a resumed task; it replaces all other sources. */
  readonly keptPrompt?: Uint8Array;
}

/** The files from which the prompt can come. All paths are absolute; null means not given. */
interface PromptPlaces {
  readonly promptFile: string | null;
  readonly taskFile: string | null;
  readonly vault: string;
  /** Whether the agent would expand `@path` in the text of the task file. */
  readonly rules: MaterialRules;
}

/** Reads a run's prompt, which must have exactly one source; null without one. Adds what is wrong to `problems`. */
export async function readPrompt(
  { settings, sources, bad, readStdin, keptPrompt }: PromptRequest,
  places: PromptPlaces,
  problems: string[],
): Promise<Uint8Array | null> {
  const { promptFile, taskFile } = places;
  const names = ['prompt', 'promptFile', 'taskFile'] as const;
  if (names.some((name) => bad.has(name))) return null;
  if (keptPrompt !== undefined) return keptPrompt;
  const given = names.filter((name) => settings[name] !== null);
  if (given.length !== 1) {
    const found = given.map((name) => SETTINGS[name].flag).join(' and ') || 'none';
    problems.push(
      `ralph run expects exactly one of --prompt TEXT, --prompt-file FILE and --task-file FILE; found ${found}.`,
    );
    return null;
  }
  if (taskFile !== null) return promptFromTask(taskFile, places, sources.taskFile.where, problems);
  // `/dev/stdin` cannot be opened like a file if standard input is a socket.
  const isStdin = settings.prompt === '-' || promptFile === '/dev/stdin';
  const bytes = isStdin
    ? ((await readStdin?.()) ?? new Uint8Array())
    : promptFile === null
      ? new TextEncoder().encode(settings.prompt ?? '')
      : promptFromFile(promptFile, sources.promptFile.where, problems);
  const problem = bytes === null ? null : promptProblem(bytes);
  if (problem !== null) {
    problems.push(`The prompt ${problem}; ralph expects 1 byte to 1 MB of text.`);
  }
  return bytes;
}

/** Returns a prompt that asks for the work in a task file. If that is impossible, adds to `problems`; returns null. */
function promptFromTask(
  file: string,
  { vault, rules }: PromptPlaces,
  where: string,
  problems: string[],
): Uint8Array | null {
  const problem = taskFileProblem(file, vault);
  if (problem !== null) {
    problems.push(`${where} expects a file of the vault; ${file} ${problem}.`);
    return null;
  }
  const blocked = intoWorkProblem(vault, file);
  if (blocked !== null) {
    problems.push(
      `${where}: ${file} cannot be moved to ${IN_PROGRESS}: ${blocked}. If that is this task, ralph resume continues it; otherwise rename one of the two.`,
    );
    return null;
  }
  const { body } = splitFrontMatter(readTextWithin(file, TASK_FILE_MAX_BYTES));
  const wrong = promptProblem(new TextEncoder().encode(body));
  if (wrong !== null) {
    problems.push(`${where}: the text of ${file} ${wrong}; ralph expects 1 byte to 1 MB of text.`);
    return null;
  }
  return new TextEncoder().encode(taskFilePrompt(path.basename(file), body, rules));
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

/** Returns a prompt source that always reads the same bytes. */
export function fixedPrompt(bytes: Uint8Array): PromptSource {
  return { read: async () => bytes };
}

/**
 * Returns a prompt source that reads the file each time, so that it can be edited while the loop runs. If
 * the file is then gone, empty or too long, it calls `warn` and returns the last valid text.
 */
export function promptFile(
  file: string,
  first: Uint8Array,
  warn: (sentence: string) => void,
): PromptSource {
  let last = first;
  return {
    async read() {
      const found = readAgain(file);
      if (typeof found !== 'string') last = found;
      else warn(`The prompt file ${file} ${found} now; the last text of it is used.`);
      return last;
    },
  };
}

/** Returns the prompt in a file, or what is wrong with it, as a verb phrase. */
function readAgain(file: string): Uint8Array | string {
  try {
    const bytes = readWithin(file, PROMPT_MAX_BYTES);
    return promptProblem(bytes) ?? bytes;
  } catch (error) {
    return errorCode(error) === 'EFBIG' ? 'is over the limit of 1 MB' : 'cannot be read';
  }
}

/** Returns what is wrong with a prompt, as a verb phrase; null if nothing is wrong. */
export function promptProblem(bytes: Uint8Array): string | null {
  if (bytes.length > PROMPT_MAX_BYTES) {
    return `is ${bytes.length} bytes long, over the limit of ${PROMPT_MAX_BYTES} (1 MB)`;
  }
  if (isUtf16(bytes)) return 'is UTF-16, by its byte order mark: save it as UTF-8';
  if (bytes.includes(0)) return 'contains a NUL byte: save it as UTF-8';
  return isBlank(bytes) ? 'is empty' : null;
}

function isUtf16([first, second]: Uint8Array): boolean {
  return (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
}

/** Returns a warning that a prompt is not UTF-8, although it is sent unchanged; null if it is UTF-8. */
export function promptNotice(bytes: Uint8Array): string | null {
  return isUtf8(bytes)
    ? null
    : 'The prompt is not UTF-8, so the agent may misread some of its letters; save it as UTF-8.';
}

function isBlank(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0x20 || (byte >= 0x09 && byte <= 0x0d));
}

/** At most this much of a prompt is used to make a name. */
const FIRST_WORDS = 20_000;

/** Returns the beginning of a prompt, from which a name is made; empty if it cannot be read yet. */
export function firstWords(prompt: string | null, promptFile: string | null): string {
  if (prompt !== null) return prompt === '-' ? '' : prompt.slice(0, FIRST_WORDS);
  if (promptFile === null) return '';
  return ifPossible(() => readFirstBytes(promptFile, FIRST_WORDS).toString()) ?? '';
}

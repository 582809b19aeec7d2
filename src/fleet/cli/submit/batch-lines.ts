import { createReadStream } from 'node:fs';
import { configKeys, withUnit } from '../../../core/settings/config-keys.ts';
import type { Layer, Written } from '../../../core/settings/setting-source.ts';
import { SETTINGS } from '../../../core/settings/settings.ts';
import { nearest } from '../../../core/text/nearest.ts';
import { parseObject } from '../../../effects/files/json-fields.ts';
import { messageOf } from '../../../errors.ts';
import { BATCH_KEYS, type SubmitLayer } from '../../core/submit-settings.ts';

interface BatchLine {
  readonly number: number;
  readonly layer: Layer & SubmitLayer;
  readonly passthrough: readonly string[];
}

/** What is wrong with a line of a batch; line 0 stands for the whole batch. */
export interface LineProblem {
  readonly line: number;
  readonly sentence: string;
}

interface Batch {
  readonly lines: readonly BatchLine[];
  readonly problems: readonly LineProblem[];
}

const MOST_LINES = 50_000;
const MOST_BYTES = 256 * 1024 * 1024;

/** The key for arguments that are passed to the agent unchanged. */
const PASSTHROUGH_KEY = 'agent_arguments';

/**
 * Reads the text of a batch from a file, or for `-` from standard input. Resolves to a problem if it cannot be read,
 * has more than 256 MB or is not UTF-8.
 */
export async function readBatchText(
  file: string,
  readStdin: () => Promise<Uint8Array>,
): Promise<string | { readonly problem: string }> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    // The file may be a pipe, as from a process substitution.
    const source = file === '-' ? [await readStdin()] : createReadStream(file);
    for await (const chunk of source) {
      const bytes: Uint8Array = chunk;
      length += bytes.length;
      if (length > MOST_BYTES) break;
      chunks.push(bytes);
    }
  } catch (error) {
    return { problem: `--batch expects a file that can be read; found: ${messageOf(error)}.` };
  }
  if (length > MOST_BYTES) {
    return { problem: '--batch expects at most 256 MB; split the file into several batches.' };
  }
  try {
    // The decoder drops a byte order mark at the beginning.
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
  } catch {
    return { problem: '--batch expects text in UTF-8; convert the file with iconv.' };
  }
}

/** Reads the lines of a batch. Blank lines are skipped, but counted. */
export function readBatch(text: string): Batch {
  const keys = configKeys();
  const problems: LineProblem[] = [];
  const lines = text.split('\n').flatMap((line, index): readonly BatchLine[] => {
    if (line.trim() === '') return [];
    const number = index + 1;
    const fields = parseObject(line);
    if (fields === null) {
      const sentence = `a JSON object is expected, such as {"task_id": "a", "repo": "…", "prompt": "…"}; found ${shown(line)}`;
      problems.push({ line: number, sentence });
      return [];
    }
    const tell = (sentence: string) => void problems.push({ line: number, sentence });
    return [readLine(fields, { number, keys, tell })];
  });
  if (lines.length === 0 && problems.length === 0) {
    problems.push({
      line: 0,
      sentence: '--batch expects a JSON object on each line; found no line.',
    });
  }
  if (lines.length > MOST_LINES) {
    const sentence = `--batch expects at most ${MOST_LINES} tasks; found ${lines.length}. Split the file into several batches.`;
    return { lines: [], problems: [{ line: 0, sentence }] };
  }
  return { lines, problems };
}

interface LineReader {
  readonly number: number;
  readonly keys: ReturnType<typeof configKeys>;
  readonly tell: (sentence: string) => void;
}

function readLine(fields: Readonly<Record<string, unknown>>, reader: LineReader): BatchLine {
  const { number, keys, tell } = reader;
  const layer: Record<string, Written> = {};
  let passthrough: readonly string[] = [];
  for (const [key, value] of Object.entries(fields)) {
    const known = keys.get(key);
    const name = known?.name ?? BATCH_KEYS.get(key);
    // The source is the key without the line's number: problems name the line anyway, and a task must not depend on it.
    const source = { kind: 'flag' as const, where: key };
    if (key === PASSTHROUGH_KEY) {
      if (isTexts(value)) passthrough = value;
      else tell(`${key} expects a list of texts; found ${shown(value)}.`);
    } else if (known !== undefined && SETTINGS[known.name].fleet === 'command') {
      tell(`${key} is for the whole batch; give it as a flag.`);
    } else if (name === undefined) tell(unknownKey(key, keys));
    else if (layer[name] !== undefined) {
      tell(`${key} is already set by ${layer[name].source.where}.`);
    } else if (value === null) {
      tell(`${key} has no value; give one, or leave the key out.`);
    } else {
      layer[name] = { value: known === undefined ? value : withUnit(value, known), source };
    }
  }
  return { number, layer, passthrough };
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

function unknownKey(key: string, keys: LineReader['keys']): string {
  const near = nearest(key, [...keys.keys(), ...BATCH_KEYS.keys(), PASSTHROUGH_KEY]);
  return `${key} is not a key of a task${near === null ? '' : `; did you mean ${near}?`}`;
}

function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 59)}…` : text;
}

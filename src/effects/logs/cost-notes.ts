import { closeSync } from 'node:fs';
import path from 'node:path';
import type { AttemptFacts, Usage } from '../../core/agent/attempt.ts';
import { safeJson } from '../../core/text/safe-json.ts';
import { appendLines, openForAppend } from '../files/append-lines.ts';
import { KB, readTail } from '../files/bounded-read.ts';
import {
  amountAt,
  type JsonObject,
  numberAt,
  objectAt,
  parseObject,
  stringAt,
} from '../files/json-fields.ts';
import type { PinnedFolder } from '../trust/pinned-folder.ts';
import { iterationName } from './iteration-log.ts';

/*
 * A log that has reached its limit keeps only its beginning and its end, and may have lost the report of
 * a paid call. So the cost of each attempt with such a log is noted in a file beside it.
 */

type Told = Pick<AttemptFacts, 'usage' | 'sessionUsage' | 'sessionId'>;

/** Writes down what an attempt has cost so far. Ignores errors; never throws. */
export function noteCost(
  folder: PinnedFolder,
  { iteration, attempt }: { readonly iteration: number; readonly attempt: number },
  { usage, sessionUsage, sessionId }: Told,
): void {
  try {
    folder.check();
    const descriptor = openForAppend(path.join(folder.path, costNotesName(iteration)));
    try {
      appendLines(
        descriptor,
        `${safeJson({ attempt, ...usage, session: sessionUsage, session_id: sessionId })}\n`,
      );
    } finally {
      closeSync(descriptor);
    }
  } catch {
    // Writing the state file fails the same way, and is reported.
  }
}

/** Returns the cost of an attempt according to its newest note, or null if it has none. */
export function readNotedCost(folder: string, iteration: number, attempt: number): Told | null {
  let text: string;
  try {
    text = readTail(path.join(folder, costNotesName(iteration)), 64 * KB).toString();
  } catch {
    return null;
  }
  const note = text
    .split('\n')
    .map(parseObject)
    .findLast((each) => each !== null && numberAt(each, 'attempt') === attempt);
  if (note == null) return null;
  const session = objectAt(note, 'session');
  return {
    usage: usageIn(note),
    sessionUsage: session === null ? null : usageIn(session),
    sessionId: stringAt(note, 'session_id'),
  };
}

function usageIn(note: JsonObject): Usage {
  return {
    cost_usd: amountAt(note, 'cost_usd'),
    input_tokens: amountAt(note, 'input_tokens'),
    output_tokens: amountAt(note, 'output_tokens'),
  };
}

function costNotesName(iteration: number): string {
  return `${iterationName(iteration)}.cost.jsonl`;
}

import { MB } from '../files/bounded-read.ts';
import { type JsonObject, numberAt, objectAt, stringAt } from '../files/json-fields.ts';
import type { FileMark } from './file-marks.ts';

/** Enough for the marks of about 300,000 files; they are read only at a resume. */
export const BASELINE_MAX_BYTES = 64 * MB;

/** Reads a stored mark; returns undefined if there was no file, or the mark is damaged. */
export function readMark(object: JsonObject, key: string): FileMark | undefined {
  const mark = objectAt(object, key);
  const size = mark === null ? null : numberAt(mark, 'size');
  if (mark === null || size === null) return undefined;
  return { size, changedAt: stringAt(mark, 'changedAt') ?? '', sha256: stringAt(mark, 'sha256') };
}

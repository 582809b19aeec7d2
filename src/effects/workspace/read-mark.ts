import { MB } from '../files/bounded-read.ts';
import { type JsonObject, numberAt, objectAt, stringAt } from '../files/json-fields.ts';
import type { FileMark } from './file-marks.ts';

/** The marks of some 300,000 files; they are read at a resume only. */
export const BASELINE_MAX_BYTES = 64 * MB;

/** A file's mark as it was written down; undefined where no file stood there, or none can be told. */
export function readMark(object: JsonObject, key: string): FileMark | undefined {
  const mark = objectAt(object, key);
  const size = mark === null ? null : numberAt(mark, 'size');
  if (mark === null || size === null) return undefined;
  return { size, changedAt: stringAt(mark, 'changedAt') ?? '', sha256: stringAt(mark, 'sha256') };
}

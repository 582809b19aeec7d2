import { promises } from 'node:fs';
import path from 'node:path';
import * as z from 'zod/mini';
import { MB, readTextWithin } from './bounded-read.ts';
import { parseObject } from './json-fields.ts';
import { errorCode, makePrivateFolder, writeFileAtomic } from './write-file.ts';

/*
 * What is known of a file's rescues beyond one run: `<state>/.rescue/stuck_<stem>.json`, a file each.
 * The name of the folder is no task's, so that nobody takes it for one. A failed rescue is known by the
 * instant at which its run began: counted twice, after a crash say, it is still one.
 */

const record = z.object({
  /** Runs that began before have been dealt with. */
  since: z.nullable(z.string()),
  /** When the runs that failed began. */
  failed: z.array(z.string()),
  /** A pass may go on with the file's own task. */
  is_ours: z.boolean(),
});

export type RescueRecord = z.infer<typeof record>;

const NEW: RescueRecord = { since: null, failed: [], is_ours: false };

/** The record of a rescue; an empty one where there is none, or none that can be read. */
export function readRescueRecord(stateDir: string, rescueId: string): RescueRecord {
  try {
    return record.parse(parseObject(readTextWithin(fileOf(stateDir, rescueId), MB)));
  } catch (error) {
    // Damaged: an earlier rescue may be tried once more, and nothing worse.
    if (['', 'ENOENT', 'ENOTDIR', 'EFBIG'].includes(errorCode(error))) return NEW;
    throw error;
  }
}

/** Changes a record, whole or not at all. Rejects with the system's error. */
export async function changeRescueRecord(
  stateDir: string,
  rescueId: string,
  change: (before: RescueRecord) => RescueRecord,
): Promise<RescueRecord> {
  const before = readRescueRecord(stateDir, rescueId);
  const after = change(before);
  if (JSON.stringify(after) === JSON.stringify(before)) return before;
  const file = fileOf(stateDir, rescueId);
  makePrivateFolder(path.dirname(file));
  await writeFileAtomic(file, `${JSON.stringify(after)}\n`);
  return after;
}

/** Rejects with the system's error. */
export async function removeRescueRecord(stateDir: string, rescueId: string): Promise<void> {
  await promises.rm(fileOf(stateDir, rescueId), { force: true });
}

/** Counts a failed rescue once; one from before the record was closed is over. */
export function withFailed(before: RescueRecord, startedAt: string): RescueRecord {
  const isOld = before.since !== null && startedAt < before.since;
  if (isOld || before.failed.includes(startedAt)) return before;
  return { ...before, failed: [...before.failed, startedAt] };
}

/** The file is dealt with; one of the same name begins anew. */
export function closedRecord(at: string): RescueRecord {
  return { since: at, failed: [], is_ours: false };
}

function fileOf(stateDir: string, rescueId: string): string {
  return path.join(stateDir, '.rescue', `${rescueId}.json`);
}

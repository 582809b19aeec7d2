import { existsSync, promises } from 'node:fs';
import path from 'node:path';
import * as z from 'zod/mini';
import { MB, readTextWithin } from '../files/bounded-read.ts';
import { parseObject } from '../files/json-fields.ts';
import { errorCode, makePrivateFolder, writeFileAtomic } from '../files/write-file.ts';
import { taskPaths } from '../state/task-folder.ts';

/*
 * For each file of the vault, `<state>/.rescue/stuck_<stem>.json` records its rescues: the attempts, over several runs,
 * to finish a stuck task. `.rescue` is not a valid task id, so the folder is never taken for a task. A failed rescue is
 * identified by the start of its run, so that counting it twice, for example after a crash, has no effect.
 */

const record = z.object({
  /** Runs that began before this ISO instant no longer count; null if all runs count. */
  since: z.nullable(z.string()),
  /** Start times of the failed runs, as ISO instants. */
  failed: z.array(z.string()),
  /** Whether a rescue is allowed to resume the task that the file itself belongs to. */
  is_ours: z.boolean(),
});

type RescueRecord = z.infer<typeof record>;

const NEW: RescueRecord = { since: null, failed: [], is_ours: false };

/** Returns the record of a rescue; an empty record if the file is missing or damaged. Throws other errors. */
export function readRescueRecord(stateDir: string, rescueId: string): RescueRecord {
  try {
    return record.parse(parseObject(readTextWithin(fileOf(stateDir, rescueId), MB)));
  } catch (error) {
    // Without its record, an earlier rescue is at worst tried again.
    if (['', 'ENOENT', 'ENOTDIR', 'EFBIG'].includes(errorCode(error))) return NEW;
    throw error;
  }
}

/** Adds a failed rescue, unless it is already counted or began before the record was closed. */
export function withFailed(before: RescueRecord, startedAt: string): RescueRecord {
  const isOld = before.since !== null && startedAt < before.since;
  if (isOld || before.failed.includes(startedAt)) return before;
  return { ...before, failed: [...before.failed, startedAt] };
}

/** Changes the rescue records of one state folder. Every method rejects with the system's error. */
export function rescueRecords(stateDir: string) {
  const change = async (
    rescueId: string,
    next: (before: RescueRecord) => RescueRecord,
  ): Promise<RescueRecord> => {
    const before = readRescueRecord(stateDir, rescueId);
    const after = next(before);
    if (JSON.stringify(after) === JSON.stringify(before)) return before;
    const file = fileOf(stateDir, rescueId);
    makePrivateFolder(path.dirname(file));
    await writeFileAtomic(file, `${JSON.stringify(after)}\n`);
    return after;
  };
  return {
    async countFailed(rescueId: string, startedAt: string): Promise<number> {
      const after = await change(rescueId, (before) => withFailed(before, startedAt));
      return after.failed.length;
    },
    async adopt(rescueId: string): Promise<void> {
      await change(rescueId, (before) => ({ ...before, is_ours: true }));
    },
    /** Closes the record, so that a new file of the same name starts over. `at` is an ISO instant. */
    async close(rescueId: string, at: string): Promise<void> {
      // Without a state file, no failed run can be counted again, so no record is needed.
      const isOver = !existsSync(taskPaths(stateDir, rescueId).stateFile);
      if (isOver) await promises.rm(fileOf(stateDir, rescueId), { force: true });
      else await change(rescueId, () => ({ ...NEW, since: at }));
    },
  };
}

function fileOf(stateDir: string, rescueId: string): string {
  return path.join(stateDir, '.rescue', `${rescueId}.json`);
}

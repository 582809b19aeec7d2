import { existsSync, promises } from 'node:fs';
import path from 'node:path';
import * as z from 'zod/mini';
import { MB, readTextWithin } from '../files/bounded-read.ts';
import { parseObject } from '../files/json-fields.ts';
import { errorCode, makePrivateFolder, writeFileAtomic } from '../files/write-file.ts';
import { taskPaths } from '../state/task-folder.ts';

/*
 * What is known about a file's rescues beyond one run: one file `<state>/.rescue/stuck_<stem>.json`
 * each. The folder's name is not a valid task id, so nothing mistakes it for a task. A failed
 * rescue is identified by the start of its run, so that counting it twice, say after a crash, has
 * no effect.
 */

const record = z.object({
  /** Runs that began earlier have been dealt with. */
  since: z.nullable(z.string()),
  /** Start times of the failed runs. */
  failed: z.array(z.string()),
  /** A pass may resume the file's own task. */
  is_ours: z.boolean(),
});

type RescueRecord = z.infer<typeof record>;

const NEW: RescueRecord = { since: null, failed: [], is_ours: false };

/** Returns the record of a rescue; an empty one if it is missing or cannot be read. */
export function readRescueRecord(stateDir: string, rescueId: string): RescueRecord {
  try {
    return record.parse(parseObject(readTextWithin(fileOf(stateDir, rescueId), MB)));
  } catch (error) {
    // It is damaged: at worst, an earlier rescue is tried once more.
    if (['', 'ENOENT', 'ENOTDIR', 'EFBIG'].includes(errorCode(error))) return NEW;
    throw error;
  }
}

/** Counts a failed rescue once; ignores one from before the record was closed. */
export function withFailed(before: RescueRecord, startedAt: string): RescueRecord {
  const isOld = before.since !== null && startedAt < before.since;
  if (isOld || before.failed.includes(startedAt)) return before;
  return { ...before, failed: [...before.failed, startedAt] };
}

/** Changes the records of one state folder, each atomically. All reject with the system's error. */
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
    /** The file has been dealt with; a new file of the same name starts over. `at` is an ISO instant. */
    async close(rescueId: string, at: string): Promise<void> {
      // Without a state no failure can be counted twice.
      const isOver = !existsSync(taskPaths(stateDir, rescueId).stateFile);
      if (isOver) await promises.rm(fileOf(stateDir, rescueId), { force: true });
      else await change(rescueId, () => ({ ...NEW, since: at }));
    },
  };
}

function fileOf(stateDir: string, rescueId: string): string {
  return path.join(stateDir, '.rescue', `${rescueId}.json`);
}

import path from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { maskSecrets } from '../../core/secrets/secrets.ts';
import { KB, MB, readFirstBytes, readTail } from '../../effects/files/bounded-read.ts';
import { transcriptNames } from '../../effects/logs/iteration-log.ts';
import type { PackedLog } from '../database/fleet-queue.ts';
import { LOG_BYTES } from '../database/write-claim.ts';

/** Of a longer log, the beginning and the end are kept, and less of them if that does not fit packed. */
const HEAD_BYTES = 256 * KB;
const TAIL_BYTES = 2 * MB;

/** The logs of a leg. */
export interface LegLogs {
  /**
   * Keeps the logs of the iterations up to this one that earlier calls did not keep, masked. The first call says from
   * where on. Never rejects.
   */
  keep(iteration: number): Promise<void>;
}

/** Creates what keeps the logs of a run in the fleet. */
export function createLegLogs(
  taskFolder: string,
  write: (log: PackedLog) => Promise<boolean>,
): LegLogs {
  let kept: number | null = null;
  return {
    async keep(last) {
      const first: number = kept ?? last;
      kept = Math.max(first, last);
      for (let iteration = first + 1; iteration <= last; iteration += 1) {
        for (const name of Object.values(transcriptNames(iteration))) {
          const packed = await pack(path.join(taskFolder, name));
          if (packed === null) continue;
          // A log is for people to read: a task does not wait for it.
          await write({ name, iteration, packed }).catch(() => false);
        }
      }
    },
  };
}

/** Resolves to as much of a log as the fleet takes, masked and packed; to null if there is nothing in it. */
async function pack(file: string): Promise<Uint8Array | null> {
  for (let share = 1; ; share /= 2) {
    const text = ends(file, HEAD_BYTES * share, TAIL_BYTES * share);
    if (text === null) return null;
    const packed = await promisify(gzip)(maskSecrets(text));
    if (packed.byteLength <= LOG_BYTES) return packed;
  }
}

/** Returns the beginning and the end of a file; null if it is empty or cannot be read. */
function ends(file: string, headBytes: number, tailBytes: number): string | null {
  try {
    const tail = readTail(file, headBytes + tailBytes);
    if (tail.length === 0) return null;
    if (tail.length < headBytes + tailBytes) return tail.toString();
    const head = readFirstBytes(file, headBytes).toString();
    return `${head}\n[…]\n${tail.subarray(-tailBytes).toString()}`;
  } catch {
    return null;
  }
}

import path from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { maskSecrets } from '../../core/secrets/secrets.ts';
import { KB, MB, readFirstBytes, readTail } from '../../effects/files/bounded-read.ts';
import { transcriptNames } from '../../effects/logs/iteration-log.ts';
import type { PackedLog } from '../database/fleet-queue.ts';
import { LOG_BYTES } from '../database/write-claim.ts';

/** A longer log is cut to this much of its beginning and end, and further if it is still too large when packed. */
const HEAD_BYTES = 256 * KB;
const TAIL_BYTES = 2 * MB;

/** The logs of one worker's run of a task. */
export interface LegLogs {
  /**
   * Stores the masked logs of the iterations after those of the last call, up to this one. The first call stores none
   * and only says where to begin. Never rejects.
   */
  keep(iteration: number): Promise<void>;
}

/** Returns the object that stores the logs of a run in the fleet. */
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
          // A log is only for people to read, so the task does not fail or wait if it cannot be stored.
          await write({ name, iteration, packed }).catch(() => false);
        }
      }
    },
  };
}

/** Resolves to a log, masked, packed, and cut to what the fleet takes; null if it is empty or cannot be read. */
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

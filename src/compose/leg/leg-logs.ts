import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { maskSecrets } from '../../core/secrets/secrets.ts';
import { KB, readHead, readTail } from '../../effects/files/bounded-read.ts';
import type { PackedLog } from '../../effects/fleet/fleet-queue.ts';
import { transcriptNames } from '../../effects/logs/iteration-log.ts';

/** Of a longer log, the beginning and the end are kept in the fleet; the worker's own copy has all of it. */
const HEAD_BYTES = 64 * KB;
const TAIL_BYTES = 192 * KB;

/** The logs of a leg. */
export interface LegLogs {
  /** Keeps the logs of the iterations that have ended since the last call, masked. Never rejects. */
  keep(iterations: number): Promise<void>;
}

/** Creates what keeps the logs of a run in the fleet. */
export function createLegLogs(
  taskFolder: string,
  write: (log: PackedLog) => Promise<boolean>,
): LegLogs {
  let kept: number | null = null;
  return {
    async keep(iterations) {
      const first: number = kept ?? iterations;
      kept = iterations;
      for (let iteration = first + 1; iteration <= iterations; iteration += 1) {
        for (const name of Object.values(transcriptNames(iteration))) {
          const text = ends(path.join(taskFolder, name));
          if (text === null) continue;
          const packed = gzipSync(maskSecrets(text));
          // A log is for people to read: a task does not wait for it.
          await write({ name, iteration, packed }).catch(() => false);
        }
      }
    },
  };
}

/** Returns the beginning and the end of a file; null if it is empty or cannot be read. */
function ends(file: string): string | null {
  try {
    const tail = readTail(file, HEAD_BYTES + TAIL_BYTES);
    if (tail.length === 0) return null;
    if (tail.length < HEAD_BYTES + TAIL_BYTES) return tail.toString();
    const head = readHead(file, HEAD_BYTES).toString();
    return `${head}\n[…]\n${tail.subarray(-TAIL_BYTES).toString()}`;
  } catch {
    return null;
  }
}

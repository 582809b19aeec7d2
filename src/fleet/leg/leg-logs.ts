import path from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { maskSecrets } from '../../core/secrets/secrets.ts';
import { KB, MB, readFirstBytes } from '../../effects/files/bounded-read.ts';
import { logEnd, logReader } from '../../effects/logs/bounded-log.ts';
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

/** Returns the beginning and the end of a log; null if it is empty or cannot be read. */
function ends(log: string, headBytes: number, tailBytes: number): string | null {
  try {
    const end = logEnd(log);
    if (end === 0) return null;
    if (end < headBytes + tailBytes) return textFrom(log, 0);
    const head = readFirstBytes(log, headBytes).toString();
    return `${head}\n[…]\n${textFrom(log, end - tailBytes)}`;
  } catch {
    return null;
  }
}

function textFrom(log: string, from: number): string {
  return Buffer.concat([...logReader(from)(log)].map(({ chunk }) => chunk)).toString();
}

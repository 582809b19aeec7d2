import { closeSync, constants, readSync } from 'node:fs';
import { openRegular } from '../files/bounded-read.ts';
import { ifPossible } from '../files/if-possible.ts';

const PIECE_BYTES = 256 * 1024;

/** Reads a log from its beginning, and continues while it grows. */
export interface LogTail {
  /** Yields the bytes added since the last call, in pieces; each piece is valid until the next one. */
  pieces(): Generator<Buffer>;
  close(): void;
}

/** Opens a log; returns null if it is missing or not a regular file. */
export function openLogTail(file: string): LogTail | null {
  const opened = ifPossible(() => openRegular(file, constants.O_NOFOLLOW));
  if (opened === null) return null;
  const { descriptor } = opened;
  const buffer = Buffer.allocUnsafe(PIECE_BYTES);
  let position = 0;
  return {
    *pieces() {
      for (;;) {
        const length = readSync(descriptor, buffer, 0, buffer.length, position);
        if (length === 0) return;
        position += length;
        yield buffer.subarray(0, length);
      }
    },
    close: () => closeSync(descriptor),
  };
}

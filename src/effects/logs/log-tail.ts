import { closeSync, constants, fstatSync, lstatSync, readSync } from 'node:fs';
import { openRegular } from '../files/bounded-read.ts';

const PIECE_BYTES = 256 * 1024;
/** The marker in a log whose middle was left out. */
const LEFT_OUT = /\n\[ralph: (\d+) bytes left out\]\n/;
/** The marker is searched for at most this far before and after an offset. */
const MARKER_BYTES = 80;

/** Reads a log from its beginning, and on while it grows. */
export interface LogTail {
  /** Yields what has been added since the last call; a piece is valid until the next one. */
  pieces(): Generator<Buffer>;
  /**
   * Checks whether `file` has been replaced, as happens when a log reaches its limit. If so, the
   * unread content of the new file comes next.
   */
  refresh(file: string): void;
  close(): void;
}

/** Opens a log; returns null if it is missing or not a regular file. */
export function openLogTail(file: string): LogTail | null {
  const first = openPlain(file);
  if (first === null) return null;
  let current = first;
  let position = 0;
  // Two buffers alternate, so that a piece stays intact until the next one has been compared.
  let [buffer, spare] = [Buffer.allocUnsafe(PIECE_BYTES), Buffer.allocUnsafe(PIECE_BYTES)];
  return {
    *pieces() {
      for (;;) {
        const length = readSync(current, buffer, 0, buffer.length, position);
        if (length === 0) return;
        position += length;
        yield buffer.subarray(0, length);
        [buffer, spare] = [spare, buffer];
      }
    },
    refresh(path) {
      const there = lstatSync(path, { throwIfNoEntry: false });
      const { ino, dev } = fstatSync(current);
      if (there === undefined || (there.ino === ino && there.dev === dev)) return;
      const fresh = openPlain(path);
      if (fresh === null) return;
      position = placeIn(fresh, current, position);
      closeSync(current);
      current = fresh;
    },
    close: () => closeSync(current),
  };
}

function openPlain(file: string): number | null {
  try {
    return openRegular(file, constants.O_NOFOLLOW).descriptor;
  } catch {
    return null;
  }
}

/*
 *   read so far   [ head ........ | left out ... | kept ]
 *   fresh         [ head ........ | marker | kept | new ... ]     continues at `new`
 *
 * If more was left out than had been read, the marker itself comes next.
 */
/** Returns the offset at which to continue in `fresh`, after `read` bytes of `old` were read. */
function placeIn(fresh: number, old: number, read: number): number {
  const common = commonBytes(fresh, old, read);
  if (common === read) return read;
  const start = Math.max(0, common - MARKER_BYTES);
  const around = Buffer.alloc(2 * MARKER_BYTES);
  const length = readSync(fresh, around, 0, around.length, start);
  const marker = LEFT_OUT.exec(around.toString('latin1', 0, length));
  // Without a marker the file is unrelated: the folder was removed and created again.
  if (marker === null) return 0;
  const head = start + marker.index;
  const kept = read - head - Number(marker[1]);
  return kept < 0 ? head : head + marker[0].length + kept;
}

function commonBytes(one: number, other: number, limit: number): number {
  const [first, second] = [Buffer.allocUnsafe(PIECE_BYTES), Buffer.allocUnsafe(PIECE_BYTES)];
  for (let at = 0; at < limit; ) {
    const wanted = Math.min(PIECE_BYTES, limit - at);
    const length = Math.min(
      readSync(one, first, 0, wanted, at),
      readSync(other, second, 0, wanted, at),
    );
    if (length === 0) return at;
    if (first.compare(second, 0, length, 0, length) !== 0) {
      let same = 0;
      while (first[same] === second[same]) same += 1;
      return at + same;
    }
    at += length;
  }
  return limit;
}

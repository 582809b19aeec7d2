import {
  closeSync,
  constants,
  copyFileSync,
  fstatSync,
  ftruncateSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { openForAppend } from '../files/append-lines.ts';
import { openRegular } from '../files/bounded-read.ts';
import type { PinnedFolder } from '../trust/pinned-folder.ts';

/** A file that grows up to a bound; beyond it the head and the newest tail are kept. */
export interface BoundedLog {
  write(chunk: Uint8Array): void;
  /** Its length in bytes. */
  length(): number;
  /** Whether more than the bound was written; then part of it may be left out. */
  isFull(): boolean;
  close(): void;
}

/*
 * Up to the bound, the log is one plain file. What follows goes into a ring, a second file of half
 * the bound; at the end the two are joined:
 *
 *   log     [ head ........ | first half of the tail's room ]      log  [ head | left out | tail ]
 *   .tail   [ ..newest | older.. ]                             ──►
 */
/**
 * Opens a log in a folder for appending, readable only by its owner. Ignores write errors: a full
 * disk must not stop the loop, and saving the state reports the same error.
 */
export function openBoundedLog(folder: PinnedFolder, name: string, maxBytes: number): BoundedLog {
  const file = `${folder.path}/${name}`;
  const headBytes = Math.floor(maxBytes / 2);
  const ringBytes = maxBytes - headBytes;
  let log: number | null = null;
  let ring: number | null = null;
  let size = 0;
  /** Total number of bytes ever written to the ring. */
  let ringed = 0;

  const tryTo = (action: () => void): void => {
    try {
      action();
    } catch {
      release();
      log = null;
    }
  };
  const release = (): void => {
    if (ring !== null) closeSync(ring);
    if (log !== null) closeSync(log);
    ring = null;
  };

  tryTo(() => {
    folder.check();
    log = openForAppend(file);
    size = fstatSync(log).size;
  });

  const openRing = (): number => {
    folder.check();
    const { O_CREAT, O_NOFOLLOW, O_TRUNC, O_WRONLY } = constants;
    return openRegular(`${file}.tail`, O_CREAT | O_NOFOLLOW | O_TRUNC | O_WRONLY).descriptor;
  };
  const writeRing = (chunk: Uint8Array): void => {
    ring ??= openRing();
    // The start of a chunk that is longer than the ring would be overwritten at once, so only its end is copied.
    const kept = chunk.length > ringBytes ? chunk.subarray(chunk.length - ringBytes) : chunk;
    ringed += chunk.length - kept.length;
    for (let done = 0; done < kept.length; ) {
      const at = ringed % ringBytes;
      const length = Math.min(kept.length - done, ringBytes - at);
      writeAll(ring, kept.subarray(done, done + length), at);
      done += length;
      ringed += length;
    }
  };

  return {
    write(chunk) {
      tryTo(() => {
        if (log === null) return;
        const room = Math.max(0, maxBytes - size);
        if (room > 0) writeAll(log, chunk.subarray(0, room), null);
        size += Math.min(room, chunk.length);
        if (chunk.length > room) writeRing(chunk.subarray(room));
      });
    },
    length: () => size,
    isFull: () => ringed > 0,
    close() {
      tryTo(() => {
        if (log !== null && ringed > 0) {
          folder.check();
          joinTail(file, { headBytes, ringBytes, size, ringed });
        }
        release();
        log = null;
      });
    },
  };
}

interface Rounds {
  readonly headBytes: number;
  readonly ringBytes: number;
  readonly size: number;
  readonly ringed: number;
}

/** Joins the log's head and the newest bytes; replaces the log once the new file is complete. */
function joinTail(file: string, { headBytes, ringBytes, size, ringed }: Rounds): void {
  const joined = `${file}.joined`;
  // A killed driver may have left this file, or someone may have planted a link.
  rmSync(joined, { force: true });
  copyFileSync(file, joined, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
  const target = openRegular(joined, constants.O_RDWR | constants.O_NOFOLLOW).descriptor;
  const log = openRegular(file, constants.O_NOFOLLOW).descriptor;
  const ring = openRegular(`${file}.tail`, constants.O_NOFOLLOW).descriptor;
  try {
    const fromLog = Math.max(0, Math.min(ringBytes - ringed, size - headBytes));
    const leftOut = size - headBytes - fromLog + Math.max(0, ringed - ringBytes);
    ftruncateSync(target, headBytes);
    let end = headBytes;
    const put = (bytes: Uint8Array): void => {
      writeAll(target, bytes, end);
      end += bytes.length;
    };
    put(new TextEncoder().encode(`\n[ralph: ${leftOut} bytes left out]\n`));
    copyRange(log, size - fromLog, size, put);
    const start = ringed > ringBytes ? ringed % ringBytes : 0;
    copyRange(ring, start, Math.min(ringed, ringBytes), put);
    copyRange(ring, 0, start, put);
  } finally {
    for (const descriptor of [target, log, ring]) closeSync(descriptor);
  }
  renameSync(joined, file);
  rmSync(`${file}.tail`, { force: true });
}

function copyRange(
  from: number,
  start: number,
  end: number,
  put: (bytes: Uint8Array) => void,
): void {
  const buffer = new Uint8Array(1024 * 1024);
  for (let at = start; at < end; ) {
    const length = readSync(from, buffer, 0, Math.min(buffer.length, end - at), at);
    if (length === 0) return;
    put(buffer.subarray(0, length));
    at += length;
  }
}

/** Writes every byte, because a single write may take fewer. */
function writeAll(descriptor: number, bytes: Uint8Array, position: number | null): void {
  for (let done = 0; done < bytes.length; ) {
    const at = position === null ? null : position + done;
    done += writeSync(descriptor, bytes, done, bytes.length - done, at);
  }
}

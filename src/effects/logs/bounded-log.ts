import { closeSync, constants, fstatSync, ftruncateSync, renameSync, writeSync } from 'node:fs';
import { openForAppend } from '../files/append-lines.ts';
import { openRegular, readPieces, withRegularFile } from '../files/bounded-read.ts';
import { isThere } from '../files/file-kinds.ts';
import { removeFile } from '../files/write-file.ts';
import type { PinnedFolder } from '../trust/pinned-folder.ts';

/** A log file of bounded size; when it grows beyond that, its beginning and its end are kept. */
export interface BoundedLog {
  write(chunk: Uint8Array): void;
  /** The length of the log in bytes when it was opened. */
  readonly openedAt: number;
  close(): void;
}

/**
 * Returns the files of a log in the order of their content. The last two hold the end of a log that is open or was left
 * by a killed driver. Each takes up to a quarter of the bound; a full newer file replaces the older.
 */
export function logParts(file: string): readonly [log: string, older: string, newer: string] {
  return [file, `${file}.tail.old`, `${file}.tail`];
}

/**
 * Opens a log in a folder for appending, readable only by its owner. Up to half the bound it is one plain file; what
 * follows is written to files beside it, which are joined to it at the end. Until then the output of earlier attempts
 * stays where it is, so that `openedAt` stays the position at which this attempt begins. Ignores write errors: a full
 * disk must not stop the loop, and saving the state reports the same error.
 */
export function openBoundedLog(folder: PinnedFolder, name: string, maxBytes: number): BoundedLog {
  const [file, older, newer] = logParts(`${folder.path}/${name}`);
  const headBytes = Math.ceil(maxBytes / 2);
  const pieceBytes = Math.max(1, Math.floor(maxBytes / 4));
  let log: number | null = null;
  let size = 0;
  let piece: number | null = null;
  let pieceSize = 0;
  let olderSize = 0;
  let leftOut = 0;

  const tryTo = (action: () => void): void => {
    try {
      action();
    } catch {
      release();
    }
  };
  const release = (): void => {
    for (const descriptor of [log, piece]) if (descriptor !== null) closeSync(descriptor);
    log = null;
    piece = null;
  };

  const openPiece = (): number => {
    folder.check();
    const { O_CREAT, O_NOFOLLOW, O_TRUNC, O_WRONLY } = constants;
    return openRegular(newer, O_CREAT | O_NOFOLLOW | O_TRUNC | O_WRONLY).descriptor;
  };
  const writeTail = (chunk: Uint8Array): void => {
    // The beginning of a longer chunk would be dropped at once.
    const start = Math.max(0, chunk.length - 2 * pieceBytes);
    leftOut += start;
    for (let done = start; done < chunk.length; ) {
      if (pieceSize === pieceBytes && piece !== null) {
        closeSync(piece);
        piece = null;
        folder.check();
        renameSync(newer, older);
        leftOut += olderSize;
        olderSize = pieceSize;
        pieceSize = 0;
      }
      piece ??= openPiece();
      const part = chunk.subarray(done, done + pieceBytes - pieceSize);
      writeAll(piece, part);
      pieceSize += part.length;
      done += part.length;
    }
  };
  /** Removes the output of earlier attempts that follows the first half, as far as the tail needs its room. */
  const makeRoom = (): void => {
    const room = leftOut > 0 ? 0 : 2 * pieceBytes - olderSize - pieceSize;
    const start = size - room;
    const note = leftOutNote(leftOut + start - headBytes);
    if (start <= headBytes + note.length) return;
    folder.check();
    withRegularFile(file, constants.O_RDWR | constants.O_NOFOLLOW, (descriptor) => {
      let at = headBytes;
      const put = (bytes: Uint8Array): void => {
        writeAll(descriptor, bytes, at);
        at += bytes.length;
      };
      put(note);
      readPieces(descriptor, start, size, put);
      ftruncateSync(descriptor, at);
    });
    leftOut = 0;
  };
  const joinTail = (descriptor: number): void => {
    folder.check();
    if (leftOut > 0) writeAll(descriptor, leftOutNote(leftOut));
    for (const part of [older, newer]) {
      eachPiece(part, (bytes) => writeAll(descriptor, bytes));
      removeFile(part);
    }
  };

  tryTo(() => {
    folder.check();
    log = openForAppend(file);
    joinTail(log);
    size = fstatSync(log).size;
  });

  return {
    openedAt: size,
    write(chunk) {
      tryTo(() => {
        if (log === null) return;
        const head = chunk.subarray(0, Math.max(0, headBytes - size));
        writeAll(log, head);
        size += head.length;
        if (head.length < chunk.length) writeTail(chunk.subarray(head.length));
      });
    },
    close() {
      tryTo(() => {
        if (log === null) return;
        makeRoom();
        joinTail(log);
      });
      release();
    },
  };
}

function leftOutNote(bytes: number): Buffer {
  return Buffer.from(`\n[ralph: ${bytes} bytes left out]\n`);
}

/** Passes the content of a file to `use`, in pieces; nothing if the file is missing. */
function eachPiece(file: string, use: (bytes: Buffer) => void): void {
  if (!isThere(file)) return;
  withRegularFile(file, constants.O_NOFOLLOW, (descriptor, size) =>
    readPieces(descriptor, 0, size, use),
  );
}

/** Writes every byte, since a single write may take fewer: at `position`, or at the place where the file stands. */
function writeAll(descriptor: number, bytes: Uint8Array, position: number | null = null): void {
  for (let done = 0; done < bytes.length; ) {
    const at = position === null ? null : position + done;
    done += writeSync(descriptor, bytes, done, bytes.length - done, at);
  }
}

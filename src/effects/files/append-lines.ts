import { constants, fstatSync, ftruncateSync, readSync, writeSync } from 'node:fs';
import path from 'node:path';
import { openRegular } from './bounded-read.ts';
import { errorCode, makePrivateFolder } from './write-file.ts';

const LINE_END = 0x0a;

/**
 * Appends complete lines to a file opened with `openForAppend`: all of them, or none. If the last
 * line is torn (by a full disk or a power cut), ends it first, or it would swallow the first new
 * line. Throws the system's error.
 */
export function appendLines(descriptor: number, lines: string): void {
  const { size } = fstatSync(descriptor);
  const bytes = Buffer.from(endsTorn(descriptor, size) ? `\n${lines}` : lines);
  let written = 0;
  try {
    // A nearly full disk takes only a part, and reports the error on the next call.
    while (written < bytes.length) written += writeSync(descriptor, bytes, written);
  } catch (error) {
    undo(descriptor, size, written);
    throw error;
  }
}

function endsTorn(descriptor: number, size: number): boolean {
  if (size === 0) return false;
  const last = Buffer.alloc(1);
  return readSync(descriptor, last, 0, 1, size - 1) === 1 && last[0] !== LINE_END;
}

/** Removes the part that was written, unless another process has appended meanwhile. */
function undo(descriptor: number, size: number, written: number): void {
  try {
    if (written > 0 && fstatSync(descriptor).size === size + written) {
      ftruncateSync(descriptor, size);
    }
  } catch {
    // The line stays torn, and the next append ends it.
  }
}

/**
 * Opens a file for appending and reading; creates it, with its folder, for its owner alone. Does not
 * follow a symbolic link or wait for a pipe. Throws the system's error.
 */
export function openForAppend(file: string): number {
  const { O_APPEND, O_CREAT, O_NOFOLLOW, O_RDWR } = constants;
  const open = (): number => openRegular(file, O_APPEND | O_CREAT | O_NOFOLLOW | O_RDWR).descriptor;
  try {
    return open();
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    makePrivateFolder(path.dirname(file));
    return open();
  }
}

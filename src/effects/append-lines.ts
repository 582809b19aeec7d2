import { fstatSync, ftruncateSync, readSync, writeSync } from 'node:fs';

const LINE_END = 0x0a;

/**
 * Appends whole lines to a file that `openForAppend` has opened: all of them, or none. A last line that was
 * left torn, by a full disk or a power cut, is ended first, or it would swallow the first of these. Throws
 * the system's error.
 */
export function appendLines(descriptor: number, lines: string): void {
  const { size } = fstatSync(descriptor);
  const bytes = Buffer.from(endsTorn(descriptor, size) ? `\n${lines}` : lines);
  let written = 0;
  try {
    // A disk that is getting full takes a part, and says so only at the next call.
    while (written < bytes.length) written += writeSync(descriptor, bytes, written);
  } catch (error) {
    takeBack(descriptor, size, written);
    throw error;
  }
}

function endsTorn(descriptor: number, size: number): boolean {
  if (size === 0) return false;
  const last = Buffer.alloc(1);
  return readSync(descriptor, last, 0, 1, size - 1) === 1 && last[0] !== LINE_END;
}

/** Takes back the part that was written, unless somebody else has written behind it. */
function takeBack(descriptor: number, size: number, written: number): void {
  try {
    if (written > 0 && fstatSync(descriptor).size === size + written) {
      ftruncateSync(descriptor, size);
    }
  } catch {
    // The line stays torn, and whoever appends next ends it.
  }
}

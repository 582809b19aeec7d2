import { closeSync, constants, fstatSync, openSync, type PathLike, readSync } from 'node:fs';
import { CommandError } from '../../errors.ts';
import { ifPossible } from './if-possible.ts';

/*
 * Opens and reads files that another user may have planted. They are opened without waiting, since
 * a pipe would block for ever, and never read beyond the size the file system reports: something
 * that is not a file on disk, such as /proc/kmsg, has none.
 */

export const KB = 1024;
export const MB = 1024 * 1024;

/** Reads a regular file of at most `maxBytes` bytes. Throws the system's error, EFBIG or EINVAL. */
export function readWithin(file: PathLike, maxBytes: number): Buffer {
  return withRegularFile(file, 0, (descriptor, size) => {
    if (size > maxBytes) {
      const found = `${file} has ${size} bytes, and ralph reads no more than ${maxBytes} of it`;
      throw refused('EFBIG', `${found}; move it away`);
    }
    return readBytes(descriptor, size);
  });
}

/** Reads a regular file of at most `maxBytes` bytes as text. Throws like `readWithin`. */
export function readTextWithin(file: PathLike, maxBytes: number): string {
  return readWithin(file, maxBytes).toString();
}

/** Reads a regular file of at most `maxBytes` bytes as text; null if that fails. Never throws. */
export function tryReadText(file: PathLike, maxBytes: number): string | null {
  return ifPossible(() => readTextWithin(file, maxBytes));
}

/** Reads the first `maxBytes` bytes of a regular file, or the whole of a shorter one. Throws like `readWithin`. */
export function readFirstBytes(file: PathLike, maxBytes: number): Buffer {
  return withRegularFile(file, 0, (descriptor, size) =>
    readBytes(descriptor, Math.min(size, maxBytes)),
  );
}

/** Reads the last `maxBytes` bytes of a regular file, or the whole of a shorter one. Throws like `readWithin`. */
export function readTail(file: PathLike, maxBytes: number): Buffer {
  return withRegularFile(file, 0, (descriptor, size) =>
    readBytes(descriptor, Math.min(size, maxBytes), Math.max(0, size - maxBytes)),
  );
}

/** Opens a regular file with additional flags, calls `use` with it, and closes it again. Throws like `readWithin`. */
export function withRegularFile<T>(
  file: PathLike,
  flags: number,
  use: (descriptor: number, size: number) => T,
): T {
  const { descriptor, size } = openRegular(file, flags);
  try {
    return use(descriptor, size);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Opens a regular file with additional flags, which can ask for writing; the caller closes it. Never waits for the
 * other end of a pipe. Only the owner can access a file that this creates. Throws like `readWithin`.
 */
export function openRegular(
  file: PathLike,
  flags: number,
): { readonly descriptor: number; readonly size: number } {
  const descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK | flags, 0o600);
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) throw refused('EINVAL', `${file} is not a regular file`);
    return { descriptor, size: stats.size };
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

/** An error like the system's, for a file that ralph itself refuses to read. */
function refused(code: 'EFBIG' | 'EINVAL', sentence: string): Error {
  return Object.assign(new CommandError(sentence), { code });
}

/** Reads `length` bytes from `from` (null: the current position); fewer at the file's end. */
export function readBytes(descriptor: number, length: number, from: number | null = null): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  let used = 0;
  while (used < length) {
    const position = from === null ? null : from + used;
    const read = readSync(descriptor, bytes, used, length - used, position);
    if (read === 0) break;
    used += read;
  }
  return bytes.subarray(0, used);
}

/** Calls `use` with the bytes between two positions, a megabyte at a time; with fewer at the file's end. */
export function readPieces(
  descriptor: number,
  from: number,
  to: number,
  use: (piece: Buffer) => void,
): void {
  for (let at = from; at < to; at += MB) use(readBytes(descriptor, Math.min(MB, to - at), at));
}

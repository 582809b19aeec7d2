import { closeSync, constants, fstatSync, openSync, type PathLike, readSync } from 'node:fs';
import { EXIT_FAILED } from '../exit-codes.ts';

/*
 * Opening and reading files that somebody else may have put there. Opened without waiting, since a pipe would hold
 * the process up for ever, and never read beyond the size that the file system tells: what is no file
 * on a disk, such as /proc/kmsg, has none.
 */

export const KB = 1024;
export const MB = 1024 * 1024;

/** A file that is not read: `EINVAL` for what is no regular file, `EFBIG` for one over its bound. */
class FileRefusedError extends Error {
  readonly exitCode = EXIT_FAILED;
  readonly code: 'EFBIG' | 'EINVAL';

  constructor(code: 'EFBIG' | 'EINVAL', message: string) {
    super(message);
    this.name = 'FileRefusedError';
    this.code = code;
  }
}

/** Reads a regular file of at most `maxBytes` bytes. Throws the system's error, `EFBIG` or `EINVAL`. */
export function readWithin(file: PathLike, maxBytes: number): Buffer {
  return withRegularFile(file, 0, (descriptor, size) => {
    if (size > maxBytes) {
      const found = `${file} has ${size} bytes, and ralph reads no more than ${maxBytes} of it`;
      throw new FileRefusedError('EFBIG', `${found}; move it away`);
    }
    return readBytes(descriptor, size);
  });
}

/** The same as text. */
export function readTextWithin(file: PathLike, maxBytes: number): string {
  return readWithin(file, maxBytes).toString();
}

/** The first `maxBytes` bytes of a regular file, or all of a smaller one. Throws as `readWithin` does. */
export function readHead(file: PathLike, maxBytes: number): Buffer {
  return withRegularFile(file, 0, (descriptor, size) =>
    readBytes(descriptor, Math.min(size, maxBytes)),
  );
}

/** The last `maxBytes` bytes of a regular file, or all of a smaller one. Throws as `readWithin` does. */
export function readTail(file: PathLike, maxBytes: number): Buffer {
  return withRegularFile(file, 0, (descriptor, size) =>
    readBytes(descriptor, Math.min(size, maxBytes), Math.max(0, size - maxBytes)),
  );
}

/** Opens a regular file for reading, with further flags, and closes it again. Throws as `readWithin` does. */
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
 * The same, left open: whoever calls it closes it. With the flags for it also for writing, where a pipe
 * would wait for its reader; `mode` is that of a file which is made.
 */
export function openRegular(
  file: PathLike,
  flags: number,
  mode = 0o600,
): { readonly descriptor: number; readonly size: number } {
  const descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK | flags, mode);
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) throw new FileRefusedError('EINVAL', `${file} is no regular file`);
    return { descriptor, size: stats.size };
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

/** `length` bytes from a byte on, by default the next ones; fewer where the file ends before. */
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

import { createHash } from 'node:crypto';
import { constants, createReadStream, type PathLike } from 'node:fs';
import { MB, openRegular, readBytes, readWithin, withRegularFile } from './bounded-read.ts';
import { statOf } from './file-kinds.ts';

/** Files up to this size are read in one piece. */
const SMALL_BYTES = MB;

/** Returns the SHA-256 of a content, in hex. */
export function sha256Of(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

/**
 * Returns a text that changes with a file's bytes: a hash or, if it is over 1 MB or cannot be read, the size and the
 * change time, which no program can set back. Follows a symbolic link, as a program does that runs the file.
 */
export function signOfContent(file: PathLike): string {
  try {
    return sha256Of(readWithin(file, SMALL_BYTES));
  } catch {
    const stats = statOf(file);
    if (stats === null) return '';
    // A folder behind a link has a new time whenever a file is made in it.
    return stats.isDirectory() ? `folder ${stats.ino}` : `${stats.size} ${stats.ctimeMs}`;
  }
}

/**
 * Returns the SHA-256, in hex, of the first `size` bytes; null if they cannot be read or the file is no
 * longer regular. Reads no more than `size`, because a file such as /proc/kmsg has size 0 and can be
 * endless.
 */
export async function hashOfFile(file: PathLike, size: number): Promise<string | null> {
  const hash = createHash('sha256');
  if (size === 0) return hash.digest('hex');
  try {
    if (size <= SMALL_BYTES) {
      hash.update(withRegularFile(file, constants.O_NOFOLLOW, (fd) => readBytes(fd, size)));
    } else {
      const { descriptor: fd } = openRegular(file, constants.O_NOFOLLOW);
      for await (const chunk of createReadStream(file, { fd, end: size - 1 })) hash.update(chunk);
    }
  } catch {
    return null;
  }
  return hash.digest('hex');
}

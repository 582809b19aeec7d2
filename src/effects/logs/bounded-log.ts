import { closeSync, constants, fstatSync, writeSync } from 'node:fs';
import path from 'node:path';
import { openForAppend } from '../files/append-lines.ts';
import { KB, readBytes, withRegularFile } from '../files/bounded-read.ts';
import { lstatOf } from '../files/file-kinds.ts';
import { namesIn } from '../files/folder.ts';
import { ifPossible } from '../files/if-possible.ts';
import { removeFile } from '../files/write-file.ts';
import type { PinnedFolder } from '../trust/pinned-folder.ts';

/*
 * A log of bounded size consists of several files. The first one has the name of the log. The name of each further one
 * ends with the position in the log at which it begins, so `cat LOG*` prints them in order. What a file holds never
 * changes its position, and files are only appended to or removed. So a position in the log stays valid whatever
 * happens, and a process that is killed leaves nothing half done.
 */

interface LogFile {
  readonly file: string;
  /** The position in the log at which the file begins, in bytes. */
  readonly from: number;
  readonly size: number;
  readonly writtenMs: number;
}

/** Returns the files of a log in order. Never throws. */
export function logFiles(log: string): readonly LogFile[] {
  const { dir, base } = path.parse(log);
  return namesIn(dir)
    .filter((name) => name.startsWith(base) && /^(?:\.\d{15})?$/.test(name.slice(base.length)))
    .flatMap((name) => {
      const file = path.join(dir, name);
      const stats = lstatOf(file);
      if (stats?.isFile() !== true) return [];
      const from = Number(name.slice(base.length + 1));
      return [{ file, from, size: stats.size, writtenMs: stats.mtimeMs }];
    })
    .sort((one, other) => one.from - other.from);
}

/** Returns the position at which a log ends, in bytes. Parts that were removed count, too. Never throws. */
export function logEnd(log: string): number {
  const last = logFiles(log).at(-1);
  return last === undefined ? 0 : last.from + last.size;
}

/** The most that is read at once: readers turn a chunk into a list of lines, so it must not be too long. */
const CHUNK_BYTES = 64 * KB;

/** Some bytes of a log, and the position in the log at which they begin. */
export interface LogChunk {
  readonly chunk: Buffer;
  readonly at: number;
}

/**
 * Returns a function that reads a log from a position on: each call yields what was added since the last one. For files
 * that were removed or cannot be read (except the last file), it yields a line with their size. Never throws.
 */
export function logReader(from = 0): (log: string) => Generator<LogChunk> {
  let position = from;
  return function* (log) {
    for (const each of logFiles(log)) {
      for (;;) {
        const start = Math.max(position, each.from);
        const length = Math.min(CHUNK_BYTES, each.from + each.size - start);
        if (length <= 0) break;
        const chunk = ifPossible(() =>
          withRegularFile(each.file, constants.O_NOFOLLOW, (descriptor) =>
            readBytes(descriptor, length, start - each.from),
          ),
        );
        if (chunk === null || chunk.length === 0) break;
        if (start > position) yield { chunk: leftOutLine(start - position), at: position };
        yield { chunk, at: start };
        position = start + chunk.length;
      }
    }
  };
}

function leftOutLine(bytes: number): Buffer {
  return Buffer.from(`\n[ralph: ${bytes} bytes left out]\n`);
}

/** A log that is open for appending. */
export interface BoundedLog {
  write(chunk: Uint8Array): void;
  /** The position in the log at which it was opened, in bytes. */
  readonly openedAt: number;
  close(): void;
}

/**
 * Opens a log in a folder for appending, readable only by its owner. The first file takes half of `maxBytes`, and each
 * further one a quarter. Of the further ones only the last two are kept. Ignores write errors: a full disk must not
 * stop the task, and saving the state reports the same error.
 */
export function openBoundedLog(folder: PinnedFolder, name: string, maxBytes: number): BoundedLog {
  const log = path.join(folder.path, name);
  // Opening smaller files would take longer than writing to them.
  const firstBytes = Math.max(KB, Math.ceil(maxBytes / 2));
  const furtherBytes = Math.max(KB, Math.floor(maxBytes / 4));
  let descriptor: number | null = null;
  let from = 0;
  let size = 0;

  const close = (): void => {
    if (descriptor !== null) closeSync(descriptor);
    descriptor = null;
  };
  const tryTo = (action: () => void): void => {
    try {
      action();
    } catch {
      close();
    }
  };
  const openNext = (): number => {
    close();
    folder.check();
    for (const { file } of logFiles(log).slice(1, -1)) removeFile(file);
    from += size;
    size = 0;
    return openForAppend(`${log}.${String(from).padStart(15, '0')}`);
  };

  tryTo(() => {
    folder.check();
    const last = logFiles(log).at(-1) ?? { file: log, from };
    descriptor = openForAppend(last.file);
    from = last.from;
    size = fstatSync(descriptor).size;
  });

  return {
    openedAt: from + size,
    write(chunk) {
      tryTo(() => {
        for (let done = 0; done < chunk.length && descriptor !== null; ) {
          const room = (from === 0 ? firstBytes : furtherBytes) - size;
          if (room <= 0) {
            descriptor = openNext();
            continue;
          }
          const written = writeSync(descriptor, chunk.subarray(done, done + room));
          size += written;
          done += written;
        }
      });
    },
    close,
  };
}

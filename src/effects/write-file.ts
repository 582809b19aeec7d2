import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fdatasync,
  fstatSync,
  fsync,
  ftruncateSync,
  mkdirSync,
  openSync,
  promises,
  renameSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import pRetry from 'p-retry';
import { openRegular } from './bounded-read.ts';
import { namesIn } from './names-in.ts';

/** Errors of a busy or distant file system that pass by themselves within moments. */
const PASSING = new Set(['EBUSY', 'EMFILE', 'ENFILE', 'ESTALE', 'EAGAIN']);

/** Tries a file-system action again, three times within about 200 ms, if its error may pass. */
export async function retryBusy<T>(action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    if (!PASSING.has(errorCode(error))) throw error;
  }
  return pRetry(action, {
    retries: 2,
    minTimeout: 20,
    factor: 2,
    shouldRetry: ({ error }) => PASSING.has(errorCode(error)),
  });
}

/** The system's name of an error (`ENOENT`), or an empty string. */
export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string'
    ? error.code
    : '';
}

/** Removes a file; none there is as good. Throws the system's error. Node's own `rm` looks at it first. */
export function removeFile(file: string): void {
  try {
    unlinkSync(file);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
  }
}

/** A name beside a file that nobody else makes up, for what will be renamed to it. */
function temporaryName(file: string): string {
  temporaries = (temporaries + 1) % 2 ** 32;
  return `${file}.${process.pid}-${temporaries.toString(16).padStart(8, '0')}.tmp`;
}

/** Begun at random: another host, too, may have a process of this pid. */
let temporaries = randomBytes(4).readUInt32LE();

/**
 * Writes a file whole or not at all: temporary file beside it, fsync, rename, fsync of the folder.
 * Rejects with the system's error; nothing half-written stays under the file's own name.
 */
export async function writeFileAtomic(
  file: string,
  content: string | Uint8Array,
  mode = 0o600,
): Promise<void> {
  const temporary = temporaryName(file);
  try {
    await retryBusy(async () => {
      await promises.rm(temporary, { force: true });
      const handle = await promises.open(temporary, 'wx', mode);
      try {
        await handle.writeFile(content);
        await handle.sync();
      } finally {
        await handle.close();
      }
    });
    await retryBusy(() => promises.rename(temporary, file));
  } catch (error) {
    await promises.rm(temporary, { force: true }).catch(() => undefined);
    throw error;
  }
  await syncFolder(path.dirname(file));
}

/**
 * Writes a file whole or not at all for every reader, and for a kill at any instant; what is written
 * outlives a power cut only once the returned function has resolved, which may run beside other work.
 * Rejects with the system's error; nothing half-written stays under the file's own name.
 */
export async function replaceFile(
  file: string,
  content: string | Uint8Array,
  mode = 0o600,
): Promise<() => Promise<void>> {
  const temporary = temporaryName(file);
  let descriptor: number | null = null;
  try {
    // Synchronous: a trip to another thread takes longer than writing to the page cache.
    descriptor = await retryBusy(async () => openSync(temporary, 'wx', mode));
    writeFileSync(descriptor, content);
    await retryBusy(async () => renameSync(temporary, file));
  } catch (error) {
    if (descriptor !== null) closeSync(descriptor);
    try {
      removeFile(temporary);
    } catch {
      // Why it could not be written says more.
    }
    throw error;
  }
  return makingDurable(descriptor, path.dirname(file));
}

/**
 * Writes over a file that nobody reads until it is named: half of it may be the old one if the process
 * is killed. Nothing is made, renamed or removed, which would wait for the file system's journal; what is
 * left of a longer text is filled with blanks. Durable once the returned function has resolved.
 * Rejects with the system's error.
 */
export async function overwriteFile(
  file: string,
  content: string,
  mode = 0o600,
): Promise<() => Promise<void>> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW;
  const { descriptor } = await retryBusy(async () => openRegular(file, flags, mode));
  let isNew = false;
  try {
    const { size } = fstatSync(descriptor);
    isNew = size === 0;
    const blanks = size - Buffer.byteLength(content);
    // A far longer one gives its room back.
    if (blanks > LONGEST_FILL) ftruncateSync(descriptor);
    const fill = blanks > 0 && blanks <= LONGEST_FILL ? ' '.repeat(blanks) : '';
    writeFileSync(descriptor, content + fill);
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
  return makingDurable(descriptor, isNew ? path.dirname(file) : null);
}

/**
 * Makes durable what a file holds by now, whoever has written it, and its name in `folder`. Does nothing if
 * there is no such file. Rejects with the system's error.
 */
export async function syncFile(file: string, folder: string | null): Promise<void> {
  let descriptor: number;
  try {
    ({ descriptor } = openRegular(file, constants.O_RDWR | constants.O_NOFOLLOW));
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return;
    throw error;
  }
  await makingDurable(descriptor, folder)();
}

const LONGEST_FILL = 64 * 1024;

/** The folder too, where a name in it has changed. */
function makingDurable(descriptor: number, folder: string | null): () => Promise<void> {
  return async () => {
    try {
      await syncData(descriptor);
    } finally {
      closeSync(descriptor);
    }
    if (folder !== null) await syncFolder(folder);
  };
}

/** Its words and their length; when they were written may be forgotten. */
const syncData = promisify(fdatasync);
const sync = promisify(fsync);

/** A temporary name of a file in this folder that a killed process has left there. */
const HALF_WRITTEN = /\.\d+-[0-9a-f]{8}\.tmp$/;

/**
 * Removes what killed processes have left half-written in a folder, of the files whose names begin so.
 * Nobody else may be writing those. What cannot be removed stays.
 */
export function removeHalfWritten(folder: string, beginning: string): void {
  for (const name of namesIn(folder)) {
    if (!name.startsWith(beginning) || !HALF_WRITTEN.test(name)) continue;
    try {
      removeFile(path.join(folder, name));
    } catch {
      // It is in nobody's way.
    }
  }
}

/** A rename is durable only once its folder is; some file systems cannot sync one, which is fine. */
async function syncFolder(folder: string): Promise<void> {
  let descriptor: number;
  try {
    descriptor = openSync(folder, 'r');
  } catch {
    return;
  }
  await sync(descriptor).catch(() => undefined);
  closeSync(descriptor);
}

/**
 * Makes a folder and its parents, for the owner alone; one that is there stays as it is. Throws the
 * system's error. Step by step, since Node's recursive mkdir never returns where a parent that exists
 * answers "not there", as /proc does.
 */
export function makePrivateFolder(folder: string): void {
  try {
    makeOne(folder);
  } catch (error) {
    const parent = path.dirname(folder);
    if (errorCode(error) !== 'ENOENT' || parent === folder) throw error;
    makePrivateFolder(parent);
    makeOne(folder);
  }
}

/** Another ralph may be making the same one at this moment. */
function makeOne(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if (errorCode(error) !== 'EEXIST' || !statSync(folder).isDirectory()) throw error;
  }
}

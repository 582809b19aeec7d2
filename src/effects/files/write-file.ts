import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  copyFileSync,
  fdatasync,
  fsync,
  ftruncateSync,
  linkSync,
  mkdirSync,
  openSync,
  renameSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import pRetry from 'p-retry';
import { openRegular } from './bounded-read.ts';
import { namesIn } from './folder.ts';

/** Errors of a busy or remote file system that usually pass within moments. */
const PASSING = new Set(['EBUSY', 'EMFILE', 'ENFILE', 'ESTALE', 'EAGAIN']);

/** Runs a file-system action; repeats it up to three times if its error may pass. */
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

/** Returns the system's name of an error (`ENOENT`), or ''. */
export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string'
    ? error.code
    : '';
}

/** Removes a file if it exists. Throws the system's error. Node's `rm` would call stat first. */
export function removeFile(file: string): void {
  try {
    unlinkSync(file);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
  }
}

/** Removes a file and returns whether it is gone. Ignores errors: a leftover is harmless. */
export function tryToRemove(file: string): boolean {
  try {
    removeFile(file);
    return true;
  } catch {
    return false;
  }
}

/** Errors of `link` on file systems without hard links, such as those of USB sticks, shared folders and phones. */
export const NO_HARD_LINKS: ReadonlySet<string> = new Set([
  ...['EPERM', 'EACCES', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'],
]);

/**
 * Gives a complete file a further name: of several processes at the same instant, exactly one succeeds. Throws the
 * system's error, `EEXIST` if the name is taken.
 */
export function giveName(file: string, name: string): void {
  try {
    linkSync(file, name);
  } catch (error) {
    if (!NO_HARD_LINKS.has(errorCode(error))) throw error;
    copyFileSync(file, name, constants.COPYFILE_EXCL);
  }
}

/** Returns a unique name beside a file, for new content that is then renamed to the file. */
function temporaryName(file: string): string {
  temporaries = (temporaries + 1) % 2 ** 32;
  return `${file}.${process.pid}-${temporaries.toString(16).padStart(8, '0')}.tmp`;
}

/** The number in the last name. Starts at random: a process on another host may have the same pid. */
let temporaries = randomBytes(4).readUInt32LE();

/**
 * Writes a file atomically: temporary file beside it, fsync, rename, fsync of the folder. Rejects
 * with the system's error; a half-written file never appears under the real name.
 */
export async function writeFileAtomic(file: string, content: string | Uint8Array): Promise<void> {
  closeSync(await putInPlace(file, content, syncData));
  await syncFolder(path.dirname(file));
}

/**
 * Replaces a file by a rename: every reader finds the whole old or the whole new content, also after a kill at any
 * instant. The new content survives a power cut only after the returned function has resolved, which may run beside
 * other work. Rejects with the system's error.
 */
export async function replaceFile(
  file: string,
  content: string | Uint8Array,
): Promise<() => Promise<void>> {
  const descriptor = await putInPlace(file, content, async () => {});
  return makingDurable(descriptor, path.dirname(file));
}

/** Puts new content in the place of a file by a rename. Resolves to its descriptor, which is still open. */
async function putInPlace(
  file: string,
  content: string | Uint8Array,
  beforeRename: (descriptor: number) => Promise<void>,
): Promise<number> {
  const temporary = temporaryName(file);
  let descriptor: number | null = null;
  try {
    // Synchronous: a trip to another thread takes longer than writing to the page cache.
    descriptor = await retryBusy(async () => openSync(temporary, 'wx', 0o600));
    writeFileSync(descriptor, content);
    await beforeRename(descriptor);
    await retryBusy(async () => renameSync(temporary, file));
    return descriptor;
  } catch (error) {
    if (descriptor !== null) closeSync(descriptor);
    tryToRemove(temporary);
    throw error;
  }
}

/**
 * Overwrites a file in place, since a rename would wait for the file system's journal. A kill may leave half of the old
 * content, so nothing may read the file until another file names it. If the new text is shorter, blanks replace the
 * rest of the old one. The content survives a power cut only after the returned function has resolved. Rejects with the
 * system's error.
 */
export async function overwriteFile(file: string, content: string): Promise<() => Promise<void>> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW;
  const { descriptor, size } = await retryBusy(async () => openRegular(file, flags));
  try {
    const blanks = size - Buffer.byteLength(content);
    // A much longer file is truncated instead of filled with blanks.
    if (blanks > LONGEST_FILL) ftruncateSync(descriptor);
    const fill = blanks > 0 && blanks <= LONGEST_FILL ? ' '.repeat(blanks) : '';
    writeFileSync(descriptor, content + fill);
  } catch (error) {
    closeSync(descriptor);
    // On a full disk, an unfinished new file would only take space.
    if (size === 0) tryToRemove(file);
    throw error;
  }
  return makingDurable(descriptor, size === 0 ? path.dirname(file) : null);
}

/**
 * Makes the current content of a file durable, and its name if `folder` is given. Does nothing if the file does not
 * exist. Rejects with the system's error.
 */
export async function syncFile(file: string, folder: string | null): Promise<void> {
  let descriptor: number;
  try {
    // Uses its own descriptor, because the writer may close theirs meanwhile.
    ({ descriptor } = openRegular(file, constants.O_RDWR | constants.O_NOFOLLOW));
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return;
    throw error;
  }
  await makingDurable(descriptor, folder)();
}

const LONGEST_FILL = 64 * 1024;

/** Returns a function that syncs and closes a file, and then syncs `folder` unless it is null. */
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

const syncData = promisify(fdatasync);
const sync = promisify(fsync);

/** A temporary file that a killed process has left behind. */
const HALF_WRITTEN = /\.\d+-[0-9a-f]{8}\.tmp$/;

/**
 * Removes the temporary files of killed processes in a folder, for the files whose names start with
 * `beginning`. No other process may be writing those. Ignores errors.
 */
export function removeHalfWritten(folder: string, beginning: string): void {
  for (const name of namesIn(folder)) {
    if (name.startsWith(beginning) && HALF_WRITTEN.test(name)) tryToRemove(path.join(folder, name));
  }
}

/** Syncs a folder, which makes a rename in it durable. Ignores file systems that cannot do that. */
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
 * Creates a folder and its parents with access for the owner only; leaves an existing one as it is.
 * Throws the system's error. Goes step by step: Node's recursive mkdir never returns if an existing
 * parent answers "not found", as /proc does.
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

/** Creates one folder. Accepts an existing one: another ralph may be creating it right now. */
function makeOne(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if (errorCode(error) !== 'EEXIST' || !statSync(folder).isDirectory()) throw error;
  }
}

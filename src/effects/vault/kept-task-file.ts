import { closeSync, constants, fstatSync, lstatSync, promises } from 'node:fs';
import path from 'node:path';
import type { PutBack } from '../../core/task/put-back.ts';
import { openRegular, readBytes, readWithin } from '../files/bounded-read.ts';
import { ifPossible } from '../files/if-possible.ts';
import { leadsOut } from '../files/real-path.ts';
import { makePrivateFolder, tryToRemove, writeFileAtomic } from '../files/write-file.ts';
import { TASK_FILE_MAX_BYTES } from './task-file.ts';
import { filesIn, IN_PROGRESS, NEEDS_ACTION } from './vault-folders.ts';

/** The task file of a running task. */
export interface KeptTaskFile {
  /**
   * Puts the file back if the agent has removed, emptied or replaced it, or renamed it within the vault's work folders,
   * but not if it was moved elsewhere. Resolves to what the agent had done to it; null if nothing was put back. Rejects
   * with the system's error.
   */
  putBack(): Promise<PutBack | null>;
  /** Removes the copy, unless the file could not be put back. */
  close(): void;
}

interface KeptRequest {
  readonly vault: string;
  /** The absolute path of the file. */
  readonly file: string;
  /**
   * The absolute path of a copy. A copy that an earlier process left, because it died or could not put the file back,
   * is used.
   */
  readonly copy: string;
  /** Whether a file of this name has arrived in the done folder. */
  readonly hasArrived: () => Promise<boolean>;
}

/** The file as last seen. It stays open, so that ralph can tell whether it still has a name. */
interface Held {
  readonly descriptor: number;
  readonly links: number;
  readonly mode: number;
}

/**
 * Protects a task file, whose text exists nowhere else. The number of hard links shows if it was renamed or removed.
 */
export function keepTaskFile(request: KeptRequest): KeptTaskFile {
  const { vault, file, copy, hasArrived } = request;
  let held: Held | null = null;
  /** The last text of the file that was not blank; null if there is nothing to put back. */
  let text = ifPossible(() => readWithin(copy, TASK_FILE_MAX_BYTES));
  /** Whether the copy is the only text of the file that is left. */
  let isOwed = false;

  const release = (): void => {
    if (held !== null) closeSync(held.descriptor);
    held = null;
  };

  const forget = (): null => {
    release();
    isOwed = false;
    text = null;
    tryToRemove(copy);
    return null;
  };

  const take = async ({ bytes, ...seen }: Seen): Promise<null> => {
    release();
    held = seen;
    isOwed = false;
    const isNew = text?.equals(bytes) !== true;
    text = bytes;
    // If the copy cannot be written, this process can still put the file back.
    if (isNew) await writeFileAtomic(copy, bytes).catch(() => undefined);
    return null;
  };

  const write = async (bytes: Buffer): Promise<void> => {
    makePrivateFolder(path.dirname(file));
    await writeFileAtomic(file, bytes);
    if (held !== null) await promises.chmod(file, held.mode);
  };

  return {
    async putBack() {
      const seen = open(file);
      if (seen !== null && !isBlank(seen.bytes)) return take(seen);
      if (seen !== null) closeSync(seen.descriptor);
      if (held !== null) text = newerText(held) ?? text;
      if (text === null || (await hasArrived())) return null;
      isOwed = true;
      // Errors are ignored, since the state folder may be gone, too.
      await writeFileAtomic(copy, text).catch(() => undefined);
      if (leadsOut(path.dirname(file), vault))
        throw new Error(`${IN_PROGRESS} leads out of the vault`);
      const bytes = text;
      const from = held === null ? null : otherName(vault, file, held);
      if (from === 'elsewhere') return forget();
      const there = lstatSync(file, { throwIfNoEntry: false });
      const isInTheWay = there !== undefined && !there.isFile();
      // A file whose name ends with `~` is not taken for a task.
      const aside = `${file}.before-${new Date().toISOString().replace(/\D/g, '')}~`;
      if (isInTheWay) await promises.rename(file, aside);
      if (from === null) await write(bytes);
      else await promises.rename(from, file);
      const now = open(file);
      if (now !== null) await take(now);
      isOwed = false;
      if (from !== null) return { kind: 'moved', from: path.relative(vault, from) };
      if (isInTheWay) return { kind: 'replaced', aside: path.relative(vault, aside) };
      return { kind: there === undefined ? 'removed' : 'emptied' };
    },
    close() {
      release();
      if (!isOwed) tryToRemove(copy);
    },
  };
}

interface Seen extends Held {
  readonly bytes: Buffer;
}

/** Opens and reads a file; null if it is missing, not a regular file, or not readable. */
function open(file: string): Seen | null {
  return ifPossible(() => {
    const { descriptor, size } = openRegular(file, constants.O_NOFOLLOW);
    const { nlink: links, mode } = fstatSync(descriptor);
    const bytes = readBytes(descriptor, Math.min(size, TASK_FILE_MAX_BYTES));
    return { descriptor, links, mode: mode & 0o777, bytes };
  });
}

function isBlank(bytes: Buffer): boolean {
  return bytes.toString().trim() === '';
}

/** Returns the current text of an open file, which may have lost its name; null if it is blank or unreadable. */
function newerText({ descriptor }: Held): Buffer | null {
  return ifPossible(() => {
    const { size } = fstatSync(descriptor);
    const bytes = readBytes(descriptor, Math.min(size, TASK_FILE_MAX_BYTES), 0);
    return isBlank(bytes) ? null : bytes;
  });
}

/**
 * Returns the new path of a file that the agent has renamed within the work folders of the vault, `elsewhere` if it was
 * moved to any other place, and null if it is still in its place or has lost its name.
 */
function otherName(vault: string, file: string, { descriptor, links }: Held): string | null {
  const own = fstatSync(descriptor, { bigint: true });
  const there = lstatSync(file, { bigint: true, throwIfNoEntry: false });
  const isSame = (stats: { ino: bigint; dev: bigint } | undefined): boolean =>
    stats?.ino === own.ino && stats.dev === own.dev;
  if (isSame(there) || own.nlink < links) return null;
  const found = [IN_PROGRESS, NEEDS_ACTION]
    .flatMap((folder) => filesIn(vault, folder))
    .find((each) => isSame(lstatSync(each.file, { bigint: true, throwIfNoEntry: false })));
  return found?.file ?? 'elsewhere';
}

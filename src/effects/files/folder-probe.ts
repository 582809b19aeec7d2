import { randomUUID } from 'node:crypto';
import { accessSync, constants, statfsSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { messageOf } from '../../errors.ts';
import { MB } from './bounded-read.ts';
import { ifPossible } from './if-possible.ts';
import { errorCode, tryToRemove } from './write-file.ts';

/** Whether files can be created in a folder, as found out without writing anything. */
export type FolderProbe =
  | { readonly kind: 'writable' }
  /** The folder is missing, and can be created in `within`, which exists and is writable. */
  | { readonly kind: 'to-be-made'; readonly within: string }
  | { readonly kind: 'not-writable'; readonly why: string };

export function probeFolder(folder: string): FolderProbe {
  const there = nearestThere(folder);
  try {
    if (!statSync(there).isDirectory()) {
      return { kind: 'not-writable', why: `${there} is not a folder` };
    }
    accessSync(there, constants.W_OK | constants.X_OK);
    return there === folder ? { kind: 'writable' } : { kind: 'to-be-made', within: there };
  } catch (error) {
    return { kind: 'not-writable', why: messageOf(error) };
  }
}

/** Returns the bytes that this user can still write in the folder; null if unknown. */
export function freeBytes(folder: string): number | null {
  const found = ifPossible(() => statfsSync(nearestThere(folder)));
  return found === null ? null : found.bavail * found.bsize;
}

/** Writes a file of a megabyte and removes it. Returns the system's message if that fails; null if it works. */
export function writeTrouble(folder: string): string | null {
  const file = path.join(folder, `probe-${randomUUID()}`);
  try {
    writeFileSync(file, Buffer.alloc(MB), { flag: 'wx', mode: 0o600 });
    return null;
  } catch (error) {
    return messageOf(error);
  } finally {
    tryToRemove(file);
  }
}

/** Returns the folder itself, or its nearest ancestor that exists or cannot be checked. */
function nearestThere(folder: string): string {
  const there = path.resolve(folder);
  const parent = path.dirname(there);
  try {
    statSync(there);
  } catch (error) {
    const isGone = ['ENOENT', 'ENOTDIR'].includes(errorCode(error));
    if (isGone && parent !== there) return nearestThere(parent);
  }
  return there;
}

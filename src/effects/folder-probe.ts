import { accessSync, constants, statfsSync, statSync } from 'node:fs';
import path from 'node:path';
import { messageOf } from '../errors.ts';
import { errorCode } from './write-file.ts';

/** Whether something can be written into a folder. Nothing is, to find out. */
export type FolderProbe =
  | { readonly kind: 'writable' }
  /** It would be made in this folder, which is there and can be written. */
  | { readonly kind: 'to-be-made'; readonly within: string }
  | { readonly kind: 'not-writable'; readonly why: string };

export function probeFolder(folder: string): FolderProbe {
  const there = nearestThere(folder);
  try {
    if (!statSync(there).isDirectory()) {
      return { kind: 'not-writable', why: `${there} is no folder` };
    }
    accessSync(there, constants.W_OK | constants.X_OK);
    return there === folder ? { kind: 'writable' } : { kind: 'to-be-made', within: there };
  } catch (error) {
    return { kind: 'not-writable', why: messageOf(error) };
  }
}

/** Bytes that this user can still write to where the folder lies or would lie; null if unknown. */
export function freeBytes(folder: string): number | null {
  try {
    const { bavail, bsize } = statfsSync(nearestThere(folder));
    return bavail * bsize;
  } catch {
    return null;
  }
}

/** The folder itself, or the nearest above it of which the system says anything but "not there". */
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

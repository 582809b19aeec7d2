import { existsSync, lstatSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { asText } from './tree-path.ts';

/** Waits for locks of git. However often it is asked, it waits for a limited time in all. */
export interface Patience {
  /** Resolves to the first of these files that is still there when the time is over; null once all are gone. */
  untilGone(files: readonly string[]): Promise<string | null>;
}

/** Git holds a lock for an instant, so a short wait is enough: 2 s in all. */
const LOOKS = 20;
const BETWEEN_LOOKS_MS = 100;

export function createPatience(pause: (ms: number) => Promise<void> = sleep): Patience {
  let left = LOOKS;
  return {
    async untilGone(files) {
      for (;;) {
        const there = files.find((file) => existsSync(file));
        if (there === undefined) return null;
        if (left === 0) return there;
        left -= 1;
        await pause(BETWEEN_LOOKS_MS);
      }
    },
  };
}

/** Returns the files by which git locks HEAD, this branch (a full name; null for none) and all packed refs. */
export function locksOf(
  { gitDir, commonDir }: { readonly gitDir: string; readonly commonDir: string },
  branch: string | null,
): readonly string[] {
  const own = branch === null ? [] : [`${branch}.lock`];
  return [
    path.join(gitDir, 'HEAD.lock'),
    ...['packed-refs.lock', ...own].map((name) => path.join(commonDir, name)),
  ];
}

/** The file by which git locks an index. */
export function indexLockOf(index: string): string {
  return `${index}.lock`;
}

/** Returns a clause: since when the lock has been there, and when it may be removed; or that it is gone by now. */
export function lockText(file: string): string {
  const stats = lstatSync(file, { throwIfNoEntry: false });
  if (stats === undefined) return `${file} was there, and is gone by now`;
  const since = stats.mtime.toISOString().replace(/\.\d+Z$/, 'Z');
  return `${file} has been there since ${since}, and may be removed if no git is running`;
}

/** Returns `lockText` for the lock that git's complaint names; null if the complaint names none. */
export function lockIn(complaint: string): string | null {
  const file = /Unable to create '(.+\.lock)'/.exec(asText(complaint))?.[1];
  return file === undefined ? null : lockText(file);
}

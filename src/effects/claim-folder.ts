import {
  closeSync,
  constants,
  lstatSync,
  readdirSync,
  renameSync,
  rmdirSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import * as z from 'zod/mini';
import { type Here, isDriverAlive } from '../core/driver.ts';
import { msBetween } from '../core/task-state.ts';
import { KB, openRegular, readTextWithin } from './bounded-read.ts';
import { parseObject } from './json-fields.ts';
import { errorCode, makePrivateFolder, removeFile } from './write-file.ts';

/*
 * The folder `locks/<task_id>/` and the claims in it, a file each. A claim gets its name once it is
 * written: whoever is killed before has none. From then on it is never replaced by a rename, only
 * written over in place: a folder that is read during a rename may show neither name, and a driver that
 * lost its claim would bring it back.
 */

/** Built when the first claim of another is read. */
let built: ReturnType<typeof buildSchema> | null = null;

function buildSchema() {
  return z.object({
    phase: z.enum(['candidate', 'owner']),
    /** Who came first: an instant and something random. */
    ticket: z.string(),
    driver: z.object({
      pid: z.number(),
      pid_started_at: z.string(),
      boot_id: z.string(),
      host: z.string(),
      pid_namespace: z.string(),
      run_id: z.string(),
      beat_at: z.string(),
    }),
  });
}

/** What a claim's file says. */
export type ClaimRecord = z.infer<ReturnType<typeof buildSchema>>;

/** A claim of somebody alive; null where its file says nothing yet. */
export type LiveClaim = ClaimRecord | null;

/** The claims on a task, one's own left out. */
export interface Claims {
  readonly live: readonly LiveClaim[];
  /** Files of those whose driver is dead. */
  readonly dead: readonly string[];
}

/** A claim that says nothing may be one that is being written; so old, it was left half-written. */
const UNREADABLE_DEAD_AFTER_MS = 10_000;
/** Several times what a claim takes. */
const RECORD_LENGTH = 1023;
/** The last one to leave removes the folder, maybe just when the next one comes in. */
const MOST_ENTRIES = 1_000;

/** Behind the name of a claim that is not written yet. */
const UNWRITTEN = '.new';

/** Where the claims on a task lie. */
export function claimFolder(stateDir: string, taskId: string): string {
  return path.join(stateDir, 'locks', taskId);
}

/** Creates a claim, and its folder where that is not there. Throws the system's error. */
export function createClaim(file: string, claim: ClaimRecord): void {
  const folder = path.dirname(file);
  for (let entry = 1; ; entry += 1) {
    try {
      refuseLinks(folder);
      makePrivateFolder(folder);
      writeFileSync(`${file}${UNWRITTEN}`, textOf(claim), { flag: 'wx', mode: 0o600 });
      renameSync(`${file}${UNWRITTEN}`, file);
      return;
    } catch (error) {
      if (errorCode(error) === 'ENOENT' && entry < MOST_ENTRIES) continue;
      tolerate(() => removeFile(`${file}${UNWRITTEN}`));
      throw error;
    }
  }
}

/** Writes over a claim that is there. Throws the system's error, `ENOENT` if it was taken away. */
export function rewriteClaim(file: string, claim: ClaimRecord): void {
  const fd = openRegular(file, constants.O_RDWR | constants.O_NOFOLLOW).descriptor;
  try {
    writeSync(fd, textOf(claim), 0);
  } finally {
    closeSync(fd);
  }
}

/** Whether a claim is there. Throws the system's error where that cannot be told. */
export function isClaimThere(file: string): boolean {
  try {
    // Opened, since a distant file system may answer a mere stat from memory.
    closeSync(openRegular(file, constants.O_NOFOLLOW).descriptor);
    return true;
  } catch (error) {
    if (isGone(error)) return false;
    throw error;
  }
}

/** Removes claims, and their folder with the last one. What cannot be removed stays. */
export function removeClaims(folder: string, files: readonly string[]): void {
  for (const file of files) tolerate(() => removeFile(file));
  tolerate(() => rmdirSync(folder));
  tolerate(() => rmdirSync(path.dirname(folder)));
}

/** Reads all claims on a task but `ownFile`. Throws the system's error. */
export function readClaims(folder: string, here: Here, ownFile?: string): Claims {
  refuseLinks(folder);
  const live: LiveClaim[] = [];
  const dead: string[] = [];
  for (const entry of unlessGone(() => readdirSync(folder, { withFileTypes: true })) ?? []) {
    const file = path.join(folder, entry.name);
    // A named pipe would never come to an end.
    if (!entry.isFile() || file === ownFile) continue;
    // Taken from under one who is just writing it, it is written once more.
    if (file.endsWith(`.json${UNWRITTEN}`)) dead.push(file);
    if (!file.endsWith('.json')) continue;
    const text = unlessGone(() => textIn(file));
    if (text === null) continue;
    built ??= buildSchema();
    const claim = built.safeParse(parseObject(text)).data ?? null;
    const isAlive = claim === null ? isFresh(file, here) : isDriverAlive(claim.driver, here);
    if (isAlive) live.push(claim);
    else dead.push(file);
  }
  return { live, dead };
}

/** Many times what a claim takes: a larger file says nothing. */
const CLAIM_MAX_BYTES = 64 * KB;

function textIn(file: string): string {
  try {
    return readTextWithin(file, CLAIM_MAX_BYTES);
  } catch (error) {
    if (errorCode(error) === 'EFBIG') return '';
    throw error;
  }
}

/** A time far in the future is as wrong as an old one. */
function isFresh(file: string, { at }: Here): boolean {
  const stats = unlessGone(() => statSync(file));
  if (stats === null) return false;
  return Math.abs(msBetween(stats.mtime.toISOString(), at)) < UNREADABLE_DEAD_AFTER_MS;
}

/** Always of one length, so that nothing of the older text stays behind the newer. */
function textOf(claim: ClaimRecord): string {
  return `${JSON.stringify(claim).padEnd(RECORD_LENGTH)}\n`;
}

/** A link could have anything written anywhere. */
function refuseLinks(folder: string): void {
  for (const place of [path.dirname(folder), folder]) {
    if (!lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink()) continue;
    const problem = `${place} is a symbolic link, which ralph does not follow; remove it.`;
    throw Object.assign(new Error(problem), { code: 'ELOOP' });
  }
}

function unlessGone<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (isGone(error)) return null;
    throw error;
  }
}

/** Another machine's removal shows as a stale handle. */
function isGone(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR', 'ESTALE'].includes(errorCode(error));
}

function tolerate(action: () => void): void {
  try {
    action();
  } catch {
    // It is gone, or others are still in it.
  }
}

import {
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
import { type Here, isDriverAlive } from '../../core/task/driver.ts';
import { isTaskId } from '../../core/task/task-id.ts';
import { msBetween } from '../../core/task/task-state.ts';
import { KB, readFirstBytes, withRegularFile } from '../files/bounded-read.ts';
import { namesIn } from '../files/folder.ts';
import { parseObject } from '../files/json-fields.ts';
import { errorCode, makePrivateFolder, tryToRemove } from '../files/write-file.ts';

/*
 * The folder `locks/<task_id>/` and the claims in it, one file for each driver (a process that wants to run the task).
 * A claim is renamed to its final name only after it is written, so a crash while writing leaves no lock. After that it
 * is only overwritten in place, never replaced by a rename: during a rename, a reader of the folder may see neither
 * name, and a driver that does not find its claim creates it again.
 */

/** The schema is built when another driver's claim is first read. */
let schema: ReturnType<typeof buildSchema> | null = null;

function buildSchema() {
  return z.object({
    phase: z.enum(['candidate', 'owner']),
    /** Decides which driver came first: an instant and a random part. */
    ticket: z.string(),
    driver: z.object({
      pid: z.number(),
      pid_started_at: z.string(),
      boot_id: z.string(),
      host: z.string(),
      pid_namespace: z.string(),
      run_id: z.string(),
      beat_at: z.string(),
      /** Set if the claim is on a git work tree, not on a task: the task that the driver wants to run there. */
      user: z.exactOptional(
        z.object({ taskId: z.string(), vault: z.string(), needsAlone: z.boolean() }),
      ),
    }),
  });
}

export type ClaimRecord = z.infer<ReturnType<typeof buildSchema>>;

/** A driver as its claim names it. */
export type ClaimDriver = ClaimRecord['driver'];

/** The claim of a living driver; null if its file cannot be read yet, since it is still being written. */
export type LiveClaim = ClaimRecord | null;

/** The claims of other drivers on a task. */
export interface Claims {
  readonly live: readonly LiveClaim[];
  /** Claim files of dead drivers. */
  readonly dead: readonly string[];
}

/** An unreadable claim may be half-written; if it is this old, its writer has died. */
const UNREADABLE_DEAD_AFTER_MS = 10_000;
/** Claims are padded to this length, which no claim exceeds, even with the longest paths in it. */
const RECORD_LENGTH = 8191;
/** Most tries to create a claim: each time, the last driver to leave may have removed the folder. */
const MOST_ENTRIES = 1_000;

/** Suffix of a claim that is still being written. */
const UNWRITTEN = '.new';

/** Returns the folder for the claims on a task. */
export function claimFolder(stateDir: string, taskId: string): string {
  return path.join(stateDir, 'locks', taskId);
}

/** Creates a claim, and its folder if necessary. Throws the system's error. */
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
      tryToRemove(`${file}${UNWRITTEN}`);
      throw error;
    }
  }
}

/** Overwrites an existing claim. Throws the system's error, `ENOENT` if it was removed. */
export function rewriteClaim(file: string, claim: ClaimRecord): void {
  withRegularFile(file, constants.O_RDWR | constants.O_NOFOLLOW, (descriptor) =>
    writeSync(descriptor, textOf(claim), 0),
  );
}

/** Whether a claim exists. Throws the system's error if that is unknown. */
export function isClaimThere(file: string): boolean {
  // Opened, because a remote file system may answer a mere stat from its cache.
  return unlessGone(() => withRegularFile(file, constants.O_NOFOLLOW, () => true)) ?? false;
}

/** Removes claims, and then their folder and `locks` if these are empty. Ignores errors. */
export function removeClaims(folder: string, files: readonly string[]): void {
  files.forEach(tryToRemove);
  try {
    rmdirSync(folder);
    rmdirSync(path.dirname(folder));
  } catch {
    // A folder is gone, or other claims are still in it.
  }
}

/** Reads all claims on a task except `ownFile`. Throws the system's error. */
export function readClaims(folder: string, here: Here, ownFile?: string): Claims {
  refuseLinks(folder);
  const live: LiveClaim[] = [];
  const dead: string[] = [];
  for (const entry of unlessGone(() => readdirSync(folder, { withFileTypes: true })) ?? []) {
    const file = path.join(folder, entry.name);
    // Reading a named pipe would never end.
    if (!entry.isFile() || file === ownFile) continue;
    // A claim that is still being written counts as dead: if its writer is alive, it creates the claim again.
    if (file.endsWith(`.json${UNWRITTEN}`)) dead.push(file);
    if (!file.endsWith('.json')) continue;
    const text = unlessGone(() => readFirstBytes(file, CLAIM_MAX_BYTES).toString());
    if (text === null) continue;
    schema ??= buildSchema();
    const claim = schema.safeParse(parseObject(text)).data ?? null;
    const isAlive = claim === null ? isFresh(file, here) : isDriverAlive(claim.driver, here);
    if (isAlive) live.push(claim);
    else dead.push(file);
  }
  return { live, dead };
}

/** Returns the ids of tasks whose locks were left by dead drivers. Never throws. */
export function findStaleLocks(stateDir: string, here: Here): readonly string[] {
  const isStale = (taskId: string): boolean => {
    try {
      const { live, dead } = readClaims(claimFolder(stateDir, taskId), here);
      return live.length === 0 && dead.length > 0;
    } catch {
      return false;
    }
  };
  return namesIn(path.join(stateDir, 'locks'))
    .toSorted()
    .filter((id) => isTaskId(id) && isStale(id));
}

/** The most that is read of a claim: many times the size of one. */
const CLAIM_MAX_BYTES = 64 * KB;

/** Whether a file was written within the last 10 s. A time far in the future counts as old. */
function isFresh(file: string, { at }: Here): boolean {
  const stats = unlessGone(() => statSync(file));
  if (stats === null) return false;
  return Math.abs(msBetween(stats.mtime.toISOString(), at)) < UNREADABLE_DEAD_AFTER_MS;
}

/** Returns a claim's text, padded to a fixed length so that nothing of an older text remains. */
function textOf(claim: ClaimRecord): string {
  return `${JSON.stringify(claim).padEnd(RECORD_LENGTH)}\n`;
}

/** Throws if a lock folder is a symbolic link, because that could redirect writes to any folder. */
function refuseLinks(folder: string): void {
  for (const place of [path.dirname(folder), folder]) {
    if (!lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink()) continue;
    const problem = `${place} is a symbolic link, which ralph does not follow; remove it.`;
    throw Object.assign(new Error(problem), { code: 'ELOOP' });
  }
}

/** Returns null if the file is gone. A removal by another machine shows as `ESTALE`. */
function unlessGone<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'ESTALE'].includes(errorCode(error))) return null;
    throw error;
  }
}

import { existsSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { HEARTBEAT_MS, isDriverAlive } from '../../core/task/driver.ts';
import type { Driver } from '../../core/task/task-state.ts';
import { MB, tryReadText } from '../../effects/files/bounded-read.ts';
import { namesIn } from '../../effects/files/folder.ts';
import { ifPossible } from '../../effects/files/if-possible.ts';
import {
  type JsonObject,
  numberAt,
  parseObject,
  stringAt,
} from '../../effects/files/json-fields.ts';
import { removeTree } from '../../effects/files/remove-tree.ts';
import { makePrivateFolder } from '../../effects/files/write-file.ts';
import { thisDriver, thisPlace } from '../../effects/lock/driver-identity.ts';
import { leftoversOfRun } from '../../effects/processes/end-process.ts';
import { tryReadStateFile } from '../../effects/state/state-file.ts';
import { taskPaths } from '../../effects/state/task-folder.ts';
import { systemClock } from '../../effects/time/clock.ts';

/*
 *   <home>/mirrors/<hash>.git             the mirror of a repository
 *   <home>/legs/<task>.<fence>/owner.json the worker's process; touched while the leg runs
 *                             /tree       the work tree
 *                             /state      the state folder of the run
 */

/** The folder of one leg, a worker's run of a task. */
export interface LegFolder {
  readonly folder: string;
  readonly tree: string;
  readonly stateDir: string;
  /** Marks the processes that the leg itself starts, such as the set-up. */
  readonly runId: string;
  readonly endBeats: () => void;
}

const OWNER = 'owner.json';

/**
 * Makes the folder of a leg, and renews the heartbeat in it from then on: a worker in another container or on another
 * host that shares the home cannot see the process, only the heartbeat. The folder is always new, since it is named by
 * the number of the claim (fence).
 */
export function makeLegFolder(
  home: string,
  taskId: string,
  fence: number,
  runId: string,
): LegFolder {
  const folder = path.join(home, 'legs', `${taskId}.${fence}`);
  const stateDir = path.join(folder, 'state');
  makePrivateFolder(path.join(home, 'legs'));
  makePrivateFolder(folder);
  const owner = thisDriver(systemClock.now(), runId);
  const ownerFile = path.join(folder, OWNER);
  writeFileSync(ownerFile, JSON.stringify(owner), { mode: 0o600 });
  makePrivateFolder(stateDir);
  const beats = setInterval(() => beat(ownerFile), HEARTBEAT_MS).unref();
  const endBeats = (): void => clearInterval(beats);
  return { folder, tree: path.join(folder, 'tree'), stateDir, runId, endBeats };
}

function beat(ownerFile: string): void {
  const now = new Date();
  try {
    utimesSync(ownerFile, now, now);
  } catch {
    // The file is missing, or the disk has failed; the next heartbeat may succeed.
  }
}

/**
 * Removes the folder of a leg, even with read-only folders in it, such as Go's cache of modules. Resolves to whether it
 * is gone. Never rejects: what stays is removed later.
 */
export async function removeLegFolder(folder: string): Promise<boolean> {
  try {
    await rm(folder, { recursive: true, force: true }).catch(() => removeTree(folder));
  } catch {
    // A file in the folder may be in use; the next clean-up of this home tries again.
  }
  return !existsSync(folder);
}

/**
 * Ends the processes that dead workers of this home left running, and removes their folders: their claims are lost, so
 * the content is of no use. Also removes kept folders that are old. Resolves to the names of the removed folders.
 */
export async function clearDeadLegs(home: string): Promise<readonly string[]> {
  const legs = path.join(home, 'legs');
  const removed: string[] = [];
  for (const name of namesIn(legs)) {
    const folder = path.join(legs, name);
    const owner = readOwner(folder);
    const isUsed = isInUse(folder, owner);
    const runs = isUsed ? [] : [owner?.run_id ?? '', lastRunOf(folder, name)];
    for (const run of runs) await leftoversOfRun(run).end();
    const stays = isKept(folder) ?? isUsed;
    if (!stays && (await removeLegFolder(folder))) removed.push(name);
  }
  return removed;
}

const KEPT = 'kept';
/** How long a marked folder is kept, in milliseconds. */
const KEPT_MS = 3 * 24 * 3_600_000;

/**
 * Marks a leg's folder to be kept, so that a person can look at it for some days. Never throws: a full disk must not
 * keep the task's end from being stored. Without a mark, the folder stays only as long as its worker lives.
 */
export function keepLegFolder(folder: string): void {
  ifPossible(() => writeFileSync(path.join(folder, KEPT), '', { mode: 0o600 }));
}

/** How long a new folder may be without its owner's file, in milliseconds. */
const UNNAMED_MS = 60_000;

/** Whether a person may still want to look at a marked folder; null if it is not marked. */
function isKept(folder: string): boolean | null {
  const keptMs = ageOf(path.join(folder, KEPT));
  return keptMs === null ? null : keptMs < KEPT_MS;
}

/** Whether a leg runs or may be starting in the folder. */
function isInUse(folder: string, owner: Driver | null): boolean {
  if (owner !== null) return isDriverAlive(owner, thisPlace(systemClock.now()));
  return (ageOf(folder) ?? 0) < UNNAMED_MS;
}

/** Returns how long ago a file was written, in milliseconds; null without the file. */
function ageOf(file: string): number | null {
  const at = statSync(file, { throwIfNoEntry: false })?.mtimeMs;
  return at === undefined ? null : Date.now() - at;
}

function lastRunOf(folder: string, name: string): string {
  const taskId = name.slice(0, name.lastIndexOf('.'));
  const file = tryReadStateFile(taskPaths(path.join(folder, 'state'), taskId).stateFile);
  return file.kind === 'task' ? (file.state.driver?.run_id ?? '') : '';
}

function readOwner(folder: string): Driver | null {
  const file = path.join(folder, OWNER);
  const object = parseObject(tryReadText(file, MB) ?? '');
  const beatAt = statSync(file, { throwIfNoEntry: false })?.mtime;
  if (object === null || beatAt === undefined) return null;
  const pid = numberAt(object, 'pid');
  return pid === null ? null : { ...textsOf(object), pid, beat_at: beatAt.toISOString() };
}

function textsOf(object: JsonObject): Omit<Driver, 'pid'> {
  const text = (key: keyof Driver): string => stringAt(object, key) ?? '';
  return {
    ...{ pid_started_at: text('pid_started_at'), boot_id: text('boot_id'), host: text('host') },
    ...{ pid_namespace: text('pid_namespace'), run_id: text('run_id'), beat_at: text('beat_at') },
  };
}

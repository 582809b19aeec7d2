import { rmdirSync } from 'node:fs';
import path from 'node:path';
import * as z from 'zod/mini';
import { HEARTBEAT_MS, type Here } from '../../core/task/driver.ts';
import { isTaskId } from '../../core/task/task-id.ts';
import type { Driver } from '../../core/task/task-state.ts';
import { KB, readTextWithin } from '../files/bounded-read.ts';
import { namesIn } from '../files/folder.ts';
import { parseObject } from '../files/json-fields.ts';
import { makePrivateFolder, tryToRemove, writeFileAtomic } from '../files/write-file.ts';
import { claimTask, liveClaim } from '../lock/task-lock.ts';

/*
 * One driver for each work tree, whatever vault its task is in. In the work tree's own git folder:
 *
 *   ralph/locks/work-tree/   the claim of the driver that works alone
 *   ralph/locks/shared.<id>/ claims of drivers that were told to share it
 *   ralph/driver-<id>.json   which task and vault a driver works for
 */

/** Who works in a work tree. */
export interface WorkTreeUser {
  readonly taskId: string;
  /** Absolute path. */
  readonly vault: string;
  /** Whether it needs the work tree for itself, since it commits or takes back what has changed. */
  readonly needsAlone: boolean;
}

/** This process's claim on a work tree. No method throws. */
export interface WorkTreeClaim {
  /** Whether this driver still has the work tree: false if another one took over, since this one seemed dead. */
  isHeld(): boolean;
  /** Stops the heartbeat, so that nothing of it is written while the work tree is removed. */
  pause(): void;
  release(): void;
}

type WorkTreeClaimResult =
  | { readonly kind: 'held'; readonly claim: WorkTreeClaim }
  /** Another driver has the work tree; `by` is null if it has not said yet for which task. */
  | { readonly kind: 'taken'; readonly by: WorkTreeUser | null; readonly driver: Driver | null }
  /** No claim can be written, for example because the disk is full. */
  | { readonly kind: 'unwritable'; readonly error: unknown };

export interface WorkTreeClaimRequest {
  /** The work tree's own git folder. */
  readonly gitDir: string;
  readonly user: WorkTreeUser;
  readonly driver: Driver;
  /** Called each time claims are read. */
  readonly here: () => Here;
  /** Whether others may work there, too: refused only where one of them needs it for itself. */
  readonly isShared: boolean;
}

const ALONE = 'work-tree';
const SHARED = 'shared.';

/** Claims a work tree for a driver. Exactly one of several gets it, unless they share it. */
export async function claimWorkTree(request: WorkTreeClaimRequest): Promise<WorkTreeClaimResult> {
  const { gitDir, user, driver, here, isShared } = request;
  const folder = path.join(gitDir, 'ralph');
  const own = isShared ? `${SHARED}${driver.run_id}` : ALONE;
  const file = userFile(folder, driver);
  // Before the claim, so that whoever finds the claim finds it, too.
  await writeUser(file, user);
  const result = await claimTask(folder, own, driver, here);
  if (result.kind === 'unwritable') return result;
  const others = liveClaims(folder, here()).filter(({ run_id }) => run_id !== driver.run_id);
  // One of which nothing is known may need the work tree for itself.
  const mayStay = (other: Driver) => isShared && readUser(folder, other)?.needsAlone === false;
  const hindrance = result.kind === 'taken' ? result.by : others.find((each) => !mayStay(each));
  if (result.kind === 'taken' || hindrance !== undefined) {
    if (result.kind === 'held') result.claim.release();
    tryToRemove(file);
    const by = hindrance ?? null;
    return { kind: 'taken', by: readUser(folder, by), driver: by };
  }
  const { claim } = result;
  removeStale(folder, [driver, ...others]);
  const timer = setInterval(() => claim.renew(), HEARTBEAT_MS).unref();
  return {
    kind: 'held',
    claim: {
      isHeld: () => claim.isHeld(),
      pause: () => clearInterval(timer),
      release() {
        clearInterval(timer);
        tryToRemove(file);
        claim.release();
        try {
          rmdirSync(folder);
        } catch {
          // Others are there, or the work tree is gone.
        }
      },
    },
  };
}

/** Returns the task of a live driver that needs a work tree for itself; null if there is none. */
export function whoNeedsAlone(gitDir: string, here: Here): WorkTreeUser | null {
  const folder = path.join(gitDir, 'ralph');
  const users = liveClaims(folder, here).map((driver) => readUser(folder, driver));
  return users.find((user) => user?.needsAlone === true) ?? null;
}

function liveClaims(folder: string, here: Here): readonly Driver[] {
  return namesIn(path.join(folder, 'locks'))
    .filter((name) => isTaskId(name) && (name === ALONE || name.startsWith(SHARED)))
    .flatMap((name) => liveClaim(folder, name, here) ?? []);
}

const schema = z.object({ taskId: z.string(), vault: z.string(), needsAlone: z.boolean() });

function userFile(folder: string, { run_id }: Driver): string {
  return path.join(folder, `driver-${path.basename(run_id)}.json`);
}

/** Never rejects: it serves the sentence for the next one. */
async function writeUser(file: string, user: WorkTreeUser): Promise<void> {
  try {
    makePrivateFolder(path.dirname(file));
    await writeFileAtomic(file, `${JSON.stringify(user)}\n`);
  } catch {
    // If the disk is full, the claim says so.
  }
}

/** Removes what drivers have said that died. */
function removeStale(folder: string, live: readonly Driver[]): void {
  const kept = new Set(live.map((driver) => path.basename(userFile(folder, driver))));
  for (const name of namesIn(folder)) {
    if (name.startsWith('driver-') && !kept.has(name)) tryToRemove(path.join(folder, name));
  }
}

function readUser(folder: string, driver: Driver | null): WorkTreeUser | null {
  if (driver === null) return null;
  try {
    const text = readTextWithin(userFile(folder, driver), 64 * KB);
    return schema.safeParse(parseObject(text)).data ?? null;
  } catch {
    return null;
  }
}

import { rmdirSync } from 'node:fs';
import path from 'node:path';
import { HEARTBEAT_MS, type Here } from '../../core/task/driver.ts';
import { isTaskId } from '../../core/task/task-id.ts';
import type { Driver } from '../../core/task/task-state.ts';
import { namesIn } from '../files/folder.ts';
import type { ClaimDriver } from '../lock/lock-folder.ts';
import { claimTask, liveClaim } from '../lock/task-lock.ts';

/*
 * Lets one driver at a time, the ralph process that runs a task, work in a work tree, whatever vault (folder with
 * `.ralph_state`) its task is in. A claim is a file that says so, in the work tree's own git folder:
 *
 *   ralph/locks/work-tree/   the claim of the driver that works alone
 *   ralph/locks/shared.<id>/ the claim of a driver that was told to share it
 */

/** Which task works in a work tree, and how. */
export interface WorkTreeUser {
  readonly taskId: string;
  /** Absolute path. */
  readonly vault: string;
  /** Whether the task needs the work tree for itself, because it commits or takes back what has changed. */
  readonly needsAlone: boolean;
}

/** This process's claim on a work tree. No method throws. */
export interface WorkTreeClaim {
  /** Returns false once another driver has taken over the work tree, because this one seemed dead. */
  isHeld(): boolean;
  /** No longer renews the claim's file, so that nothing is written while the work tree is removed. */
  pause(): void;
  release(): void;
}

type WorkTreeClaimResult =
  | { readonly kind: 'held'; readonly claim: WorkTreeClaim }
  /** Another driver has the work tree; `by` is null if that driver has not named its task yet. */
  | { readonly kind: 'taken'; readonly by: WorkTreeUser | null; readonly driver: Driver | null }
  /** No claim can be written, for example because the disk is full. */
  | { readonly kind: 'unwritable'; readonly error: unknown };

export interface WorkTreeClaimRequest {
  /** The work tree's own git folder. */
  readonly gitDir: string;
  readonly user: WorkTreeUser;
  readonly driver: Driver;
  /** Returns where and when this process runs. Called each time claims are read. */
  readonly here: () => Here;
  /** Whether others may work there, too. The claim is still refused if one of them needs the work tree for itself. */
  readonly isShared: boolean;
}

const ALONE = 'work-tree';
const SHARED = 'shared.';

/** Claims a work tree for a driver. Of several drivers, exactly one gets it, unless all of them agree to share it. */
export async function claimWorkTree(request: WorkTreeClaimRequest): Promise<WorkTreeClaimResult> {
  const { gitDir, user, driver, here, isShared } = request;
  const folder = path.join(gitDir, 'ralph');
  const own = isShared ? `${SHARED}${driver.run_id}` : ALONE;
  const result = await claimTask(folder, own, { ...driver, user }, here);
  if (result.kind === 'unwritable') return result;
  const others = liveClaims(folder, here()).filter(({ run_id }) => run_id !== driver.run_id);
  // A driver that has not named its task yet may need the work tree for itself.
  const mayStay = (other: ClaimDriver) => isShared && other.user?.needsAlone === false;
  const hindrance = result.kind === 'taken' ? result.by : others.find((each) => !mayStay(each));
  if (result.kind === 'taken' || hindrance !== undefined) {
    if (result.kind === 'held') result.claim.release();
    return { kind: 'taken', by: hindrance?.user ?? null, driver: hindrance ?? null };
  }
  const { claim } = result;
  const timer = setInterval(() => claim.renew(), HEARTBEAT_MS).unref();
  return {
    kind: 'held',
    claim: {
      isHeld: () => claim.isHeld(),
      pause: () => clearInterval(timer),
      release() {
        clearInterval(timer);
        claim.release();
        try {
          rmdirSync(folder);
        } catch {
          // Other claims are in the folder, or the work tree is gone.
        }
      },
    },
  };
}

/** Returns the task of a live driver that needs a work tree for itself; null if there is none. */
export function whoNeedsAlone(gitDir: string, here: Here): WorkTreeUser | null {
  const users = liveClaims(path.join(gitDir, 'ralph'), here).map(({ user }) => user);
  return users.find((user) => user?.needsAlone === true) ?? null;
}

function liveClaims(folder: string, here: Here): readonly ClaimDriver[] {
  return namesIn(path.join(folder, 'locks'))
    .filter((name) => isTaskId(name) && (name === ALONE || name.startsWith(SHARED)))
    .flatMap((name) => liveClaim(folder, name, here) ?? []);
}

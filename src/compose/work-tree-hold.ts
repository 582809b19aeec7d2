import type { Driver } from '../core/task/task-state.ts';
import {
  claimWorkTree,
  type WorkTreeClaim,
  type WorkTreeUser,
} from '../effects/branches/work-tree-claim.ts';
import { findGitAbove } from '../effects/files/find-git-above.ts';
import { thisPlace } from '../effects/lock/driver-identity.ts';
import { systemClock } from '../effects/time/clock.ts';
import { messageOf } from '../errors.ts';
import { WorkTreeTakenError } from '../task-errors.ts';

interface HoldRequest {
  /** The work tree's own git folder. */
  readonly gitDir: string;
  /** The root of the work tree, as it is shown to a person. */
  readonly root: string;
  readonly user: WorkTreeUser;
  readonly driver: Driver;
  readonly isShared: boolean;
  readonly warn: (sentence: string) => void;
}

/** The work trees that this process has locked. Several tasks of this process can use the same lock. */
export interface WorkTreeHolds {
  /** Locks a work tree; if no lock can be written, only warns. Rejects with a `WorkTreeTakenError`. */
  hold(request: HoldRequest): Promise<WorkTreeClaim>;
}

/** Whether a folder is in a git work tree, so that tasks in it can have work trees of their own. */
export function isInRepository(folder: string): boolean {
  return findGitAbove(folder) !== null;
}

interface Held {
  readonly user: WorkTreeUser;
  readonly claim: Promise<WorkTreeClaim>;
  users: number;
}

export function workTreeHolds(): WorkTreeHolds {
  const all = new Map<string, Held>();
  return {
    async hold(request) {
      const { gitDir, user, root } = request;
      const earlier = all.get(gitDir);
      if (earlier !== undefined && (user.needsAlone || earlier.user.needsAlone)) {
        throw new WorkTreeTakenError(user.taskId, root, describe(earlier.user));
      }
      const held = earlier ?? { user, claim: claim(request), users: 0 };
      all.set(gitDir, held);
      held.users += 1;
      const leave = (): boolean => {
        held.users -= 1;
        if (held.users === 0) all.delete(gitDir);
        return held.users === 0;
      };
      const own = await held.claim.catch((error: unknown) => {
        leave();
        throw error;
      });
      return {
        isHeld: own.isHeld,
        pause: own.pause,
        release() {
          if (leave()) own.release();
        },
      };
    },
  };
}

async function claim(request: HoldRequest): Promise<WorkTreeClaim> {
  const { gitDir, root, user, driver, isShared, warn } = request;
  const here = () => thisPlace(systemClock.now());
  const result = await claimWorkTree({ gitDir, user, driver, isShared, here });
  if (result.kind === 'held') return result.claim;
  if (result.kind === 'taken') {
    const pid = result.driver === null ? '' : `, pid ${result.driver.pid}`;
    throw new WorkTreeTakenError(user.taskId, root, `${describe(result.by)}${pid}`);
  }
  warn(
    `Other loops cannot be kept out of the work tree ${root}, since no claim can be written to it (${messageOf(result.error)}).`,
  );
  return NO_CLAIM;
}

const NO_CLAIM: WorkTreeClaim = { isHeld: () => true, pause() {}, release() {} };

function describe(user: WorkTreeUser | null): string {
  return user === null
    ? 'another task that is just starting'
    : `task '${user.taskId}' of the vault ${user.vault}`;
}

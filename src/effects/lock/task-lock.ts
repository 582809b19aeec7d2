import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Here } from '../../core/task/driver.ts';
import { errorCode, retryBusy } from '../files/write-file.ts';
import { monotonicMs } from '../time/monotonic.ts';
import {
  type ClaimDriver,
  type ClaimRecord,
  type Claims,
  claimFolder,
  createClaim,
  isClaimThere,
  type LiveClaim,
  readClaims,
  removeClaims,
  rewriteClaim,
} from './lock-folder.ts';

/*
 * At most one live driver (a process that runs the task) per task, without a lock that a killed process would leave
 * behind: Lamport's bakery algorithm, with a file for each driver.
 *
 *   candidate ── nobody else alive ──► owner ── looked again: no other owner ──► held
 *     │  ▲                               │                                        │
 *     │  └── only larger tickets: wait   │ an owner that seemed dead is not       │ released
 *     ▼                                  ▼                                        ▼
 *   withdrawn ◄── a live owner, or a smaller ticket                           withdrawn
 *
 * Every driver creates its file before it reads those of others. So if two start at the same instant,
 * at least one sees the other, and the smaller ticket wins.
 */

/** This process's claim on a task. No method throws. */
export interface TaskClaim {
  /** Writes a heartbeat; call it every `HEARTBEAT_MS`. If that fails, the next call tries again. */
  renew(): void;
  /**
   * Whether this driver still has the task: false after another driver has taken it over because this one seemed dead.
   * Creates the claim again if it was merely deleted.
   */
  isHeld(): boolean;
  release(): void;
}

type ClaimResult =
  | { readonly kind: 'held'; readonly claim: TaskClaim }
  /** A live driver has the task; `by` is null if its claim cannot be read yet. */
  | { readonly kind: 'taken'; readonly by: ClaimDriver | null }
  /** The claim cannot be written (full disk, read-only, a link), and no other claim was found. */
  | { readonly kind: 'unwritable'; readonly error: unknown };

const POLL_MS = 5;
const LONGEST_WAIT_MS = 2000;

/**
 * Claims a task for a driver. Of many drivers at the same instant, exactly one gets it, even if it
 * belonged to a dead driver. `taskId` must be valid. `here` is called each time claims are read.
 */
export async function claimTask(
  stateDir: string,
  taskId: string,
  driver: ClaimDriver,
  here: () => Here,
): Promise<ClaimResult> {
  const mine = ownClaim(claimFolder(stateDir, taskId), driver, here);
  try {
    await retryBusy(async () => createClaim(mine.file, mine.record('candidate')));
    const rival = (await rivalBefore(mine)) ?? (await rivalAfter(mine));
    if (rival === null) return { kind: 'held', claim: hold(mine) };
    mine.withdraw();
    return { kind: 'taken', by: rival.by };
  } catch (error) {
    mine.withdraw();
    if (errorCode(error) === '') throw error;
    // Even if nothing can be written, other drivers' claims may be readable.
    const by = liveClaim(stateDir, taskId, here());
    // Our own claim may still exist, because removing it failed, too.
    const isOther = by !== null && by.run_id !== driver.run_id;
    return isOther ? { kind: 'taken', by } : { kind: 'unwritable', error };
  }
}

/**
 * Returns the driver that has a task now or is about to get it; null if there is none, or if its claim is unreadable.
 * Never writes, never throws.
 */
export function liveClaim(stateDir: string, taskId: string, here: Here): ClaimDriver | null {
  try {
    const { live } = readClaims(claimFolder(stateDir, taskId), here);
    return (live.find(isOwner) ?? live.find((claim) => claim !== null))?.driver ?? null;
  } catch {
    return null;
  }
}

interface OwnClaim {
  readonly folder: string;
  readonly file: string;
  readonly ticket: string;
  /** Returns the claim's content with the current time as its heartbeat. */
  record(phase: ClaimRecord['phase']): ClaimRecord;
  others(): Claims;
  withdraw(): void;
}

function ownClaim(folder: string, driver: ClaimDriver, here: () => Here): OwnClaim {
  const id = randomUUID();
  const file = path.join(folder, `${id}.json`);
  const ticket = `${driver.beat_at} ${id}`;
  return {
    folder,
    file,
    ticket,
    record: (phase) => ({ phase, ticket, driver: { ...driver, beat_at: here().at } }),
    others: () => readClaims(folder, here(), file),
    withdraw: () => removeClaims(folder, [file]),
  };
}

/** A driver to which this process gives way; `by` is null if that driver's claim cannot be read yet. */
interface Rival {
  readonly by: ClaimDriver | null;
}

/** Resolves to null when no other driver is alive, or to a driver that goes first or has not left after 2 s. */
async function rivalBefore({ ticket, others }: OwnClaim): Promise<Rival | null> {
  const startedAtMs = monotonicMs();
  for (;;) {
    const { live } = others();
    const [someone] = live;
    if (someone === undefined) return null;
    const first =
      live.find(isOwner) ?? live.find((other) => other !== null && other.ticket < ticket);
    if (first) return { by: first.driver };
    // The other driver was probably suspended while it was claiming the task.
    if (monotonicMs() - startedAtMs > LONGEST_WAIT_MS) return { by: someone?.driver ?? null };
    await sleep(POLL_MS);
  }
}

/** Becomes the owner, and reads the claims again: a driver that seemed dead may be a living owner, which goes first. */
async function rivalAfter({ folder, file, record, others }: OwnClaim): Promise<Rival | null> {
  await retryBusy(async () => rewriteClaim(file, record('owner')));
  const { live, dead } = others();
  const owner = live.find(isOwner);
  if (owner) return { by: owner.driver };
  removeClaims(folder, dead);
  return null;
}

function hold({ folder, file, record, others, withdraw }: OwnClaim): TaskClaim {
  let isOver = false;
  /** Ignores errors: if nothing can be read or written, this driver keeps the task. */
  const unlessFailed = (action: () => void): void => {
    try {
      action();
    } catch {
      // The next call tries again.
    }
  };
  const yieldToOwner = (): void => {
    if (!others().live.some(isOwner)) return;
    isOver = true;
    withdraw();
  };

  const isHeld = (): boolean => {
    unlessFailed(() => {
      if (isOver || isClaimThere(file)) return;
      yieldToOwner();
      if (isOver) return;
      createClaim(file, record('owner'));
      // Another driver may have read the claims before this claim existed again.
      yieldToOwner();
    });
    return !isOver;
  };

  return {
    isHeld,
    renew() {
      if (!isHeld()) return;
      unlessFailed(() => {
        // Another driver may have taken over without removing this claim yet; a heartbeat now would then
        // produce two owners.
        yieldToOwner();
        if (!isOver) rewriteClaim(file, record('owner'));
      });
    },
    release() {
      if (isOver) return;
      isOver = true;
      // Also removes the claims of drivers that died before they could withdraw theirs.
      unlessFailed(() => removeClaims(folder, others().dead));
      withdraw();
    },
  };
}

function isOwner(claim: LiveClaim): claim is ClaimRecord {
  return claim?.phase === 'owner';
}

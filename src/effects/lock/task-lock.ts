import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Here } from '../../core/task/driver.ts';
import type { Driver } from '../../core/task/task-state.ts';
import { errorCode, retryBusy } from '../files/write-file.ts';
import { monotonicMs } from '../time/monotonic.ts';
import {
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
 * One live driver a task, without a lock that a killed process would leave behind: Lamport's bakery,
 * with a file for each driver.
 *
 *   candidate ── nobody else alive ──► owner ── looked again: no other owner ──► held
 *     │  ▲                               │                                        │
 *     │  └── only larger tickets: wait   │ an owner that seemed dead is not       │ released
 *     ▼                                  ▼                                        ▼
 *   withdrawn ◄── a live owner, or a smaller ticket                           withdrawn
 *
 * Everyone creates a file before looking, so that of two at the same instant one at least sees the
 * other, and tickets tell which of them goes.
 */

/** This process's hold on a task. Nothing here throws. */
export interface TaskClaim {
  /** Renews the beat; call it every `BEAT_MS`. What cannot be written now is left to the next time. */
  renew(): void;
  /**
   * False once another driver has taken the task over, since this one seemed dead for so long. A claim
   * that somebody merely deleted is made anew.
   */
  isHeld(): boolean;
  release(): void;
}

type ClaimResult =
  | { readonly kind: 'held'; readonly claim: TaskClaim }
  /** A live driver has it; null where it has not said yet who it is. */
  | { readonly kind: 'taken'; readonly by: Driver | null }
  /** No claim can be kept here (disk full, read-only, a link in the way), and nobody's is seen. */
  | { readonly kind: 'unwritable'; readonly error: unknown };

const POLL_MS = 5;
const LONGEST_WAIT_MS = 2000;

/**
 * Claims a task for a driver. Of many at the same instant one gets it, and a dead driver's claim passes
 * to one. `taskId` must already be a valid task id. `here` is asked anew at every look.
 */
export async function claimTask(
  stateDir: string,
  taskId: string,
  driver: Driver,
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
    // Where nothing can be written, what others have written may still be read.
    const by = liveClaim(stateDir, taskId, here());
    // One's own, which could not be removed either.
    const isOther = by !== null && by.run_id !== driver.run_id;
    return isOther ? { kind: 'taken', by } : { kind: 'unwritable', error };
  }
}

/**
 * Who drives a task now, or is about to; null where nobody is, or nobody that can be read. Never
 * writes, never throws.
 */
export function liveClaim(stateDir: string, taskId: string, here: Here): Driver | null {
  try {
    const { live } = readClaims(claimFolder(stateDir, taskId), here);
    return (live.find(isOwner) ?? live.find((claim) => claim !== null))?.driver ?? null;
  } catch {
    return null;
  }
}

/** A claim of this process, in whatever phase. */
interface OwnClaim {
  readonly folder: string;
  readonly file: string;
  readonly ticket: string;
  /** What it says, with a beat of now. */
  record(phase: ClaimRecord['phase']): ClaimRecord;
  others(): Claims;
  withdraw(): void;
}

function ownClaim(folder: string, driver: Driver, here: () => Here): OwnClaim {
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

/** Whom a claim gives way to. */
interface Rival {
  readonly by: Driver | null;
}

/** Waits until nobody else is alive; resolves to the rival that goes first, or that never goes. */
async function rivalBefore({ ticket, others }: OwnClaim): Promise<Rival | null> {
  const startedAtMs = monotonicMs();
  for (;;) {
    const { live } = others();
    const [someone] = live;
    if (someone === undefined) return null;
    const first =
      live.find(isOwner) ?? live.find((other) => other !== null && other.ticket < ticket);
    if (first) return { by: first.driver };
    // It was suspended in the midst of its own claiming.
    if (monotonicMs() - startedAtMs > LONGEST_WAIT_MS) return { by: someone?.driver ?? null };
    await sleep(POLL_MS);
  }
}

/** Becomes the owner and looks again: one elsewhere that seemed dead may have beaten since. */
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
  /** Where nothing can be read or written, nobody else is seen. */
  const unlessFailed = (action: () => void): void => {
    try {
      action();
    } catch {
      // The next time may do better.
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
      // One that looked around before this was there.
      yieldToOwner();
    });
    return !isOver;
  };

  return {
    isHeld,
    renew() {
      if (!isHeld()) return;
      unlessFailed(() => {
        // Taken over, but not yet removed: a beat now would make two of us.
        yieldToOwner();
        if (!isOver) rewriteClaim(file, record('owner'));
      });
    },
    release() {
      if (isOver) return;
      isOver = true;
      // With those that died while they were refused.
      unlessFailed(() => removeClaims(folder, others().dead));
      withdraw();
    },
  };
}

function isOwner(claim: LiveClaim): claim is ClaimRecord {
  return claim?.phase === 'owner';
}

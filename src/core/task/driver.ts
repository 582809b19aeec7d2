import { type Driver, msBetween } from './task-state.ts';

/** What tells whether a driver (the process that runs a task) is alive: this machine and the current instant. */
export interface Here {
  readonly host: string;
  readonly bootId: string;
  readonly pidNamespace: string;
  readonly at: string;
  /** Whether the process with this pid and start time is alive. */
  readonly isAlive: (process: { readonly pid: number; readonly startedAt: string }) => boolean;
}

/** How often a driver renews its heartbeat. */
export const HEARTBEAT_MS = 15_000;
/** A driver on another machine counts as dead if its last heartbeat is older than this. */
const DEAD_AFTER_MS = 120_000;
/** A heartbeat this far in the future comes from a clock that is plainly wrong, so its driver counts as dead. */
const FAR_AHEAD_MS = 24 * 3_600_000;

/**
 * Whether a driver is alive. On the same host, boot and pid namespace, its process is looked up, and counts as alive
 * even if it is suspended; elsewhere (in a container, on another machine) only its heartbeat counts.
 */
export function isDriverAlive(driver: Driver, here: Here): boolean {
  const isHere =
    driver.host === here.host &&
    driver.boot_id === here.bootId &&
    (driver.pid_namespace === '' || driver.pid_namespace === here.pidNamespace);
  if (isHere) return here.isAlive({ pid: driver.pid, startedAt: driver.pid_started_at });
  const ageMs = msBetween(driver.beat_at, here.at);
  return ageMs < DEAD_AFTER_MS && ageMs > -FAR_AHEAD_MS;
}

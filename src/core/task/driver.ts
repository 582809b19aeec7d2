import { type Driver, msBetween } from './task-state.ts';

/** The place from which drivers are judged alive or dead. */
export interface Here {
  readonly host: string;
  readonly bootId: string;
  readonly pidNamespace: string;
  /** The current instant. */
  readonly at: string;
  /** Whether the process with this pid and start time is alive. */
  readonly isAlive: (process: { readonly pid: number; readonly startedAt: string }) => boolean;
}

/**
 * How often a driver renews its heartbeat; after `DEAD_AFTER_MS` without one, a driver elsewhere
 * counts as dead.
 */
export const HEARTBEAT_MS = 15_000;
const DEAD_AFTER_MS = 120_000;
/** Clocks differ; a heartbeat this far in the future comes from a clock that is plainly wrong. */
const FAR_AHEAD_MS = 24 * 3_600_000;

/**
 * Whether a driver is alive. On the same host, boot and pid namespace, the process itself is
 * checked, suspended or not; elsewhere (a container, a shared folder) only the heartbeat counts.
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

import { type EndedStatus, endingRow } from './core/task/endings.ts';

/*
 * Exit codes. Those of tasks that ended are in the table of endings; the README has all of them.
 * Codes from 64 follow sysexits.h; 128 + n means signal n, as in shells.
 */

/** The task cannot continue. */
export const EXIT_FAILED = 1;
/** Bad flags, config or prompt; nothing was started. */
export const EXIT_USAGE = 2;
/** A live loop already has this task. */
export const EXIT_ALREADY_ACTIVE = 7;
/** A bug in ralph. */
export const EXIT_BUG = 70;

/** The database of a fleet cannot be reached at present. */
export const EXIT_AWAY = 75;

/** The exit code of a task that ended so. */
export function exitCodeFor(status: EndedStatus, exitReason: string): number {
  return endingRow(status, exitReason).exitCode;
}

/** The exit code of what a signal has ended, or a request to stop; null if nothing has. */
export function stopCode(by: string | null): number | null {
  return by === null ? null : exitCodeFor('stopped', `stopped:${by}`);
}

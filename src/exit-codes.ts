import { type EndedStatus, endingRow } from './core/task/endings.ts';

/*
 * Exit codes. Those of ended tasks are in the table of endings; the README lists all. Codes from 64 follow sysexits.h;
 * 128 + n means signal n, as in shells.
 */

/** The task cannot continue. */
export const EXIT_FAILED = 1;
/** Bad flags, config or prompt; nothing was started. */
export const EXIT_USAGE = 2;
/** A live process of ralph already runs this task. */
export const EXIT_ALREADY_ACTIVE = 7;
/** A bug in ralph. */
export const EXIT_BUG = 70;

/** The database of a fleet (machines that share tasks) cannot be reached at present. */
export const EXIT_AWAY = 75;

/** Returns the exit code of a task that ended with this status and reason. */
export function exitCodeFor(status: EndedStatus, exitReason: string): number {
  return endingRow(status, exitReason).exitCode;
}

/** Returns the exit code after a stop by a signal or a request, which `by` names; null if there was no stop. */
export function stopCode(by: string | null): number | null {
  return by === null ? null : exitCodeFor('stopped', `stopped:${by}`);
}

import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { fixture } from './processes.ts';

/*
 * A ralph whose time passes only when a test, or the agent of a test, says so. How long an agent takes to start on a
 * busy machine then decides nothing.
 */

/** Longer than what is left over after an agent was ended, since that counts for the next iteration. */
export const TOLD_LIMIT_MS = 6_000;

/** As long as all steps by which an agent is ended. */
const ENDING_MS = 5_000;

/** A limit for such a ralph, as a flag takes it. */
export const TOLD_LIMIT = `${TOLD_LIMIT_MS / 1_000}s`;

/** What such a ralph loads first. It works in `work`, beside a folder `bin`. */
export const TOLD_CLOCK_FILE = fixture('told-clock.cjs');

/** The environment of such a ralph. */
export const TOLD_CLOCK = { NODE_OPTIONS: `--require ${TOLD_CLOCK_FILE}` } as const;

/** A shell command by which an agent lets the limit pass, and then slowly the time in which it is ended. */
export function letsLimitPass(folder: string): string {
  return `echo ${TOLD_LIMIT_MS} ${ENDING_MS} >> '${timeFile(folder)}'`;
}

/** Lets the limit pass, and then slowly the time in which an agent is ended. */
export function letLimitPass(folder: string): void {
  letTimePass(folder, TOLD_LIMIT_MS, ENDING_MS);
}

/** Leaves an agent that is ended four times as long for each step. */
export function letEndingPass(folder: string): void {
  letTimePass(folder, 0, ENDING_MS);
}

/** Lets so many milliseconds pass, and then slowly so many more. */
export function letTimePass(folder: string, ms: number, slowMs = 0): void {
  appendFileSync(timeFile(folder), `${ms} ${slowMs}\n`);
}

function timeFile(folder: string): string {
  return join(folder, '../bin/time');
}

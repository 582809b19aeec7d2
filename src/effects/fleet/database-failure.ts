import { oneLine } from '../../core/text/untrusted-text.ts';
import { FleetAwayError, FleetError, messageOf } from '../../errors.ts';
import { EXIT_FAILED } from '../../exit-codes.ts';
import { isObject } from '../files/json-fields.ts';

/**
 * SQLSTATE: connection exceptions, too few resources, a server that stops, starts or has crashed, and what took too
 * long: a statement, a lock, an idle transaction.
 */
const AWAY_STATES = /^(08...|53...|57P0[1-5]|57014|55P03|25P03|58...)$/;
/** SQLSTATE: a deadlock, a transaction that another one overtook, a row that another one has just removed. */
const OVERTAKEN_STATES = /^(40001|40P01|23503)$/;
/** SQLSTATE: a server that only reads, such as one that has been replaced. */
const READ_ONLY = '25006';
const STATE = /^[0-9A-Z]{5}$/;

/** Whether the same transaction may succeed if it is tried again at once. */
export function isOvertaken(error: unknown): boolean {
  return OVERTAKEN_STATES.test(codeOf(error));
}

/** Whether the connection can be used after this error of a statement. */
export function leavesConnection(error: unknown): boolean {
  const code = codeOf(error);
  return STATE.test(code) && !AWAY_STATES.test(code);
}

/**
 * Returns what to throw for an error of the database: a `FleetAwayError` if it cannot be reached, a `FleetError` if it
 * refuses, and the error itself if it is a bug.
 */
export function databaseFailure(fleet: string, error: unknown): unknown {
  if (error instanceof FleetError || error instanceof FleetAwayError) return error;
  const code = codeOf(error);
  const words = oneLine(messageOf(error) || code, 300);
  if (STATE.test(code)) {
    if (AWAY_STATES.test(code) || code === READ_ONLY || OVERTAKEN_STATES.test(code)) {
      return new FleetAwayError(fleet, words);
    }
    const advice = REFUSALS.find(([states]) => states.test(code))?.[1];
    if (advice === undefined) return error;
    return new FleetError(`${fleet} refuses: ${words}; ${advice}.`, EXIT_FAILED);
  }
  if (isOfSocket(error) || /connection|timeout/i.test(words))
    return new FleetAwayError(fleet, words);
  if (/password|SASL|SSL|certificate/i.test(words)) {
    return new FleetError(
      `${fleet} refuses: ${words}; check the user, its password and the TLS settings.`,
      EXIT_FAILED,
    );
  }
  return error;
}

/** What to do about a refusal, by SQLSTATE. */
const REFUSALS: readonly (readonly [RegExp, string])[] = [
  [/^28/, 'check the user and its password (PGPASSFILE, or ~/.pgpass)'],
  [/^3D000$/, 'create the database, and run ralph fleet init'],
  [/^42501$/, 'the database gives this user no right to it'],
  [/^(3F000|42P01)$/, 'run ralph fleet init'],
];

/** Errors of node's sockets and names, and of TLS. */
function isOfSocket(error: unknown): boolean {
  return isObject(error) && typeof error.syscall === 'string';
}

function codeOf(error: unknown): string {
  return isObject(error) && typeof error.code === 'string' ? error.code : '';
}

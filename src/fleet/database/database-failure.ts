import { isObject } from '../../core/text/is-object.ts';
import { oneLine } from '../../core/text/untrusted-text.ts';
import { FleetAwayError, FleetError, messageOf } from '../../errors.ts';
import { EXIT_FAILED } from '../../exit-codes.ts';

/**
 * SQLSTATEs for: lost connections, too few resources, a server that stops, starts or has crashed, a statement, a lock
 * or an idle transaction that took too long, and a fault of the server. Hosted poolers have only this last one for too
 * many connections.
 */
const AWAY_STATES = /^(08...|53...|57P0[1-5]|57014|55P03|25P03|58...|XX000)$/;
/** SQLSTATEs for a deadlock, and for rows that another transaction changed or removed first. */
const OVERTAKEN_STATES = /^(40001|40P01|23503)$/;
/** SQLSTATE for a statement that took too long. If `pg` itself stops waiting, its error has these words instead. */
const TOO_SLOW = '57014';
const SLOW_WORDS = /^Query read timeout/;
/** SQLSTATE for a write on a server that allows only reads, such as one that has been replaced. */
const READ_ONLY = '25006';
/** Matches a SQLSTATE. All those of interest have a digit; the error codes of node, such as EPIPE, have none. */
const STATE = /^(?=.*\d)[0-9A-Z]{5}$/;

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
 * Returns the error to throw for a failure of the database: a `FleetAwayError` if a later try may succeed, a
 * `FleetError` with advice if the database or `pg` refuses, and the given error if it is a bug.
 */
export function databaseFailure(fleet: string, given: unknown): unknown {
  if (given instanceof FleetError || given instanceof FleetAwayError) return given;
  // Node tries each address of a host, and rejects with an `AggregateError` that has no message of its own.
  const error = given instanceof AggregateError ? (given.errors[0] ?? given) : given;
  const code = codeOf(error);
  const words = oneLine(messageOf(error) || code, 300);
  if (STATE.test(code)) {
    if (UNSUPPORTED.test(words)) return refused(fleet, words, POOLER);
    if (AWAY_STATES.test(code) || code === READ_ONLY || OVERTAKEN_STATES.test(code)) {
      return new FleetAwayError(fleet, words, code === TOO_SLOW);
    }
    const advice = REFUSALS.find(([states]) => states.test(code))?.[1];
    return advice === undefined ? error : refused(fleet, words, advice);
  }
  const ofClient = OWN_REFUSALS.find(([pattern]) => pattern.test(words))?.[1];
  if (ofClient !== undefined) return refused(fleet, words, ofClient);
  if (isOfFile(error)) return refused(fleet, words, 'check the files that its URL names');
  if (isOfSocket(error) || /connection|timeout/i.test(words))
    return new FleetAwayError(fleet, words, SLOW_WORDS.test(words));
  if (/password|SASL|SSL/i.test(words)) {
    return refused(fleet, words, 'check the user, its password, and sslmode in the URL');
  }
  return error;
}

function refused(fleet: string, words: string, advice: string): FleetError {
  return new FleetError(`${fleet} refuses: ${words}; ${advice}.`, EXIT_FAILED);
}

/** PgBouncer, a connection pooler, refuses with this message. */
const UNSUPPORTED = /unsupported startup parameter/;
const POOLER =
  'name the database itself and not a pooler, or let PgBouncer ignore it: docs/fleet.md has its line for ignore_startup_parameters';

/** What to do if `pg` itself refuses, by the pattern of its message. */
const OWN_REFUSALS: readonly (readonly [RegExp, string])[] = [
  [
    /client password must be/,
    'a password is required and none was found; put it into ~/.pgpass or the file of PGPASSFILE, with chmod 600',
  ],
  [
    /certificate|altnames/i,
    'name the file of its certificate authority with sslrootcert=FILE in the URL, or do without the check with sslmode=no-verify',
  ],
  [/does not support SSL/, 'set sslmode=disable in the URL, or have the server use TLS'],
];

/** What to do about a refusal, by SQLSTATE. */
const REFUSALS: readonly (readonly [RegExp, string])[] = [
  [/^28/, 'check the user, its password (PGPASSFILE, or ~/.pgpass), and sslmode in the URL'],
  [/^3D000$/, 'create the database, and run ralph fleet init'],
  [
    /^42501$/,
    'this user lacks the right; connect as the owner of the tables, or have the owner run docs/fleet.sql',
  ],
  [/^(3F000|42P01)$/, 'run ralph fleet init'],
];

function isOfFile(error: unknown): boolean {
  return isObject(error) && typeof error.syscall === 'string' && typeof error.path === 'string';
}

/** Error codes of node's sockets, such as ECONNREFUSED, and of its name look-ups, such as EAI_AGAIN. */
const SOCKET_CODES = /^(E[A-Z]{3,}|EAI_[A-Z]+)$/;

/** Whether a socket or a name look-up of node caused the error. Some errors name no system call but have a code. */
function isOfSocket(error: unknown): boolean {
  return isObject(error) && (typeof error.syscall === 'string' || SOCKET_CODES.test(codeOf(error)));
}

function codeOf(error: unknown): string {
  return isObject(error) && typeof error.code === 'string' ? error.code : '';
}

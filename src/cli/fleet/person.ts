import { hostname, userInfo } from 'node:os';
import { oneLine } from '../../core/text/untrusted-text.ts';
import { UsageError } from '../../errors.ts';

const NAME_CHARS = 128;

/** Returns the name under which a person's request is kept, `user@host` unless `--as` gives another. Throws a `UsageError`. */
export function personHere(as?: string): string {
  if (as === undefined) return `${userName()}@${hostname()}`;
  if (as.trim() !== '' && oneLine(as, NAME_CHARS) === as) return as;
  throw new UsageError([
    `--as expects a name of at most ${NAME_CHARS} characters on one line; found '${oneLine(as, NAME_CHARS)}'.`,
  ]);
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // The user of a container may have no entry in the system's list of users.
    return process.env.USER ?? 'unknown';
  }
}

import { hostname } from 'node:os';
import { oneLine } from '../../core/text/untrusted-text.ts';
import { systemUser } from '../../effects/files/home-folder.ts';
import { UsageError } from '../../errors.ts';

const NAME_CHARS = 128;

/** Returns the name stored with a person's request: `--as`, or else `user@host`. Throws a `UsageError`. */
export function personHere(as?: string): string {
  if (as === undefined) return `${systemUser() ?? process.env.USER ?? 'unknown'}@${hostname()}`;
  if (as.trim() !== '' && oneLine(as, NAME_CHARS) === as) return as;
  throw new UsageError([
    `--as expects a name of at most ${NAME_CHARS} characters on one line; found '${oneLine(as, NAME_CHARS)}'.`,
  ]);
}

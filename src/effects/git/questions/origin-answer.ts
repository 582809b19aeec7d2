import { maskSecrets } from '../../../core/secrets/secrets.ts';
import { oneLine } from '../../../core/text/untrusted-text.ts';

/*
 * Reads what git says about an origin. Git has no exit codes for these cases, so its words decide; they are in English,
 * since ralph asks for English. If no pattern matches, the origin counts as away: ralph then tries again, which costs
 * only time.
 */

/** Why nothing was fetched; `why` is a sentence. */
export type FetchTrouble =
  /** There is no repository at the URL, or git may not read it. */
  | { readonly kind: 'no-repository'; readonly why: string }
  | { readonly kind: 'no-ref'; readonly why: string }
  /** The origin was not reached, or did not answer to the end. */
  | { readonly kind: 'away'; readonly why: string };

/** The outcome of a push; `why` is a sentence. */
export type PushEnd =
  | { readonly kind: 'pushed' }
  /** The ref holds another commit than was expected: nothing was written. */
  | { readonly kind: 'moved'; readonly why: string }
  /** A hook or missing permissions refused the push, or git cannot send the commit. Just trying again does not help. */
  | { readonly kind: 'refused'; readonly why: string }
  | { readonly kind: 'away'; readonly why: string };

const NO_REPOSITORY =
  /does not appear to be a git repository|repository '[^']*' not found|repository not found|repository does not exist|project you were looking for could not be found|repository not exported|authentication failed|could not read (?:username|password)|permission denied \(|permission to \S+ denied|not allowed to|returned error: 40[134]|dubious ownership/i;
const NO_REF = /couldn't find remote ref|not our ref|unadvertised object|no such remote ref/i;
/** What git says if the commit to push, or an object in it, is missing or damaged. */
const INCOMPLETE =
  /bad object|does not match any|unable to read|could not parse|missing (?:blob|tree|commit)|object .* is corrupt/i;

/** What git says when it reads an object or a ref that a power cut has left empty. */
const DAMAGED =
  /bad object|is corrupt|object file .* is empty|reference broken|did not send all necessary objects|not a git repository/i;

/** Whether a complaint about a fetch may mean damage in this repository. Git says the same of a damaged origin. */
export function mayBeDamage(complaint: string): boolean {
  return DAMAGED.test(complaint);
}

const LOCKED = /\.lock': File exists/;

/** Whether git says that a lock was in its way. */
export function saysLocked(complaint: string): boolean {
  return LOCKED.test(complaint);
}

/** Whether git says that the origin has ids of SHA-256, and this repository does not. */
export function saysSha256(complaint: string): boolean {
  return /mismatched algorithms: client \w+; server sha256/.test(complaint);
}

/** Returns what git's complaint about a fetch means. `wanted` names the ref that was asked for, such as `main`. */
export function fetchTrouble(complaint: string, url: string, wanted: string): FetchTrouble {
  const shown = shownUrl(url);
  if (NO_REF.test(complaint)) {
    return { kind: 'no-ref', why: `${shown} has no ${shownUrl(wanted)}.` };
  }
  if (NO_REPOSITORY.test(complaint)) {
    const said = saidIn(complaint, NO_REPOSITORY);
    return { kind: 'no-repository', why: `Git cannot read the repository ${shown}: ${said}.` };
  }
  return awayFrom(shown, complaint);
}

/** One line of `git push --porcelain`, for one ref. */
const REF_LINE = /^([ +\-*=!])\t[^\t\n]*\t(.*)$/m;
/** What git says if a ref is not what the push or the origin expected. Only a new listing tells if the push failed. */
const RACED =
  /stale info|failed to update ref|cannot lock ref|already exists|incorrect old value|fetch first|non-fast-forward|needs force/;

/** What GitHub, GitLab and Gitea say if they reject a push only because one of their own services does not work. */
const OUT_OF_ORDER =
  /internal (?:server error|api (?:unreachable|error))|fatal error in commit_refs/i;

/** The outcome of a push, or `raced` if only another look at the origin can tell it: see `RACED`. */
export type ReadPush = PushEnd | { readonly kind: 'raced'; readonly why: string };

/** Returns what git's answer to `push --porcelain` of one ref means. */
export function readPush(output: string, complaint: string, url: string, ref: string): ReadPush {
  const [, flag, summary = ''] = REF_LINE.exec(output) ?? [];
  if (flag !== undefined && flag !== '!') return { kind: 'pushed' };
  const shown = shownUrl(url);
  if (flag === '!' && !/^\[remote failure\]/.test(summary)) {
    const reason = shownUrl(/\((.*)\)$/.exec(summary)?.[1] ?? summary);
    const said = `${complaint}\n${summary}`;
    if (OUT_OF_ORDER.test(said)) {
      return { kind: 'away', why: `${shown} is out of order: ${saidIn(said, OUT_OF_ORDER)}.` };
    }
    if (RACED.test(summary)) return { kind: 'raced', why: `${ref} of ${shown}: ${reason}.` };
    const told = remoteLine(complaint);
    const why = `${shown} refused ${ref}: ${reason}${told === null ? '' : ` (${told})`}.`;
    return { kind: 'refused', why };
  }
  if (NO_REPOSITORY.test(complaint)) {
    return {
      kind: 'refused',
      why: `${shown} refused ${ref}: ${saidIn(complaint, NO_REPOSITORY)}.`,
    };
  }
  if (INCOMPLETE.test(complaint)) {
    const said = saidIn(complaint, INCOMPLETE);
    return { kind: 'refused', why: `Git cannot send ${ref} to ${shown}: ${said}.` };
  }
  return awayFrom(shown, complaint);
}

/** Returns why an origin refused to remove a ref; null if git's output holds no refusal. */
export function refusalIn(output: string): string | null {
  return /^!\t.*\((.*)\)$/m.exec(output)?.[1] ?? null;
}

function awayFrom(shown: string, complaint: string): { kind: 'away'; why: string } {
  return { kind: 'away', why: `${shown} cannot be reached: ${saidIn(complaint, /\S/)}.` };
}

/** Returns a URL, or words with URLs in them, to show to people: on one line, without users, passwords and tokens. */
export function shownUrl(text: string): string {
  // A user name in a URL may be a token, and cannot be recognized as one.
  return oneLine(maskSecrets(text.replace(/:\/\/[^/\s'"]*@/g, '://')), 200);
}

/** Returns the first of git's lines that matches, without git's prefix and full stop. */
function saidIn(complaint: string, pattern: RegExp): string {
  const line = complaint.split('\n').find((each) => pattern.test(each)) ?? '';
  const said = shownUrl(line.replace(/^(?:fatal|error|ssh|remote): /i, '')).replace(/\.$/, '');
  return said === '' ? 'git did not finish' : said;
}

/** Returns what the origin's hook says to people; null if it says nothing. */
function remoteLine(complaint: string): string | null {
  const line = /^remote: +(\S.*)$/m.exec(complaint)?.[1];
  return line === undefined ? null : shownUrl(line);
}

import { plainText } from '../markdown/phrase.ts';
import { maskNonProse, whyMasked } from '../markdown/prose.ts';
import { oneLine } from '../text/untrusted-text.ts';

/** What an agent asks a person to allow. */
export interface ApprovalRequest {
  /** Matches `[a-z0-9-]{1,40}`. */
  readonly id: string;
  /** One line without control characters. */
  readonly what: string;
  /** The request file that the agent wrote to `Pending_Approval`; null if ralph has to write one. */
  readonly file: string | null;
}

/** Lengths are bounded, so that a message full of opening tags is read in linear time. */
const REQUEST =
  /<approval\s+id\s*=\s*(?:"([a-z0-9-]{1,40})"|'([a-z0-9-]{1,40})')\s*>((?:(?!<approval\b)[\s\S]){1,4000}?)<\/approval\s*>/g;
const LONGEST_WHAT = 1_000;

/**
 * Returns the last `<approval id="short-id">what</approval>` of a final message, or null if there is none.
 * Ignores requests in code, in a quote or in a comment, and those with the text of an example: the agent
 * only shows them.
 */
export function readApprovalRequest(
  message: string,
  examples: readonly string[] = [],
): ApprovalRequest | null {
  if (!message.includes('</approval')) return null;
  const text = plainText(message);
  const prose = maskNonProse(text);
  let last: ApprovalRequest | null = null;
  for (const match of text.matchAll(REQUEST)) {
    const [all, double, single, words = ''] = match;
    const isShown = [match.index, match.index + all.length - 1].some((index) =>
      ['in-code', 'in-a-comment', 'in-a-quote'].includes(whyMasked(prose, index) ?? ''),
    );
    const what = oneLine(words, LONGEST_WHAT);
    if (!isShown && what !== '' && !examples.includes(what))
      last = { id: double ?? single ?? '', what, file: null };
  }
  return last;
}

/** Matches a request with an invalid id or without text. Used only if no match of `REQUEST` is valid. */
const MALFORMED = /<approval\b[^<>]{0,200}>[^<]{0,4000}<\/approval\s*>/g;

/** Whether a final message contains a malformed request and no valid one. Ignores what is only shown. */
export function hasMalformedRequest(message: string): boolean {
  if (!message.includes('</approval') || readApprovalRequest(message) !== null) return false;
  const text = plainText(message);
  const prose = maskNonProse(text);
  return [...text.matchAll(MALFORMED)].some(({ index }) => whyMasked(prose, index) === null);
}

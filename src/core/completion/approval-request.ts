import { SHOWN } from '../markdown/non-prose.ts';
import { oneLine } from '../text/untrusted-text.ts';
import { examplesIn, tagsIn } from './own-tags.ts';
import type { PromptText } from './promise.ts';

/** A request in which the agent asks a person to allow something. */
export interface ApprovalRequest {
  /** Matches `[a-z0-9-]{1,40}`. */
  readonly id: string;
  /** One line without control characters. */
  readonly what: string;
  /** The request file that the agent wrote to the folder `Pending_Approval`; null if ralph has to write one. */
  readonly file: string | null;
}

/** Matches a request. Its lengths are bounded, so that a message full of opening tags is read in linear time. */
const REQUEST =
  /<approval\s+id\s*=\s*(?:"([a-z0-9-]{1,40})"|'([a-z0-9-]{1,40})')\s*>((?:(?!<approval\b)[\s\S]){1,4000}?)<\/approval\s*>/g;
const LONGEST_WHAT = 1_000;

/**
 * Returns the last `<approval id="short-id">what</approval>` of a final message; null without one. Requests in code,
 * quotes and HTML comments, and examples from ralph's `own` texts, do not count.
 */
export function readApprovalRequest(
  message: string,
  own: readonly PromptText[] = [],
): ApprovalRequest | null {
  const examples = examplesIn(own, (text) => readApprovalRequest(text)?.what);
  const requests = tagsIn(message, REQUEST, ['in-code', 'in-a-comment', 'in-a-quote']).map(
    ([, double, single, words = '']) => ({
      id: double ?? single ?? '',
      what: oneLine(words, LONGEST_WHAT),
      file: null,
    }),
  );
  return requests.findLast(({ what }) => what !== '' && !examples.includes(what)) ?? null;
}

/** Matches a request with an invalid id or without text. Used only if no match of `REQUEST` is valid. */
const MALFORMED = /<approval\b[^<>]{0,200}>[^<]{0,4000}<\/approval\s*>/g;

/** Whether a final message contains a malformed request and no valid one. Ignores code, quotes and the like. */
export function hasMalformedRequest(message: string): boolean {
  return readApprovalRequest(message) === null && tagsIn(message, MALFORMED, SHOWN).length > 0;
}

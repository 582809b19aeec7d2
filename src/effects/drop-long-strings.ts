import { MOST_CONTAINERS, MOST_LEVELS } from './json-fields.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
/** `[` and `{`, `]` and `}` differ by this one bit, and no other byte of JSON is like them. */
const CURLY = 0x20;
const OPENING = 0x7b;
const CLOSING = 0x7d;

interface DropOptions {
  /** Longer strings are emptied. */
  readonly maxBytes: number;
  /** A member of the outermost object; what stands behind it is left out, unread. */
  readonly lastMember?: string;
}

/**
 * Empties the long strings in a line of JSON and returns the rest as text.
 *
 * A tool's output can make a line of many megabytes of which a few short fields matter. Finding the
 * quotes is enough to leave such strings out before anything is decoded, and what is left still is
 * JSON to be parsed properly. A line that breaks off inside a string gives the empty text; null for one
 * that is nested too deeply, or holds too many lists and objects, to be parsed.
 */
export function dropLongStrings(
  json: Buffer,
  { maxBytes, lastMember }: DropOptions,
): string | null {
  const kept: string[] = [];
  let from = 0;
  let at = 0;
  let depth = 0;
  let containers = 0;
  let isLast = false;
  for (;;) {
    const open = json.indexOf(QUOTE, at);
    const stop = open === -1 ? json.length : open;
    // Between two strings stand few bytes, and no call is as cheap as looking at them.
    for (; at < stop; at += 1) {
      const byte = (json[at] ?? 0) | CURLY;
      if (byte === OPENING) {
        depth += 1;
        containers += 1;
        if (depth > MOST_LEVELS || containers > MOST_CONTAINERS) return null;
      } else if (byte === CLOSING) {
        depth -= 1;
        if (depth === 1 && isLast) {
          kept.push(json.toString('utf8', from, at + 1), '}');
          return kept.join('');
        }
      }
    }
    if (open === -1) break;
    const close = closingQuote(json, open + 1);
    if (close === -1) return '';
    if (depth === 1 && lastMember !== undefined && json[close + 1] === COLON) {
      isLast ||= json.toString('utf8', open + 1, close) === lastMember;
    }
    if (close - open - 1 > maxBytes) {
      kept.push(json.toString('utf8', from, open + 1));
      from = close;
    }
    at = close + 1;
  }
  kept.push(json.toString('utf8', from));
  return kept.join('');
}

function closingQuote(json: Buffer, from: number): number {
  let at = from;
  for (;;) {
    const quote = json.indexOf(QUOTE, at);
    if (quote === -1) return -1;
    let before = quote - 1;
    while (json[before] === BACKSLASH) before -= 1;
    // An odd number of backslashes escapes the quote; an even number escapes only themselves.
    if ((quote - before) % 2 === 1) return quote;
    at = quote + 1;
  }
}

import { MOST_CONTAINERS, MOST_LEVELS } from '../files/json-fields.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
/** With this bit set, `[` becomes `{` and `]` becomes `}`; no other byte of JSON outside strings does. */
const CURLY = 0x20;
const OPENING = 0x7b;
const CLOSING = 0x7d;

interface DropOptions {
  /** Strings longer than this are emptied. */
  readonly maxBytes: number;
  /** Name of a member of the outermost object; everything after its value is dropped. */
  readonly lastMember?: string;
}

/**
 * Empties the long strings in a line of JSON and returns the rest as text.
 *
 * A tool's output can make a line many megabytes long, although only a few short fields matter. This
 * only looks for quotes and drops the long strings before it decodes the rest, which is still JSON.
 * Returns '' for a line that breaks off inside a string, and null for a line that is nested too
 * deeply or has too many lists and objects to be parsed.
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
    // There are only a few bytes between two strings, so a loop is faster than a call.
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

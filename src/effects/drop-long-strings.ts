const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * Empties every string of more than `maxBytes` bytes in a line of JSON and returns the rest as text.
 *
 * A tool's output can make a line of many megabytes of which a few short fields matter. Finding the
 * quotes is enough to leave such strings out before anything is decoded, and what is left still is
 * JSON to be parsed properly. A line that breaks off inside a string gives the empty text.
 */
export function dropLongStrings(json: Buffer, maxBytes: number): string {
  const kept: string[] = [];
  let from = 0;
  let at = 0;
  for (;;) {
    const open = json.indexOf(QUOTE, at);
    if (open === -1) break;
    const close = closingQuote(json, open + 1);
    if (close === -1) return '';
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

/**
 * Whether a new sentence begins behind this text, the part of a line before it: white space after
 * `.` or `!`, with closing quotes, brackets and emphasis between. `?`, `…`, `...` and `:` promise
 * something else; `e.g.`, initials and the number of a list item end nothing.
 */
export function endsSentence(before: string): boolean {
  // Longer words do not matter, and patterns that look for an end need a bound.
  const tail = before.slice(-120);
  if (!/\s$/.test(tail)) return false;
  const said = tail.trimEnd().replace(/["'”’»)\]}*_]+$/, '');
  if (!/[^\s.…?([{][.!]$/.test(said)) return false;
  if (said.endsWith('!')) return true;
  const word = (/\S+$/.exec(said)?.[0] ?? '').slice(0, -1).replace(/^[^\p{L}\p{N}]+/u, '');
  return !isAbbreviation(word) && !isListNumber(said);
}

function isAbbreviation(word: string): boolean {
  // One letter, or letters with dots between: e.g, i.e, a.k.a, the "g" of "e. g."
  return /^\p{L}(?:\.\p{L})*$/u.test(word) || ABBREVIATIONS.has(word.toLowerCase());
}

const ABBREVIATIONS = new Set(
  (
    'al approx ca cf ch dept dr ed eq esp est ex fig figs incl max min mr mrs ms ' +
    'no nos pp prof resp sec st viz vol vs'
  ).split(' '),
);

function isListNumber(said: string): boolean {
  return /^\s*(?:[-*+]\s+)*[*_]*\(?(?:\d+(?:\.\d+)*|[ivxl]+)\.$/i.test(said);
}

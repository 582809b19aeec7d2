import { withoutControls } from '../text/untrusted-text.ts';
import { hasWords, wordSigns } from './words.ts';

/**
 * The promise as literal text: how it is found where white space, line ends and colour codes do not
 * count, and what the text it is looked for in is reduced to first.
 */

/** Private-use characters stand for what has been taken out of a text; none may come from outside. */
export const STAND_INS = { echo: '\uE000', shield: '\uE001', firstMask: 0xe002 };

/** A text without escape sequences and control characters, with LF line ends. */
export function plainText(text: string): string {
  return withoutControls(text).replace(/[\uE000-\uE00F]/g, '\uFFFD');
}

export function foldSpace(text: string): string {
  return text.trim().replace(/\s+/g, ' ');
}

/** Source of a pattern (flag `u`) for the phrase anywhere, also broken across lines. */
export function anywhere(phrase: string): string {
  return foldSpace(phrase)
    .split(' ')
    .map((word) => word.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'))
    .join('\\s+');
}

/**
 * Likewise, but never inside a longer word of `text`, where it is looked for: COMPLETE is not found in
 * INCOMPLETE or COMPLETE_V2.
 */
export function asWords(phrase: string, text: string): string {
  const signs = wordSigns(text);
  const characters = [...phrase];
  const open = hasWords(characters.at(0) ?? '') ? `(?<![${signs}]_{0,3})` : '';
  const close = hasWords(characters.at(-1) ?? '') ? `(?!_{0,3}[${signs}])` : '';
  return `${open}${anywhere(phrase)}${close}`;
}

/** Likewise, with the tags around it. */
function inTags(phrase: string): string {
  return `<promise>\\s*${anywhere(phrase)}\\s*</promise>`;
}

/** A stretch of a text; `to` is the index behind its last character. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** Every place of a pattern, from left to right. */
export function placesOf(text: string, source: string): readonly Span[] {
  const places: Span[] = [];
  for (const match of text.matchAll(new RegExp(source, 'gu'))) {
    places.push({ from: match.index, to: match.index + match[0].length });
  }
  return places;
}

/** A place at which the phrase is named, with its tags or without. */
export interface Mention extends Span {
  readonly tagged: boolean;
}

/** The last place at which a text names the phrase, not inside a longer word; null if it does not. */
export function lastMention(text: string, phrase: string): Mention | null {
  const words = asWords(phrase, text);
  const pattern = new RegExp(`${inTags(phrase)}|${words}`, 'gu');
  let last: Mention | null = null;
  for (let found = pattern.exec(text); found !== null; found = pattern.exec(text)) {
    const tagged = found[0].startsWith('<promise>');
    last = { from: found.index, to: pattern.lastIndex, tagged };
    if (found[0] === '') pattern.lastIndex += 1;
  }
  return last;
}

/** The text with each span replaced; spans may touch and overlap, the one that begins first wins. */
export function replaceSpans<S extends Span>(
  text: string,
  spans: readonly S[],
  replacement: (part: string, span: S) => string,
): string {
  const parts: string[] = [];
  let done = 0;
  for (const span of [...spans].sort((a, b) => a.from - b.from)) {
    if (span.to <= done) continue;
    const from = Math.max(span.from, done);
    parts.push(text.slice(done, from), replacement(text.slice(from, span.to), span));
    done = span.to;
  }
  return parts.join('') + text.slice(done);
}

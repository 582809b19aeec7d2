import { withoutControls } from '../text/untrusted-text.ts';
import { hasWords, WORD_SIGNS } from './words.ts';

/* Finds a phrase, such as the promise (text for "done"), literally but for white space, line ends and colour codes. */

/**
 * Private-use characters of Unicode that ralph puts in place of other text. `plainText` removes those that a message
 * already contains, but not the veil, which ralph sets earlier: it marks a phrase that had invisible characters inside.
 */
export const REPLACEMENT_CHARACTERS = {
  echo: '\uE000',
  shield: '\uE001',
  firstMask: 0xe002,
  veil: '\uE010',
};

/** Removes escape sequences, control characters and `REPLACEMENT_CHARACTERS` but the veil. Line ends become LF. */
export function plainText(text: string): string {
  return withoutControls(text).replace(/[\uE000-\uE00F]/g, '\uFFFD');
}

export function foldSpace(text: string): string {
  return text.trim().replace(/\s+/g, ' ');
}

/** Returns the source of a pattern (flag `u`) that matches the phrase anywhere, even broken across lines. */
export function anywhere(phrase: string): string {
  return foldSpace(phrase)
    .split(' ')
    .map((word) => word.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'))
    .join('\\s+');
}

/** Returns the source of a pattern (flag `u`) for the phrase, but not in a longer word such as INCOMPLETE. */
export function asWords(phrase: string): string {
  const characters = [...phrase];
  const open = hasWords(characters.at(0) ?? '') ? `(?<![${WORD_SIGNS}]_{0,3})` : '';
  const close = hasWords(characters.at(-1) ?? '') ? `(?!_{0,3}[${WORD_SIGNS}])` : '';
  return `${open}${anywhere(phrase)}${close}`;
}

const VEIL = `${REPLACEMENT_CHARACTERS.veil}?`;

/** Returns the source of a pattern (flag `u`) that matches the phrase inside `<promise>` tags. */
function inTags(phrase: string): string {
  return `<promise>\\s*${VEIL}${anywhere(phrase)}\\s*</promise>`;
}

/** A part of a text; `to` is the index after its last character. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** Returns every match of a pattern, from left to right. */
export function spansOf(text: string, source: string): readonly Span[] {
  const places: Span[] = [];
  for (const match of text.matchAll(new RegExp(source, 'gu'))) {
    places.push({ from: match.index, to: match.index + match[0].length });
  }
  return places;
}

/** A place where the phrase appears, with its tags or without. */
export interface Mention extends Span {
  readonly tagged: boolean;
  /** Whether the mention had invisible characters inside before they were removed. */
  readonly veiled: boolean;
}

/** Returns the last mention of the phrase outside a longer word, or null if there is none. */
export function lastMention(text: string, phrase: string): Mention | null {
  const pattern = new RegExp(`${inTags(phrase)}|${VEIL}${asWords(phrase)}`, 'gu');
  const last = [...text.matchAll(pattern)].at(-1);
  if (last === undefined) return null;
  const { 0: found, index: from } = last;
  const tagged = found.startsWith('<promise>');
  const veiled = found.includes(REPLACEMENT_CHARACTERS.veil);
  return { from, to: from + found.length, tagged, veiled };
}

/** Replaces each span of a text. If spans overlap, the one that begins first wins. */
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

import { hasOpenBox } from '../markdown/checkbox.ts';
import type { NonProse } from '../markdown/non-prose.ts';
import type { Mention } from '../markdown/phrase.ts';
import { maskNonProse, whyMasked } from '../markdown/prose.ts';
import { CHEERS, type SentenceEnd, STOPS, sentenceEnd } from '../markdown/sentence.ts';
import { hasWords } from '../markdown/words.ts';
import { type Above, isUnclosed, readAbove } from './line-above.ts';
import { isHedged, takesObject } from './wording.ts';

/** Where and how a phrase appears in a message. */
export type Placement =
  /** Only shown and not stated: in code, a quotation, data. */
  | { readonly kind: 'shown'; readonly why: NonProse }
  /** Alone on its line. */
  | { readonly kind: 'own-line'; readonly isLast: boolean; readonly above: Above }
  /** At the end of its line, after a sentence. */
  | {
      readonly kind: 'closing';
      readonly isLast: boolean;
      readonly behind: Exclude<SentenceEnd, 'none'>;
      /** Whether the sentence is a list item, or may quote a speaker after a colon or in quotation marks. */
      readonly isListed: boolean;
    }
  /** With its tags `<promise>` at the end of the last line, behind a clause, a label, a bullet or a number. */
  | { readonly kind: 'shared-line' }
  /** After a sentence, with more text on its line. */
  | { readonly kind: 'in-between' }
  | { readonly kind: 'in-a-sentence' }
  /** Alone on its line, but decorated: with a bullet, quotes, strike-through, `?`, `…`. */
  | { readonly kind: 'decorated' };

/** How much text before and after a mention is examined, in UTF-16 code units. */
const WINDOW = 4_096;
/** The most characters before or after a phrase that can be decoration. */
const MOST = 40;

const EMPHASIS = '[*_]{0,3}';
const TICKED_BOX = '(?:(?:[-*+]|\\d{1,9}[.)])[^\\S\\n]+\\[[xX]\\][^\\S\\n]+)?';
const CHEER_OR_SPACE = `(?:[^\\S\\n]|${CHEERS})*`;
const BEFORE = new RegExp(
  `^[^\\S\\n]*${TICKED_BOX}${CHEER_OR_SPACE}(${EMPHASIS})${CHEER_OR_SPACE}$`,
  'u',
);
const BEHIND = new RegExp(
  `^(${EMPHASIS})${CHEER_OR_SPACE}([${STOPS}]?)(${EMPHASIS})${CHEER_OR_SPACE}(${EMPHASIS})$`,
  'u',
);
const STOP = new RegExp(`[${STOPS}]$`, 'u');

/** Returns where and how the phrase of a mention appears in a text. */
export function readPlacement(text: string, mention: Mention, phrase: string): Placement {
  const from = Math.max(0, mention.from - WINDOW);
  const lineBreak = text.indexOf('\n', mention.to);
  const lineEnd = lineBreak === -1 ? text.length : lineBreak;
  const to = Math.min(lineEnd, mention.to + WINDOW);
  const masked = maskNonProse(text, from, to);
  const place = { from: mention.from - from, to: mention.to - from };
  const why = whyMasked(masked, place.from) ?? whyMasked(masked, place.to - 1);
  if (why !== null) return { kind: 'shown', why };

  const lineStart = masked.lastIndexOf('\n', place.from - 1) + 1;
  const before = masked.slice(lineStart, place.from);
  const behind = masked.slice(place.to).trimEnd();
  const isLast = !/\S/.test(text.slice(lineEnd));
  const isLong = behind.length > MOST || /\S/.test(text.slice(to, lineEnd));
  const end = isLong ? null : BEHIND.exec(behind);
  const mayStop = mention.tagged || !STOP.test(phrase);
  const isEnd = end !== null && (mayStop || end[2] === '');
  const close = emphasisIn(end);
  const opening = paragraphBefore(masked, place.from);

  const own = before.trim().length > MOST ? null : BEFORE.exec(before.trimStart());
  if (isEnd && own !== null && closesEmphasis(own[1] ?? '', close, opening)) {
    const statement = { bare: !mention.tagged, text: phrase };
    const above = readAbove(masked, text.slice(from, to), lineStart, statement);
    return { kind: 'own-line', isLast, above };
  }
  const open = /[*_]{1,3}$/.exec(before)?.[0] ?? '';
  const sentence = before.slice(0, before.length - open.length);
  const ends = before.trim() === open ? 'none' : sentenceEnd(sentence);
  if (
    isEnd &&
    ends !== 'none' &&
    closesEmphasis(open, close, opening.slice(0, -open.length || undefined))
  ) {
    return { kind: 'closing', isLast, behind: ends, isListed: isListed(before) };
  }
  const signs = isLong ? null : BEHIND.exec(behind.replace(LINE_BREAKS, ''));
  if (
    mention.tagged &&
    isLast &&
    signs !== null &&
    closesEmphasis(open, emphasisIn(signs), opening.slice(0, -open.length || undefined)) &&
    (own !== null || mayLeadTo(sentence))
  ) {
    return { kind: 'shared-line' };
  }
  const isBetween =
    (ends !== 'none' || before.trim() === open) && /^[*_]{0,3}[.!][*_]{0,3}(?=\s|$)/.test(behind);
  const said = before.replace(/^\s*(?:[-*+]|\d{1,9}[.)])\s/, '');
  if (!saysAnything(said) && !saysAnything(behind) && to === lineEnd) return { kind: 'decorated' };
  return { kind: isBetween ? 'in-between' : 'in-a-sentence' };
}

/** Matches a bullet, a number or a timestamp before the sentence, or a colon in it. */
const LISTED =
  /^\s*(?:[-+•‣◦]\s|\*\s|\(?\d{1,9}[.)]\s|\[[^\]\n]*\]\s|\d{1,4}[-:/.]\d)|[:：][*_]*\s|[:：]$/u;

/** Matches HTML line breaks after a statement. */
const LINE_BREAKS = /(?:\s*<br\s*\/?>)+$/i;
/** Matches a text that is only a bullet, a number or a letter of a list. */
const MARKER = /^[\s*_]*(?:[-+•‣◦]|(?:\d{1,9}|\p{L})\.)?[\s*_]*$/u;
/** Matches what must not come right before a statement: a sign of a quotation or of code, `?`, `…`, or removed text. */
const LEADS_ELSEWHERE = /(?:['‹{【`+=\\/~-]|[?？؟…][\s"'”’»)*_]*|\.\.\s*|\uE000\s*)$/u;

/** Whether the text before a statement on its line allows the statement: it denies nothing, and quotes nothing. */
function mayLeadTo(before: string): boolean {
  if (MARKER.test(before)) return /\S[\s*_]+$/.test(before);
  const said = before.trimEnd();
  const isAbbreviated = said !== before && said.endsWith('.') && sentenceEnd(before) === 'none';
  return (
    hasWords(before) &&
    !LEADS_ELSEWHERE.test(before) &&
    !isAbbreviated &&
    !isUnclosed(before) &&
    !hasOpenBox(before) &&
    !isHedged(before) &&
    !takesObject(before)
  );
}

function isListed(before: string): boolean {
  return LISTED.test(before) || isUnclosed(before);
}

/**
 * Whether the emphasis signs match: each sign that closes after the phrase was opened right before the phrase or
 * earlier in the paragraph. The `*` of `COMPLETE*`, which nothing opens, marks a footnote.
 */
function closesEmphasis(open: string, close: string, before: string): boolean {
  const own = [...open].reverse().join('');
  if (!close.startsWith(own)) return false;
  const rest = close.slice(own.length);
  if (rest === '') return true;
  const opened = before.replace(/(?<!\S)[*_]+(?!\S)/g, '').split(rest).length - 1;
  return opened % 2 === 1;
}

function emphasisIn(behind: RegExpExecArray | null): string {
  return `${behind?.[1] ?? ''}${behind?.[3] ?? ''}${behind?.[4] ?? ''}`;
}

function paragraphBefore(masked: string, at: number): string {
  const start = masked.lastIndexOf('\n\n', at);
  return masked.slice(start === -1 ? 0 : start + 2, at);
}

/** Whether a text contains a word. Masked and removed text counts as a word. */
function saysAnything(text: string): boolean {
  const plain = text.replace(/<\/?promise>/g, '');
  return hasWords(plain) || /[\uE000-\uF8FF\u{F0000}-\u{FFFFD}\u{100000}-\u{10FFFD}]/u.test(plain);
}

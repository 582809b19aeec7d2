import { type OwnText, removeEchoes } from './echo.ts';
import { clip } from './material.ts';
import { anywhere, asWords, foldSpace, inTags, placesOf, type Span, STAND_INS } from './phrase.ts';
import { maskNonProse, type NonProse, whyMasked } from './prose.ts';
import { endsSentence } from './sentence.ts';
import { hasWords } from './words.ts';

export type { OwnText } from './echo.ts';

/** `statement`: the promise is stated, tagged or bare. `tag`: tagged only. `contains`: anywhere. */
export type MatchRule = 'statement' | 'tag' | 'contains';

/** What a message says about the promise. `line` is where, as evidence: one line, 200 at most. */
export type PromiseVerdict =
  /** By the rule asked for, the promise is made. */
  | {
      readonly kind: 'stated';
      readonly form: 'tagged' | 'bare' | 'contained';
      readonly line: string;
    }
  /** The promise appears and is not accepted. */
  | { readonly kind: 'near-miss'; readonly line: string; readonly why: NearMissReason }
  /** It may be made: the agent is to be asked. */
  | {
      readonly kind: 'in-doubt';
      readonly line: string;
      readonly where: /** In its tags, alone on a line that is not the last. */
        | 'earlier-line'
        /** Without its tags, as the last sentence. */
        | 'closing-sentence'
        /** What stands before it may not be finished: `I will end with:`, `ggf.`, half a sentence. */
        | 'after-open-sentence';
    }
  /** The promise does not appear, but for echoes of what ralph itself wrote. */
  | { readonly kind: 'absent' };

export type NearMissReason =
  | NonProse
  /** Other words stand on its line. */
  | 'in-a-sentence'
  /** Alone, but with something about it: a bullet, quotes, strike-through, `?`, `…`. */
  | 'decorated'
  /** It would count as the last thing of the message; something follows. */
  | 'not-at-the-end'
  /** Stated without its tags where the rule is `tag`. */
  | 'untagged'
  | 'not-ended-well';

/**
 * Judges the agent's final message by a rule of match, after echoes of `ownTexts` have been taken
 * out. All is literal and case-sensitive; white space is folded, colour codes and CRLF are ignored.
 * It never fails; an empty promise is absent from every message. Source of the rules: the
 * completion rules in docs/completion.md.
 */
export function judgePromise(
  message: string,
  promise: string,
  rule: MatchRule,
  ownTexts: readonly OwnText[],
): PromiseVerdict {
  const phrase = untagged(promise);
  if (phrase === '') return { kind: 'absent' };
  const text = removeEchoes(message, ownTexts, phrase);
  const first = new RegExp(anywhere(phrase), 'u').exec(text);
  if (first === null) return { kind: 'absent' };
  if (rule === 'contains') {
    const place = { from: first.index, to: first.index + first[0].length };
    return { kind: 'stated', form: 'contained', line: lineOf(text, place) };
  }
  return judgeStatement(text, phrase, rule);
}

/** Whether the message states the phrase, tagged or bare, as the rule `statement` has it. */
export function statesPhrase(
  message: string,
  phrase: string,
  ownTexts: readonly OwnText[],
): boolean {
  const { kind } = judgePromise(message, phrase, 'statement', ownTexts);
  return kind === 'stated' || kind === 'in-doubt';
}

/** The promise itself: `<promise>X</promise>`, as given with its tags, is taken without them. */
export function untagged(promise: string): string {
  const inner = /^\s*<promise>([\s\S]*)<\/promise>\s*$/.exec(promise)?.[1];
  return foldSpace(inner ?? promise);
}

function judgeStatement(text: string, promise: string, rule: 'statement' | 'tag'): PromiseVerdict {
  // A promise that itself looks like Markdown must be read as a word, or it could not be stated.
  const phrase = shield(promise);
  const prose = maskNonProse(
    phrase === promise ? text : text.replace(new RegExp(anywhere(promise), 'gu'), shield),
  );
  const own = findOwnLine(prose, inTags(phrase));
  const isEarly = own !== null && prose.slice(own.to).trim() !== '';
  const tagged = (isEarly ? null : own) ?? findAtEnd(prose, inTags(phrase), true);
  if (tagged !== null) return { kind: 'stated', form: 'tagged', line: lineOf(text, tagged) };
  if (own !== null) return { kind: 'in-doubt', line: lineOf(text, own), where: 'earlier-line' };
  const bare = findAtEnd(prose, anywhere(phrase), !/[.!?…]$/.test(phrase));
  if (bare !== null) {
    const line = lineOf(text, bare);
    const before = prose.slice(prose.lastIndexOf('\n', bare.from - 1) + 1, bare.from);
    if (rule === 'statement' && before.trim() !== '') {
      return { kind: 'in-doubt', line, where: 'closing-sentence' };
    }
    return rule === 'statement'
      ? { kind: 'stated', form: 'bare', line }
      : { kind: 'near-miss', line, why: 'untagged' };
  }
  const tags = placesOf(text, inTags(promise)).at(-1);
  const missed = tags ?? placesOf(text, asWords(promise, text)).at(-1);
  if (missed === undefined) return { kind: 'absent' };
  const why = whyNot(prose, missed, tags !== undefined);
  return { kind: 'near-miss', line: lineOf(text, missed), why };
}

function shield(promise: string): string {
  return promise.replace(/[`~#>|<=[]/g, STAND_INS.shield);
}

const TICKED_BOX = '(?:(?:[-*+]|\\d{1,9}[.)])[^\\S\\n]+\\[[xX]\\][^\\S\\n]+)?';

/** On a line of its own: emphasis, a ticked box before it and one `.` or `!` behind it aside. */
function findOwnLine(prose: string, source: string): Span | null {
  const line = `^[^\\S\\n]*${TICKED_BOX}([*_]{0,3})${source}([*_]{0,3})[.!]?([*_]{0,3})[^\\S\\n]*$`;
  for (const match of prose.matchAll(new RegExp(line, 'gmu'))) {
    const [all, open = '', close = '', closeBehind = ''] = match;
    if (close + closeBehind === mirrored(open)) {
      return { from: match.index, to: match.index + all.length };
    }
  }
  return null;
}

/** As the last line or the closing sentence of the message. */
function findAtEnd(prose: string, source: string, mayAddStop: boolean): Span | null {
  const stop = mayAddStop ? '[.!]?' : '';
  const end = `([*_]{0,3})${source}([*_]{0,3})${stop}([*_]{0,3})\\s*$`;
  const match = new RegExp(end, 'u').exec(prose);
  if (match === null) return null;
  const [all, open = '', close = '', closeBehind = ''] = match;
  const { index } = match;
  const before = prose.slice(prose.lastIndexOf('\n', index - 1) + 1, index);
  if (before.trim() !== '' && !endsSentence(before)) return null;
  const paragraph = prose.slice(prose.lastIndexOf('\n\n', index) + 1, index);
  if (!closesEmphasis(open, close + closeBehind, paragraph)) return null;
  return { from: index, to: index + all.trimEnd().length };
}

/** What was opened is closed, here or in the paragraph before. `COMPLETE*` has a footnote. */
function closesEmphasis(open: string, close: string, before: string): boolean {
  const own = mirrored(open);
  if (!close.startsWith(own)) return false;
  const rest = close.slice(own.length);
  if (rest === '') return true;
  const opened = before.replace(/(?<!\S)[*_]+(?!\S)/g, '').split(rest).length - 1;
  return opened % 2 === 1;
}

function mirrored(emphasis: string): string {
  return [...emphasis].reverse().join('');
}

function whyNot(prose: string, { from, to }: Span, tagged: boolean): NearMissReason {
  const masked = whyMasked(prose, from) ?? whyMasked(prose, to - 1);
  if (masked !== null) return masked;
  const lineEnd = prose.indexOf('\n', to);
  const before = prose.slice(prose.lastIndexOf('\n', from - 1) + 1, from);
  const behind = prose.slice(to, lineEnd === -1 ? prose.length : lineEnd);
  const stop = /^[*_]{0,3}(?:[.!][*_]{0,3}(?=\s|$)|(?=\s*$))/.exec(behind);
  const isEarly =
    stop !== null &&
    prose.slice(to + stop[0].length).trim() !== '' &&
    (/^\s*[*_]{0,3}$/.test(before) || endsSentence(before.replace(/[*_]{1,3}$/, '')));
  if (saysAnything(before.replace(/^\s*(?:[-*+]|\d{1,9}[.)])\s/, '')) || saysAnything(behind)) {
    return isEarly ? 'not-at-the-end' : 'in-a-sentence';
  }
  return isEarly && !tagged ? 'not-at-the-end' : 'decorated';
}

/** What was masked or taken out counts as a word. */
function saysAnything(text: string): boolean {
  const plain = text.replace(/<\/?promise>/g, '');
  return hasWords(plain) || /[\uE000-\uF8FF\u{F0000}-\u{FFFFD}\u{100000}-\u{10FFFD}]/u.test(plain);
}

const LONGEST_LINE = 200;

/** The line of a place as evidence, cut around it where it is long. */
function lineOf(text: string, { from, to }: Span): string {
  const start = Math.max(text.lastIndexOf('\n', from - 1) + 1, from - 60);
  const lineEnd = text.indexOf('\n', to);
  const end = Math.min(lineEnd === -1 ? text.length : lineEnd, start + 2 * LONGEST_LINE);
  // The cut may fall into a character of two code units.
  const line = text.slice(start, end).replace(/^[\udc00-\udfff]/, '');
  return clip(foldSpace(line).replaceAll(STAND_INS.echo, '…'), LONGEST_LINE);
}

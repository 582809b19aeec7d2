import {
  anywhere,
  asWords,
  placesOf,
  plainText,
  replaceSpans,
  type Span,
  STAND_INS,
} from '../markdown/phrase.ts';
import { hasWords } from '../markdown/words.ts';

/**
 * A text that ralph itself put into the prompt, so that an echo of it is no statement.
 *
 * - `sentence-wise` (the reminder, the protocol note): taken out as a whole, by its lines and
 *   sentences that hold the phrase, and by the two words before or behind the phrase. Keep the
 *   phrase inside a sentence of such a text: a line that is nothing but the phrase cannot be told
 *   from a statement of it.
 * - `whole` (a block of earlier output between its markers): taken out only as a whole, since the
 *   agent may truthfully say again what stands in it. Give the text with its markers.
 */
export interface OwnText {
  readonly kind: 'sentence-wise' | 'whole';
  readonly text: string;
}

/**
 * The message as plain text, with every echo of ralph's own texts that could hold the phrase
 * replaced by one character that is neither space nor punctuation: what is left must not become a
 * line or a sentence of its own by the removal. It never fails. Source of the rule: the completion
 * rules in docs/completion.md.
 */
export function removeEchoes(
  message: string,
  ownTexts: readonly OwnText[],
  phrase: string,
): string {
  const text = plainText(message);
  const holds = new RegExp(anywhere(phrase), 'u');
  if (phrase.trim() === '' || !holds.test(text)) return text;
  const own = ownTexts
    .map(({ kind, text: raw }) => ({ kind, text: plainText(raw) }))
    .filter((one) => holds.test(one.text));
  const sentenceWise = own.filter(({ kind }) => kind === 'sentence-wise').map((one) => one.text);
  const units = [
    ...own.map((one) => one.text.trim()),
    ...sentenceWise.flatMap((one) => linesAndSentences(one, phrase)),
  ].filter((unit) => saysMore(unit, phrase));
  const spans = [...findUnits(text, units), ...findByNeighbours(text, sentenceWise, phrase)];
  return replaceSpans(text, spans, () => STAND_INS.echo);
}

/** A unit that is nothing but the phrase is left alone: otherwise nobody could ever state it. */
function saysMore(unit: string, phrase: string): boolean {
  const rest = unit.replace(new RegExp(anywhere(phrase), 'gu'), ' ').replace(/<\/?promise>/g, ' ');
  return hasWords(rest);
}

function linesAndSentences(own: string, phrase: string): string[] {
  const sentenceEnds = placesOf(own, `[.!?…]["'”’)\\]*_]*\\s+`).map(({ to }) => to);
  const units = placesOf(own, anywhere(phrase)).flatMap(({ from, to }) => {
    const lineEnd = own.indexOf('\n', to);
    return [
      own.slice(own.lastIndexOf('\n', from) + 1, lineEnd === -1 ? own.length : lineEnd),
      own.slice(
        sentenceEnds.findLast((end) => end <= from) ?? 0,
        sentenceEnds.find((end) => end >= to) ?? own.length,
      ),
    ];
  });
  // An agent that repeats a sentence often leaves its bullet and its full stop out.
  return units.map((unit) => unit.replace(/^[\s>*+-]+|[\s.!?…]+$/g, ''));
}

function findUnits(text: string, units: readonly string[]): Span[] {
  const folded = fold(text);
  return [...new Set(units)].flatMap((unit) => {
    const { codes } = fold(unit);
    return search(folded.codes, codes).map((start) => ({
      from: folded.origins[start] ?? 0,
      to: (folded.origins[start + codes.length - 1] ?? 0) + 1,
    }));
  });
}

/** A text with its white space and its quote marks folded, and where each character came from. */
interface Folded {
  readonly codes: Uint16Array;
  readonly origins: Int32Array;
}

function fold(text: string): Folded {
  // Echoed as a Markdown quote, each line begins with `>`.
  const source = text.replace(/^(?:[^\S\n]*>)+/gm, (marks) => ' '.repeat(marks.length));
  const codes = new Uint16Array(source.length);
  const origins = new Int32Array(source.length);
  let length = 0;
  let spaceBefore = false;
  for (let index = 0; index < source.length; index += 1) {
    const code = source.charCodeAt(index);
    if (isSpace(code)) {
      spaceBefore = length > 0;
      continue;
    }
    if (spaceBefore) {
      codes[length] = SPACE;
      origins[length] = index - 1;
      length += 1;
      spaceBefore = false;
    }
    codes[length] = code;
    origins[length] = index;
    length += 1;
  }
  return { codes: codes.subarray(0, length), origins: origins.subarray(0, length) };
}

const SPACE = 32;

function isSpace(code: number): boolean {
  if (code < 0x80) return code === SPACE || (code >= 9 && code <= 13);
  return /\s/.test(String.fromCharCode(code));
}

/**
 * Where the pattern begins, without overlaps. By Knuth, Morris and Pratt, because `indexOf` is
 * quadratic where a long block of one character meets a long message of the same one.
 */
function search(text: Uint16Array, pattern: Uint16Array): number[] {
  if (pattern.length === 0 || pattern.length > text.length) return [];
  const borders = new Int32Array(pattern.length);
  for (let index = 1, length = 0; index < pattern.length; index += 1) {
    while (length > 0 && pattern[index] !== pattern[length]) length = borders[length - 1] ?? 0;
    if (pattern[index] === pattern[length]) length += 1;
    borders[index] = length;
  }
  const found: number[] = [];
  for (let index = 0, length = 0; index < text.length; index += 1) {
    while (length > 0 && text[index] !== pattern[length]) length = borders[length - 1] ?? 0;
    if (text[index] === pattern[length]) length += 1;
    if (length === pattern.length) {
      found.push(index - length + 1);
      length = 0;
    }
  }
  return found;
}

/** The phrase where the two words before or behind it are those of an own text: half an echo. */
function findByNeighbours(text: string, own: readonly string[], phrase: string): Span[] {
  const placesIn = (one: string): readonly Span[] =>
    placesOf(one, `(?:<promise>\\s*)?${asWords(phrase, one)}(?:\\s*</promise>)?`);
  const before = new Set<string>();
  const behind = new Set<string>();
  for (const one of own) {
    for (const { from, to } of placesIn(one)) {
      const [near, far] = neighbours(one, from - 1, -1);
      if (near !== undefined) before.add(pair(near, far));
      const [next, afterNext] = neighbours(one, to, 1);
      if (next !== undefined) behind.add(pair(next, afterNext));
    }
  }
  const isKnown = (known: Set<string>, [near, far]: readonly string[]): boolean =>
    near !== undefined && (known.has(pair(near, far)) || known.has(pair(near, undefined)));
  if (before.size + behind.size === 0) return [];
  return placesIn(text).filter(
    ({ from, to }) =>
      isKnown(before, neighbours(text, from - 1, -1)) || isKnown(behind, neighbours(text, to, 1)),
  );
}

function pair(near: string, far: string | undefined): string {
  return `${near} ${far ?? ''}`;
}

const LONGEST_GAP = 12;
const LONGEST_WORD = 60;
const STOPS = new Set([...'.!?…\n'].map((stop) => stop.charCodeAt(0)));

/**
 * Up to two words outward from an index, the nearest first. Nothing where a line or a sentence ends
 * before the first one: there the phrase stands by itself.
 */
function neighbours(text: string, start: number, step: 1 | -1): readonly string[] {
  const words: string[] = [];
  let at = start;
  while (words.length < 2) {
    const limit = at + step * LONGEST_GAP;
    while (at !== limit && at >= 0 && at < text.length && !isWordAt(text, at)) {
      if (words.length === 0 && STOPS.has(text.charCodeAt(at))) return words;
      at += step;
    }
    const first = at;
    while (Math.abs(at - first) < LONGEST_WORD && isWordAt(text, at)) at += step;
    if (at === first) return words;
    words.push(step === 1 ? text.slice(first, at) : text.slice(at + 1, first + 1));
  }
  return words;
}

function isWordAt(text: string, index: number): boolean {
  const code = text.charCodeAt(index);
  if (code < 0x80) {
    return (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57);
  }
  const isSurrogate = code >= 0xd800 && code <= 0xdfff;
  return !isSurrogate && hasWords(String.fromCharCode(code));
}

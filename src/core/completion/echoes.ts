import {
  anywhere,
  asWords,
  plainText,
  REPLACEMENT_CHARACTERS,
  replaceSpans,
  type Span,
  spansOf,
} from '../markdown/phrase.ts';
import { hasWords } from '../markdown/words.ts';

/**
 * A text that ralph put into the prompt. An echo (repetition) of it does not state the phrase that ralph looks for.
 *
 * - `sentence-wise` (ralph's own sentences): an echo is the whole text, a line or sentence of it with the
 *   phrase, or the phrase with the same two words before or after it. Such a text must have the phrase inside a
 *   sentence, since an echo of a line with only the phrase would look like a statement.
 * - `whole` (a block of earlier output between its markers): only the whole text with its markers is an echo,
 *   since the agent may truthfully repeat a part of it.
 */
export interface PromptText {
  readonly kind: 'sentence-wise' | 'whole';
  readonly text: string;
}

/**
 * Returns the message as plain text without echoes: passages that repeat one of ralph's own texts and contain
 * the phrase. Each echo becomes one character that is neither space nor punctuation; otherwise the text beside
 * it could look like a line or sentence of its own. Never throws. The rules are in docs/completion.md.
 */
export function removeEchoes(
  message: string,
  ownTexts: readonly PromptText[],
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
  return replaceSpans(text, spans, () => REPLACEMENT_CHARACTERS.echo);
}

/** Whether a text says more than the phrase. If not, it is no echo: every statement of the phrase would repeat it. */
function saysMore(unit: string, phrase: string): boolean {
  const rest = unit.replace(new RegExp(anywhere(phrase), 'gu'), ' ').replace(/<\/?promise>/g, ' ');
  return hasWords(rest);
}

function linesAndSentences(own: string, phrase: string): string[] {
  const sentenceEnds = spansOf(own, `[.!?…]["'”’)\\]*_]*\\s+`).map(({ to }) => to);
  const units = spansOf(own, anywhere(phrase)).flatMap(({ from, to }) => {
    const lineEnd = own.indexOf('\n', to);
    return [
      own.slice(own.lastIndexOf('\n', from) + 1, lineEnd === -1 ? own.length : lineEnd),
      own.slice(
        sentenceEnds.findLast((end) => end <= from) ?? 0,
        sentenceEnds.find((end) => end >= to) ?? own.length,
      ),
    ];
  });
  // An agent that repeats a sentence often leaves out its bullet and its full stop.
  return units.map((unit) => unit.replace(/^[\s>*+-]+|[\s.!?…]+$/g, ''));
}

function findUnits(text: string, units: readonly string[]): Span[] {
  const { folded, origins } = fold(text);
  return [...new Set(units)].flatMap((unit) => {
    const wanted = fold(unit).folded;
    return search(folded, wanted).map((start) => ({
      from: origins[start] ?? 0,
      to: (origins[start + wanted.length - 1] ?? 0) + 1,
    }));
  });
}

/** Returns a text with white space and Markdown quote marks folded, and the original index of each character. */
function fold(text: string): { readonly folded: string; readonly origins: readonly number[] } {
  // The agent may echo a text as a Markdown quote, in which each line begins with `>`.
  const source = text.replace(/^(?:[^\S\n]*>)+/gm, (marks) => ' '.repeat(marks.length));
  const words: string[] = [];
  const origins: number[] = [];
  for (const { 0: word, index } of source.matchAll(/\S+/g)) {
    if (words.length > 0) origins.push(index - 1);
    for (let at = 0; at < word.length; at += 1) origins.push(index + at);
    words.push(word);
  }
  return { folded: words.join(' '), origins };
}

/**
 * Returns every index at which the pattern begins, without overlaps. Uses Knuth-Morris-Pratt, because
 * `indexOf` is quadratic if a long pattern and a long message repeat the same character.
 */
function search(text: string, pattern: string): number[] {
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

/** Finds partial echoes: the phrase with the same two words before it or after it as in one of ralph's own texts. */
function findByNeighbours(text: string, own: readonly string[], phrase: string): Span[] {
  const placesIn = (one: string): readonly Span[] =>
    spansOf(one, `(?:<promise>\\s*)?${asWords(phrase)}(?:\\s*</promise>)?`);
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
 * Returns up to two words before or after an index, the nearest first. Returns none if a line or a sentence ends
 * between the index and the first word, since the phrase then stands alone.
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
  return hasWords(text.charAt(index));
}

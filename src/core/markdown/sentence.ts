import { hasWords } from './words.ts';

/**
 * Whether a sentence ends where a given part of a line ends. `possible`: the short word before the full stop can be an
 * abbreviation (`ggf.`). Its shape decides, since no list has the abbreviations of all languages.
 */
export type SentenceEnd = 'certain' | 'possible' | 'none';

/** Cheerful emoji and check marks, which do not weaken a statement: `✅ COMPLETE`, `All pass. 🎉 COMPLETE`. */
export const CHEERS =
  '(?:[✅✔✓☑🗸🎉🎊🚀🏁🥳👍👌👏🙌💪🙏💯✨⭐🌟🏆🥇🎯🌈🔥💚🟢❤😀😁😃😄😊🙂😎🤗🤝🎈🪄🍾🦾][\\uFE0E\\uFE0F\\u{1F3FB}-\\u{1F3FF}]?)';

/** The full stops and exclamation marks that end a sentence. */
export const STOPS = '.!。！．｡।॥۔։።။។';
/** Matches a text that ends with a full stop after which no space is needed. */
const WIDE_STOP = /[^…？?（(「『][。！．｡।॥۔։።။។]$/u;
const CLOSERS = /["'”’»›)\]}」』）】》*_]+$/;
const GAP = new RegExp(`(?:\\s|${CHEERS})*$`, 'u');
const HAS_CHEER = new RegExp(CHEERS, 'u');
/** How much of a line is read, in UTF-16 code units. Without a bound, patterns that search for an end are slow. */
const LONGEST = 240;

export function sentenceEnd(before: string): SentenceEnd {
  const tail = before.slice(-LONGEST);
  const gap = GAP.exec(tail)?.[0] ?? '';
  const said = tail.slice(0, tail.length - gap.length).replace(CLOSERS, '');
  if (WIDE_STOP.test(said)) return 'certain';
  if (gap === '') return 'none';
  // French has a space before the `!`.
  if (/[^\s.…?([{]\s?!$/.test(said) && !/[?…]\s?!$/.test(said)) return 'certain';
  if (!/[^\s.…?!([{,;:]\.$/.test(said)) return 'none';
  return endOfWord(said.slice(0, -1), before.length > LONGEST);
}

/** Whether the text ends with a cheerful emoji or a check mark. */
export function endsInCheer(text: string): boolean {
  return HAS_CHEER.test(GAP.exec(text.slice(-LONGEST))?.[0] ?? '');
}

/** Decides whether a full stop after `said` ends a sentence. */
function endOfWord(said: string, isCut: boolean): SentenceEnd {
  const words = said.split(/\s+/);
  const word = (words.at(-1) ?? '').replace(/^["'“‘«‹„([*_]+/u, '');
  const wordBefore = words.at(-2) ?? '';
  const isFirst = !isCut && !words.slice(0, -1).some((each) => hasWords(each));
  if (/^\d+(?:[.,]\d+)*$/.test(word)) {
    return isFirst || /(?:^|\s)\(?\d{1,3}[.)]\s/.test(said) ? 'none' : 'possible';
  }
  // Abbreviations without their last full stop: `e.g`, `i.e`, `a.k.a`; in the next line `c.-à-d`, `p.ex`.
  if (/^\p{L}(?:\.\p{L})+$/u.test(word)) return 'none';
  if (/^(?:\p{L}{1,3}\.-?)+\p{L}{1,3}(?:-\p{L}{1,3})?$/u.test(word)) return 'possible';
  if (!/^[\p{L}\p{M}]+$/u.test(word))
    return hasStrangeStart(words.at(-1) ?? '') ? 'possible' : 'certain';
  const letters = [...word].length;
  if (isFirst && (letters === 1 || /^[ivxl]+$/.test(word))) return 'none';
  // A unit can end a sentence (`3.2 s.`), and so can an answer (`Any failing? No.`).
  if (letters <= 3 && /^[~≈<>]?\d+(?:[.,]\d+)*$/.test(wordBefore)) return 'certain';
  if (letters <= 3 && letters > 1 && /[?？]["'”’»)*_]*$/.test(wordBefore)) return 'certain';
  if (letters === 1) return endOfLetter(word, wordBefore, said);
  const isShort = letters <= 3 && !(/^\p{Lu}+$/u.test(word) && !isOpening(wordBefore));
  const mayBeCut = letters <= 6 && /[,;(–—-]$/.test(wordBefore);
  const hasNoVowel = letters <= 5 && /^[b-df-hj-np-tv-xz]+$/.test(word);
  // Abbreviations such as `inkl`, `evtl`, `bijv` and `напр` end as hardly any full word does.
  const isClipped = letters <= 6 && /(?:[bcdfgkptvxz][lrř]|[sj][bv]|[бвгдзкптфх][лр])$/u.test(word);
  const isBracketed = hasStrangeStart(words.at(-1) ?? '') && letters <= 6;
  return isShort || mayBeCut || hasNoVowel || isClipped || isBracketed ? 'possible' : 'certain';
}

/** As `endOfWord`, for one letter: `plan B.` ends a sentence; `e. g.` and the `C.` of `A. tests B. docs C.` do not. */
function endOfLetter(letter: string, wordBefore: string, said: string): SentenceEnd {
  if (/^\(?\p{L}\.$/u.test(wordBefore)) return 'none';
  const isName = /^\p{Lu}$/u.test(letter) && /^[\p{L}\p{M}]{2,}$/u.test(wordBefore);
  return isName && !/(?:^|\s)\(?\p{Lu}[.)]\s/u.test(said) ? 'certain' : 'possible';
}

/** Whether the word begins with an opening bracket that it does not close. */
function hasStrangeStart(word: string): boolean {
  return /^["'“«*_]*[([{]/.test(word) && !/[)\]}]/.test(word);
}

/** Whether the next word after `word` begins a sentence. */
function isOpening(word: string): boolean {
  return word === '' || /[.!?:…]["'”’»)*_]*$/.test(word);
}

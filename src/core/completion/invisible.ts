import { anywhere, foldSpace, REPLACEMENT_CHARACTERS } from '../markdown/phrase.ts';
import { withoutEscapes } from '../text/untrusted-text.ts';

/*
 * Finds mentions of the promise (the text for "done") with invisible characters inside. A model that only quotes the
 * promise may insert them so that the words do not count, while a person still reads the promise.
 */

/** Unicode's invisible characters, and controls. None of them is in `SPACE`, since the patterns would be slow then. */
const INVISIBLE = '[\\p{Default_Ignorable_Code_Point}\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f]';
const SPACE = '[^\\S\\ufeff\\x0b\\x0c]';
const ONE = new RegExp(INVISIBLE, 'u');
const EACH = new RegExp(INVISIBLE, 'gu');

/** Returns the text without its invisible characters. */
export function visible(text: string): string {
  return ONE.test(text) ? text.replace(EACH, '') : text;
}

/**
 * Removes invisible characters from all mentions of the promise, and sets `REPLACEMENT_CHARACTERS.veil` before each
 * mention whose invisible characters are not in the promise itself. Also removes colour codes, but marks none.
 */
export function markVeiled(message: string, promise: string): string {
  if (!ONE.test(message)) return message;
  const gap = `(?:${SPACE}|${INVISIBLE})*`;
  const words = `(${anywhere(promise)})|(${anywhereSpread(visible(promise))})`;
  const mention = new RegExp(
    `(${spread('<promise>')}${gap})?(?:${words})(${gap}${spread('</promise>')})?`,
    'gu',
  );
  return withoutEscapes(message)
    .replaceAll(REPLACEMENT_CHARACTERS.veil, '\uFFFD')
    .replace(mention, (_, open = '', exact = '', loose = '', close = '') => {
      // The given promise may itself have invisible characters: in emoji, or between Persian letters.
      const veil = ONE.test(open + loose + close) ? REPLACEMENT_CHARACTERS.veil : '';
      return `${visible(open)}${veil}${visible(exact + loose)}${visible(close)}`;
    });
}

/** Returns the source of a pattern that matches the phrase even with invisible characters inside. */
function anywhereSpread(phrase: string): string {
  return foldSpace(phrase).split(' ').map(spread).join(`(?:${INVISIBLE}*${SPACE})+${INVISIBLE}*`);
}

function spread(word: string): string {
  return [...word].map((sign) => sign.replace(/[\\^$.*+?()[\]{}|/]/, '\\$&')).join(`${INVISIBLE}*`);
}

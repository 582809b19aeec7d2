import { foldSpace } from '../markdown/phrase.ts';
import { whyMasked } from '../markdown/prose.ts';
import { CHEERS, endsInCheer, sentenceEnd } from '../markdown/sentence.ts';
import { hasWords } from '../markdown/words.ts';

/**
 * How what stands above a line ends, the line being the statement.
 *
 * - `closed`: nothing goes on in the line below.
 * - `unstopped`: no full stop, right above, but not like the upper half of a sentence either: a few
 *   words (`All tests pass`), or more than a line holds.
 * - `open`: it may go on below, and make the statement a part of itself: an announcement (`I will
 *   end with:`), a question, a wrapped sentence, a list of states, a dialogue.
 */
export type Above = 'closed' | 'unstopped' | 'open';

/** More words than these without a full stop may be the upper half of a wrapped sentence. */
const FEW_WORDS = 3;
/** What is longer than this was not wrapped: some wrap at 120 columns. */
const LONGEST_WRAPPED = 120;
/** A colon, a comma, an arrow, an opening bracket or tag: what is announced comes below. */
const ANNOUNCES =
  /(?:[:：,，、;；؛،(（[{«„“‘「『→⇒⟶➜➡⬇⤵⇩↓▼▶►➤🔽👇👉`=]\uFE0F?|[-=>]>|[-–—]|\s[/+|&\\]|&&|\|\||<(?!(?:br|hr|img)\b)[a-z][^<>]*>)$/iu;
const SAYS_NO = /[❌🚫⛔✗✘⏳🚧🔴]/u;
/** How Markdown breaks a line. */
const HARD_BREAK = /(?:(?<=\S)\\|<br\s*\/?>)$/i;
/** All of a line: `[quote]`, `{noformat}`, `{% if done %}`. */
const OPENING_MARK = /^\s*(?:\[\w+\]|\{\w+\}|\{%.*%\})$/;
const CLOSERS = new RegExp(`(?:[\\s"'”’»)\\]}」』）】*_~]|${CHEERS})+$`, 'u');
const LABEL = /^[\s*_-]*\p{L}[\p{L}\p{N} _-]{0,24}[*_]*[:：][*_]*\s/u;

/**
 * Reads what stands above the line that begins at `lineStart`. `masked` is the text with all masked
 * that is not prose, `original` the same part as it stands in the message.
 */
export function readAbove(
  masked: string,
  original: string,
  lineStart: number,
  statement: { readonly bare: boolean; readonly text: string },
): Above {
  const above = masked.slice(0, lineStart).trimEnd();
  if (above === '') return 'closed';
  const isRightAbove = !/\n[^\S\n]*\n/.test(masked.slice(above.length, lineStart));
  const from = above.lastIndexOf('\n') + 1;
  const line = above.slice(from).replace(HARD_BREAK, '');
  const why = whyMasked(line, line.length - 1);
  const shown = original.slice(from, above.length);
  // What may end below it is only what talks: a heading, a command.
  if (why === 'in-a-transcript') return 'open';
  if (why === 'in-a-heading')
    return ANNOUNCES.test(shown.replace(/[\s*_#=]+$/, '')) ? 'open' : 'closed';
  if (why === 'in-an-unticked-box' && isRightAbove) return 'open';
  if (why !== null && why !== 'in-code') return 'closed';
  if (why === 'in-code' && whyMasked(line, line.search(/\S/)) === 'in-code') return 'closed';
  // Another tagged statement: another promise right above is one of those to choose from.
  if (/<\/promise>[\s*_.!]*$/.test(line)) {
    const isSame =
      line.includes(statement.text) && !hasWords(line.slice(0, line.indexOf('<promise>')));
    return isRightAbove && !isSame ? 'open' : 'closed';
  }
  // A rule.
  if (/^\s*(?:-{2,}|\*{3,}|_{3,})$/.test(line)) return 'closed';
  const said = line.replace(CLOSERS, '');
  if (ANNOUNCES.test(said) || ANNOUNCES.test(line)) return 'open';
  if (isDialogue(above, isRightAbove) || (isRightAbove && isUnclosed(line))) return 'open';
  if (isIndentedBelow(line, isRightAbove, masked, lineStart)) return 'open';
  if (isRightAbove && (OPENING_MARK.test(line) || SAYS_NO.test(line))) return 'open';
  if (/^\s*(?:[-*+•]|\d{1,9}[.)])$/.test(line)) return 'open';
  // What was taken out, an echo, ends where it ended.
  if (line.endsWith('\uE000') || line.endsWith('\uE000.')) return 'closed';
  if (endsInCheer(line) || sentenceEnd(`${line} `) !== 'none') return 'closed';
  const isAsking = /(?:[?？…]|\.\.)["'”’»)\]}*_]*$/.test(line);
  if (isAsking && isRightAbove) return 'open';
  const isState = statement.bare && isShouted(said) && isShouted(statement.text);
  if (isState) return 'open';
  if (!isRightAbove) return statement.bare && endsInStates(above) ? 'open' : 'closed';
  if (isDeeper(line, masked, lineStart)) return 'open';
  const mayBeWrapped = countWords(said) > FEW_WORDS && foldSpace(line).length <= LONGEST_WRAPPED;
  return mayBeWrapped ? 'open' : 'unstopped';
}

/** Two lines of so few words, one after the other, may be states, the promise the last of them. */
const STATE_WORDS = 2;

function endsInStates(above: string): boolean {
  const lines = above
    .slice(-500)
    .split(/\s*\n\s*/)
    .slice(-2);
  return (
    lines.length === 2 &&
    lines.every((line) => /\p{L}[*_]*$/u.test(line) && countWords(line) <= STATE_WORDS)
  );
}

/** As names of states are written: `IN PROGRESS`. */
function isShouted(text: string): boolean {
  return text === text.toUpperCase() && /\p{L}/u.test(text);
}

/** Scripts without blanks between the words have two signs to a word, about. */
function countWords(text: string): number {
  const wide = text.match(/[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff]/gu)?.length ?? 0;
  const rest = text.replace(/[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff]/gu, ' ');
  return Math.ceil(wide / 3) + (rest.match(/\S*[\p{L}\p{N}\uE000-\uE00F]\S*/gu)?.length ?? 0);
}

/** Two lines, or two paragraphs, that begin with a name and a colon: somebody's words are told. */
function isDialogue(above: string, isRightAbove: boolean): boolean {
  const paragraphs = above.slice(-2_000).split(/\n(?:[^\S\n]*\n)+/);
  const last = paragraphs.at(-1) ?? '';
  if (isRightAbove) return last.split('\n').filter((line) => LABEL.test(line)).length > 1;
  const isTurn = (text: string): boolean => LABEL.test(text) && !text.includes('\n');
  return isTurn(last) && LABEL.test(paragraphs.at(-2) ?? '');
}

/** Indented below a list item, or what belongs to one; below a line of a diff, or a key and its value. */
function isIndentedBelow(
  line: string,
  isRightAbove: boolean,
  masked: string,
  lineStart: number,
): boolean {
  const indent = indentOf(masked.slice(lineStart));
  // The context of a diff, a blank before it.
  if (isRightAbove && indent > 0 && /^(?:[+-]\S|\+{3} )/.test(line)) return true;
  if (indent < 2) return false;
  if (isRightAbove && LABEL.test(line) && isDeeper(line, masked, lineStart)) return true;
  return /^(?:\s{2,}|\s*(?:[-*+•]|\d{1,9}[.)]|\.\.)\s)/.test(line);
}

function isDeeper(line: string, masked: string, lineStart: number): boolean {
  return indentOf(masked.slice(lineStart)) >= indentOf(line) + 2;
}

function indentOf(text: string): number {
  return /^[^\S\n]*/.exec(text)?.[0].replaceAll('\t', '    ').length ?? 0;
}

/** Whether a quotation or a bracket of a line is still open at its end. */
export function isUnclosed(line: string): boolean {
  return /[“„«「『（([][^”“»」』）)\]]*$/u.test(line) || line.split('"').length % 2 === 0;
}

import { foldSpace } from '../markdown/phrase.ts';
import { whyMasked } from '../markdown/prose.ts';
import { CHEERS, endsInCheer, sentenceEnd } from '../markdown/sentence.ts';
import { hasWords } from '../markdown/words.ts';
import { isListMarked, lastItem, titleOfList } from './list-above.ts';
import {
  isHedged,
  isOnWriting,
  namesWhatIsToDo,
  pointsBelow,
  saysNo,
  takesObject,
} from './wording.ts';

/**
 * How the text above a statement ends.
 *
 * - `closed`: it does not continue in the statement's line.
 * - `unstopped`: the line directly above has no full stop, but does not look like the first half of a
 *   wrapped sentence either: it has few words (`All tests pass`), or is too long to have been wrapped.
 * - `unfinished`: a paragraph ends without a full stop, even if a blank line follows; or the text points at
 *   the text below it, or is a list of things to do.
 * - `open`: the statement's line may continue it: an announcement (`I will end with:`), a question, a
 *   wrapped sentence, a list of states such as TODO and DONE, a dialogue.
 */
export type Above = 'closed' | 'unstopped' | 'unfinished' | 'open';

/** More words than this can be a sentence. Otherwise they are a label or a line of a log. */
const FEW_WORDS = 2;
/** More words than this without a full stop may be the first half of a wrapped sentence. */
const FEW_WRAPPED = 3;
/** In characters. A longer line is not the first half of a wrapped sentence: agents wrap at 120 columns at most. */
const LONGEST_WRAPPED = 120;
/** Matches an end of a line that announces the next line: a colon, a comma, an arrow, an opening bracket or tag. */
const ANNOUNCES =
  /(?:[:：,，、;；؛،(（[{«„“‘「『→⇒⟶➜➡⬇⤵⇩↓▼▶►➤🔽👇👉`=]\uFE0F?|[-=>]>|[-–—]|\s[/+|&\\]|&&|\|\||<(?!(?:br|hr|img)\b)[a-z][^<>]*>)$/iu;
const HARD_BREAK = /(?:(?<=\S)\\|<(?:br|hr|img)\b[^<>]*>)$/i;
/** Matches a line that consists only of an opening mark: `[quote]`, `{noformat}`, `{% if done %}`. */
const OPENING_MARK = /^\s*(?:\[\w+\]|\{\w+\}|\{%.*%\})$/;
const CLOSERS = new RegExp(`(?:[\\s"'”’»)\\]}」』）】*_~]|${CHEERS})+$`, 'u');
const LABEL = /^[\s*_-]*\p{L}[\p{L}\p{N} _-]{0,24}[*_]*[:：][*_]*\s/u;

/**
 * Returns how the text above the line at `lineStart` ends. `masked` is a part of the message in which everything that
 * is not prose is masked; `original` is the same part without masks.
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
  // Of the masked kinds of text, only transcripts, headings, unticked boxes and code can continue in the next line.
  if (why === 'in-a-transcript') return 'open';
  if (why === 'in-a-heading')
    return ANNOUNCES.test(shown.replace(/[\s*_#=]+$/, '')) ? 'open' : 'closed';
  if (why === 'in-an-unticked-box') return isRightAbove ? 'open' : 'unfinished';
  if (why !== null && why !== 'in-code') return 'closed';
  if (why === 'in-code' && whyMasked(line, line.search(/\S/)) === 'in-code') return 'closed';
  // The line above states a promise (words for "done"), too. If it is another one, the two lines are a list of choices.
  if (/<\/promise>[\s*_.!]*$/.test(line)) {
    const isSame =
      line.includes(statement.text) && !hasWords(line.slice(0, line.indexOf('<promise>')));
    return isRightAbove && !isSame ? 'open' : 'closed';
  }
  // The line is a horizontal rule.
  if (/^\s*(?:-{2,}|\*{3,}|_{3,})$/.test(line)) return 'closed';
  const said = line.replace(CLOSERS, '');
  if (ANNOUNCES.test(said) || ANNOUNCES.test(line)) return 'open';
  if (isDialogue(above, isRightAbove) || (isRightAbove && isUnclosed(line))) return 'open';
  if (isIndentedBelow(line, isRightAbove, masked, lineStart)) return 'open';
  if (isRightAbove && (OPENING_MARK.test(line) || saysNo(line))) return 'open';
  if (/^\s*(?:[-*+•]|\d{1,9}[.)])$/.test(line)) return 'open';
  // The line ends with a removed repetition of the prompt, which does not continue below.
  if (line.endsWith('\uE000') || line.endsWith('\uE000.')) return 'closed';
  if (endsInCheer(line)) return 'closed';
  const item = lastItem(above);
  if (item !== null && isToDo(item, original.slice(0, above.length))) return 'unfinished';
  // If the line ends in code, its end is masked and has to be read from the original.
  const ended = why === 'in-code' ? shown : line;
  if (sentenceEnd(`${ended} `) !== 'none') return pointsBelow(line) ? 'unfinished' : 'closed';
  const isAsking = /(?:[?？…]|\.\.)["'”’»)\]}*_]*$/.test(line);
  if (isAsking && isRightAbove) return 'open';
  const isState = statement.bare && isShouted(said) && isShouted(statement.text);
  if (isState) return 'open';
  const isElement = /<\/[a-z][^<>]*>$/i.test(line);
  if (!isRightAbove && (item !== null || isElement)) return 'closed';
  const isFew = countWords(lastOf(above, said)) <= FEW_WORDS && !isHalf(line);
  if (!isRightAbove) {
    if (statement.bare && endsInStates(above)) return 'open';
    return isFew ? 'closed' : 'unfinished';
  }
  if (isDeeper(line, masked, lineStart)) return 'open';
  if (isFew) return 'unstopped';
  const mayBeWrapped = countWords(said) > FEW_WRAPPED && foldSpace(line).length <= LONGEST_WRAPPED;
  return mayBeWrapped ? 'open' : 'unfinished';
}

/** Whether a list item is still to be done: it asks to write something, or the list's title says so. */
function isToDo(item: string, above: string): boolean {
  if (/^\[[xX]\]/.test(item)) return false;
  const [first = '', second = ''] = item.split(/\s+/, 2);
  const isAsking = pointsBelow(item) || isOnWriting(`${first} ${second}`);
  return isAsking || namesWhatIsToDo(titleOfList(above));
}

/** Whether a few words are half a sentence: they deny something, or lead to the text below. */
function isHalf(line: string): boolean {
  return isHedged(line) || isOnWriting(line) || takesObject(line);
}

/** Returns the last line of a paragraph, together with the line above if that looks like an unfinished sentence. */
function lastOf(above: string, said: string): string {
  const before = above.slice(0, above.lastIndexOf('\n') + 1).trimEnd();
  const isGap = /\n[^\S\n]*\n[^\n]*$/.test(above);
  const line = before.slice(before.lastIndexOf('\n') + 1);
  const goesOn = !isGap && !isListMarked(line) && countWords(line) > FEW_WORDS && !isEnded(line);
  return goesOn ? `${line} ${said}` : said;
}

function isEnded(line: string): boolean {
  return endsInCheer(line) || sentenceEnd(`${line} `) !== 'none';
}

/** Two lines in a row with at most this many words each can be a list of states whose last one is the promise. */
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

/** Whether a text is in capital letters, like the name of a state: `IN PROGRESS`. */
function isShouted(text: string): boolean {
  return text === text.toUpperCase() && /\p{L}/u.test(text);
}

/** Counts words. In scripts without spaces between words, three characters count as one word. */
function countWords(text: string): number {
  const wide = text.match(/[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff]/gu)?.length ?? 0;
  const rest = text.replace(/[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff]/gu, ' ');
  return Math.ceil(wide / 3) + (rest.match(/\S*[\p{L}\p{N}\uE000-\uE00F]\S*/gu)?.length ?? 0);
}

/** Whether two lines or two paragraphs begin with a name and a colon, like the turns of a dialogue. */
function isDialogue(above: string, isRightAbove: boolean): boolean {
  const paragraphs = above.slice(-2_000).split(/\n(?:[^\S\n]*\n)+/);
  const last = paragraphs.at(-1) ?? '';
  if (isRightAbove) return last.split('\n').filter((line) => LABEL.test(line)).length > 1;
  const isTurn = (text: string): boolean => LABEL.test(text) && !text.includes('\n');
  return isTurn(last) && LABEL.test(paragraphs.at(-2) ?? '');
}

/** Whether the statement is indented so that it belongs to a list item, a diff, or a key and its value. */
function isIndentedBelow(
  line: string,
  isRightAbove: boolean,
  masked: string,
  lineStart: number,
): boolean {
  const indent = indentOf(masked.slice(lineStart));
  // A context line of a diff begins with a space.
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

/** Whether a quotation or a bracket is still open at the end of the line. */
export function isUnclosed(line: string): boolean {
  return /[“„«「『（([][^”“»」』）)\]]*$/u.test(line) || line.split('"').length % 2 === 0;
}

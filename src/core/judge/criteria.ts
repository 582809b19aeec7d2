import { headingAt } from '../markdown/heading.ts';
import { shownLines } from '../markdown/hidden-lines.ts';

/** A condition that the work tree has to meet if a claim that the task is complete is to be accepted. */
export interface Criterion {
  /** `c1`, `c2`, … in order. */
  readonly id: string;
  readonly text: string;
}

const ONLY_CRITERION = 'Everything that the task asks for is there and works.';

/** Returns the criteria with their ids. */
export function criteriaOf(texts: readonly string[]): readonly Criterion[] {
  const given = texts.length === 0 ? [ONLY_CRITERION] : texts;
  return given.map((text, at) => ({ id: `c${at + 1}`, text }));
}

/** Matches the bullet or number of a list item, together with its checkbox if there is one. */
const ITEM = /^\s*(?:[-*+]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?/;
/** Matches a horizontal rule, the underline of a heading, and a code fence that is never closed. */
const RULE = /^ {0,3}(?:=+|-{2,}|\*{3,}|_{3,}|[`~]{3,}.*)\s*$/;

/**
 * Reads criteria from a text: one for each list item, or one for each line if there is no list. Headings, blank lines,
 * code fences and HTML comments do not count. An indented line below an item belongs to the item.
 */
export function readCriteria(text: string): readonly string[] {
  const lines = proseLines(text.replace(/^\ufeff/, '').replace(/\r\n?/g, '\n'));
  const hasList = lines.some((line) => ITEM.test(line));
  const found: string[] = [];
  let isInItem = false;
  for (const line of lines) {
    const isItem = ITEM.test(line);
    const words = (isItem ? line.replace(ITEM, '') : line).replace(/\s+/g, ' ').trim();
    if (words === '') {
      isInItem = false;
    } else if (!hasList || isItem) {
      found.push(words);
      isInItem = isItem;
    } else if (isInItem && /^\s/.test(line)) {
      found[found.length - 1] += ` ${words}`;
    } else {
      isInItem = false;
    }
  }
  return found;
}

/** Returns the lines of a text outside of code fences and HTML comments. Headings and horizontal rules become blank. */
function proseLines(text: string): readonly string[] {
  const lines = text.replace(/<!--[\s\S]*?-->/g, '').split('\n');
  return [...shownLines(lines)].map(({ at }) => {
    const line = lines[at] ?? '';
    return headingAt(lines, at) !== null || RULE.test(line) ? '' : line;
  });
}

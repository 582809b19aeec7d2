import { sentenceEnd } from '../markdown/sentence.ts';

/*
 * Reads the list that ends a text, if one does.
 */

const MARK = /^\s*(?:[-*+•‣◦]|\(?\d{1,9}[.)])\s+/;
const INDENTED = /^\s{2,}\S/;

/** Whether a line begins a list item. */
export function isListMarked(line: string): boolean {
  return MARK.test(line);
}

/** Returns what the last item of the list that ends the text says, or null if no list ends it. */
export function lastItem(text: string): string | null {
  const lines = text.split('\n');
  const start = lines.findLastIndex((line) => /\S/.test(line) && !isFurther(line));
  const first = lines[start] ?? '';
  const mark = MARK.exec(first)?.[0];
  return mark === undefined
    ? null
    : [first.slice(mark.length), ...lines.slice(start + 1)].join('\n');
}

/** Returns the heading, or the line without a full stop, above the list that ends the text; or nothing. */
export function titleOfList(text: string): string {
  const isInList = (line: string) => isListMarked(line) || isFurther(line);
  const title = text.split('\n').findLast((line) => /\S/.test(line) && !isInList(line)) ?? '';
  return /^\s*#/.test(title) || sentenceEnd(`${title} `) === 'none' ? title : '';
}

/** Whether a line is indented like one that goes on with an item. */
function isFurther(line: string): boolean {
  return INDENTED.test(line) && !isListMarked(line);
}

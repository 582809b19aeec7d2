import { sentenceEnd } from '../markdown/sentence.ts';

const MARK = /^\s*(?:[-*+•‣◦]|\(?\d{1,9}[.)])\s+/;
const INDENTED = /^\s{2,}\S/;

/** Whether a line begins a list item. */
export function isListMarked(line: string): boolean {
  return MARK.test(line);
}

/** Returns the text of the last list item if the text ends with a list, otherwise null. */
export function lastItem(text: string): string | null {
  const lines = text.split('\n');
  const start = lines.findLastIndex((line) => /\S/.test(line) && !isFurther(line));
  const first = lines[start] ?? '';
  const mark = MARK.exec(first)?.[0];
  return mark === undefined
    ? null
    : [first.slice(mark.length), ...lines.slice(start + 1)].join('\n');
}

/** Returns the title of the list at the end of the text: the line above it if that is a heading or no full sentence. */
export function titleOfList(text: string): string {
  const isInList = (line: string) => isListMarked(line) || isFurther(line);
  const title = text.split('\n').findLast((line) => /\S/.test(line) && !isInList(line)) ?? '';
  return /^\s*#/.test(title) || sentenceEnd(`${title} `) === 'none' ? title : '';
}

/** Whether a line is indented like a further line of a list item. */
function isFurther(line: string): boolean {
  return INDENTED.test(line) && !isListMarked(line);
}

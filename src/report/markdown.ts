import { withoutControls } from '../core/material.ts';

/*
 * Texts of others in Markdown. Whatever they hold, it neither acts on a terminal that shows the file
 * nor leaves its place in it.
 */

/** A fence longer than any run of backticks in the text, so that nothing in it can close it. */
export function fenced(text: string, language = 'text'): string {
  const plain = withoutControls(text);
  const fence = '`'.repeat(Math.max(2, longestRun(plain)) + 1);
  return `${fence}${language}\n${plain.replace(/\n+$/, '')}\n${fence}`;
}

/** Text as it stands, in a line: delimiters longer than any run of backticks in it. */
export function codeSpan(text: string): string {
  const plain = withoutControls(text);
  const delimiter = '`'.repeat(longestRun(plain) + 1);
  const space = plain.startsWith('`') || plain.endsWith('`') ? ' ' : '';
  return `${delimiter}${space}${plain.replace(/\s+/g, ' ')}${space}${delimiter}`;
}

/** How many backticks stand together at most. There may be more runs than a call takes arguments. */
function longestRun(text: string): number {
  let longest = 0;
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  return longest;
}

/** A table cell: nothing in it may start another cell, a link or a tag. */
export function cell(text: string): string {
  return inline(text.slice(0, 80)).replaceAll('|', '\\|');
}

/** Text in a line of prose, with nothing in it that Markdown would act on. */
export function inline(text: string): string {
  return withoutControls(text)
    .replace(/\s+/g, ' ')
    .replace(/[\\`*_[\]<>#]/g, '\\$&');
}

import { withoutControls } from '../../core/text/untrusted-text.ts';

/*
 * Untrusted text in Markdown. It can neither control a terminal that shows the file nor break out of
 * its place in it.
 */

/** A fenced block. Its fence is longer than any run of backticks in the text, so nothing closes it early. */
export function fenced(text: string, language = 'text'): string {
  const plain = withoutControls(text);
  const fence = '`'.repeat(Math.max(2, longestRun(plain)) + 1);
  return `${fence}${language}\n${plain.replace(/\n+$/, '')}\n${fence}`;
}

/** Literal text within a line. The delimiters are longer than any run of backticks in it. */
export function codeSpan(text: string): string {
  const plain = withoutControls(text);
  const delimiter = '`'.repeat(longestRun(plain) + 1);
  const space = plain.startsWith('`') || plain.endsWith('`') ? ' ' : '';
  return `${delimiter}${space}${plain.replace(/\s+/g, ' ')}${space}${delimiter}`;
}

/** The length of the longest run of backticks. Not `Math.max(...)`: too many arguments overflow the stack. */
function longestRun(text: string): number {
  let longest = 0;
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  return longest;
}

/** A table cell. Nothing in the text can start another cell, a link or a tag. */
export function cell(text: string): string {
  return inline(text.slice(0, 80)).replaceAll('|', '\\|');
}

/** Text within a line, with all Markdown syntax escaped. */
export function inline(text: string): string {
  return withoutControls(text)
    .replace(/\s+/g, ' ')
    .replace(/[\\`*_[\]<>#]/g, '\\$&');
}

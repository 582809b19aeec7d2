import { safeJson } from '../../core/text/safe-json.ts';
import { withoutControls } from '../../core/text/untrusted-text.ts';

/*
 * These functions put untrusted text into Markdown. The text can then neither control a terminal that shows the file
 * nor break out of its block, span or cell.
 */

/** Returns YAML front matter with these fields; every JSON string is a valid YAML string. */
export function frontMatter(fields: Readonly<Record<string, string | number>>): string {
  const lines = Object.entries(fields).map(([key, value]) => `${key}: ${safeJson(value)}`);
  return `---\n${lines.join('\n')}\n---`;
}

/** Returns the sections about refused hosts and new files in the sandbox, each with its lines as a list. */
export function sandboxSections(
  refused: readonly string[],
  planted: readonly string[],
): readonly string[] {
  const files = 'New files that other programs may run\n\nRead them before anything runs them.';
  return [
    ...(refused.length === 0 ? [] : [`## The sandbox refused\n\n${listed(refused)}`]),
    ...(planted.length === 0 ? [] : [`## ${files}\n\n${listed(planted)}`]),
  ];
}

/** Returns a list with an item for each line. */
export function listed(lines: readonly string[]): string {
  return lines.map((line) => `- ${line}`).join('\n');
}

/** Returns a fenced block. Its fence is longer than any run of backticks in the text, which cannot close it. */
export function fenced(text: string, language = 'text'): string {
  const plain = withoutControls(text);
  const fence = '`'.repeat(Math.max(2, longestRun(plain)) + 1);
  return `${fence}${language}\n${plain.replace(/\n+$/, '')}\n${fence}`;
}

/** Returns a text as inline code. The delimiters are longer than any run of backticks in the text. */
export function codeSpan(text: string): string {
  const plain = withoutControls(text);
  const delimiter = '`'.repeat(longestRun(plain) + 1);
  const space = plain.startsWith('`') || plain.endsWith('`') ? ' ' : '';
  return `${delimiter}${space}${plain.replace(/\s+/g, ' ')}${space}${delimiter}`;
}

/** Returns the length of the longest run of backticks. `Math.max` of all lengths could overflow the stack. */
function longestRun(text: string): number {
  let longest = 0;
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  return longest;
}

/** Returns a table cell with at most 80 characters of a text. The text cannot start another cell, a link or a tag. */
export function cell(text: string): string {
  return inlineText(text.slice(0, 80)).replaceAll('|', '\\|');
}

/** Returns a text on one line, with all Markdown syntax escaped. */
export function inlineText(text: string): string {
  return withoutControls(text)
    .replace(/\s+/g, ' ')
    .replace(/[\\`*_[\]<>#]/g, '\\$&');
}

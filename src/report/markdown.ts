/** A fence longer than any run of backticks in the text, so that nothing in it can close it. */
export function fenced(text: string, language = 'text'): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text.replace(/\n+$/, '')}\n${fence}`;
}

/** Text as it stands, in a line: delimiters longer than any run of backticks in it. */
export function codeSpan(text: string): string {
  const longest = Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const delimiter = '`'.repeat(longest + 1);
  const space = text.startsWith('`') || text.endsWith('`') ? ' ' : '';
  return `${delimiter}${space}${text.replace(/\s+/g, ' ')}${space}${delimiter}`;
}

/** A table cell: nothing in it may start another cell, a link or a tag. */
export function cell(text: string): string {
  return inline(text.slice(0, 80)).replaceAll('|', '\\|');
}

/** Text in a line of prose, with nothing in it that Markdown would act on. */
export function inline(text: string): string {
  return text.replace(/\s+/g, ' ').replace(/[\\`*_[\]<>#]/g, '\\$&');
}

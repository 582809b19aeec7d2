/** A heading of a Markdown text. */
export interface Heading {
  /** From 1 to 6. */
  readonly level: number;
  /** The words of the heading in the form that `headingName` returns. */
  readonly name: string;
}

/** Matches the `#` marks before a heading's words; there may be more `#` after the words. */
const MARKED = /^ {0,3}(#{1,6})(?=[ \t]|$)/;
const UNDERLINE = /^ {0,3}(?:(=+)|-+)[ \t]*$/;
/** Matches a line that is no heading even if it is underlined: a blank line, code, a quote, a list item, a table. */
const NO_TEXT = /^(?: {4}|\t|\s*$|\s*(?:[>#|]|[-*+]\s|\d{1,9}[.)]\s|[-=]+\s*$))/;

/** Returns the heading that begins at line `at`, marked by `#` or underlined; null if there is none. */
export function headingAt(lines: readonly string[], at: number): Heading | null {
  const line = lines[at] ?? '';
  const [lead = '', marks] = MARKED.exec(line) ?? [];
  if (marks !== undefined) {
    const name = line.slice(lead.length).trim();
    return { level: marks.length, name: headingName(name.replace(/(?:^|[ \t])#+$/, '')) };
  }
  if (NO_TEXT.test(line)) return null;
  const [under, double] = UNDERLINE.exec(lines[at + 1] ?? '') ?? [];
  if (under === undefined) return null;
  return { level: double === undefined ? 2 : 1, name: headingName(line) };
}

/** Returns a heading's words for comparison: in lower case, without emphasis, a box in front or a colon at the end. */
export function headingName(text: string): string {
  return text
    .replace(/^\s*\[[^\]]?\]\s+/, '')
    .replace(/[*_`]+/g, '')
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/:$/, '')
    .trimEnd()
    .toLowerCase();
}

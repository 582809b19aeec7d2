/** What may precede a box: quote signs, list markers of any kind, emphasis. */
const LEAD = String.raw`[\s>]*(?:(?:[-*+•‣◦▪·–—]|\(?(?:\d{1,9}|[A-Za-z])[.)])\s*)*[*_~]{0,3}`;
const BLANK_BOX = String.raw`\[[^\S\n]+\](?![([])|[☐⬜🔲◻□]`;
/** `[/]`, `[-]`, but not letters and digits (`[1]`, `[a]`). */
const SIGNED_BOX = String.raw`\[[^\p{L}\p{N}\s\]]\](?=\s|$)`;

/**
 * A line that begins with an open box in any spelling: `[ ]`, `[  ]` or `☐`, also without a space after it;
 * `[/]` and other signs only with a space after it. `[ ](a link)` and `[]` are not boxes.
 */
export const OPEN_BOX_LINE = new RegExp(`^${LEAD}(?:${BLANK_BOX}|${SIGNED_BOX})`, 'u');

/** A blank box anywhere in a line: in a heading, in a cell of a table. */
export const BLANK_BOX_ANYWHERE = new RegExp(BLANK_BOX, 'u');

const SIGNED_BOX_ANYWHERE = new RegExp(SIGNED_BOX, 'mu');

/** Whether a text has an open box anywhere. */
export function hasOpenBox(text: string): boolean {
  if (BLANK_BOX_ANYWHERE.test(text)) return true;
  return (
    SIGNED_BOX_ANYWHERE.test(text) && text.split('\n').some((line) => OPEN_BOX_LINE.test(line))
  );
}

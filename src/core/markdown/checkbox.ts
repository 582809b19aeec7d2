const QUOTES = String.raw`[\s>]*`;
const LIST_MARK = String.raw`(?:[-*+•‣◦▪·–—]|\(?(?:\d{1,9}|[A-Za-z])[.)])\s*`;
const EMPHASIS = '[*_~]{0,3}';
/** Matches what can precede a checkbox: quote signs, list marks of any kind, emphasis. */
const LEAD = `${QUOTES}(?:${LIST_MARK})*${EMPHASIS}`;
const BLANK_BOX = String.raw`\[[^\S\n]+\](?![([])|[☐⬜🔲◻□]`;
/** Matches a box with a sign in it, such as `[/]` or `[-]`. `[1]` and `[a]` are not boxes. */
const SIGNED_BOX = String.raw`\[[^\p{L}\p{N}\s\]]\](?=\s|$)`;

/**
 * Matches a line that begins with an open box: `[ ]`, `[  ]` or `☐`; also `[/]` or a box with another sign if a
 * space follows. `[ ](a link)` and `[]` are not boxes.
 */
export const OPEN_BOX_LINE = new RegExp(`^${LEAD}(?:${BLANK_BOX}|${SIGNED_BOX})`, 'u');

/**
 * Matches a line that begins with a list mark, `[]` and text. In a plan `[]` is an open box, but in a message it may
 * be code. `- [](a link)` and `- [][a link]` do not match.
 */
export const EMPTY_BOX_LINE = new RegExp(
  String.raw`^${QUOTES}(?:${LIST_MARK})+${EMPHASIS}\[\][^\S\n]+\S`,
  'u',
);

/** Matches a blank box anywhere in a line, such as in a heading or in a cell of a table. */
export const BLANK_BOX_ANYWHERE = new RegExp(BLANK_BOX, 'u');

const SIGNED_BOX_ANYWHERE = new RegExp(SIGNED_BOX, 'mu');

/** Whether a text has an open box anywhere. */
export function hasOpenBox(text: string): boolean {
  if (BLANK_BOX_ANYWHERE.test(text)) return true;
  return (
    SIGNED_BOX_ANYWHERE.test(text) && text.split('\n').some((line) => OPEN_BOX_LINE.test(line))
  );
}

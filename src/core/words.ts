/*
 * Letters and digits of every script. Their class takes a pattern most of a millisecond to build, so a
 * text of ASCII alone is looked at with a plain one.
 */

/** The letters and digits that may stand in a text, as the inside of a class (flag `u`). */
export function wordSigns(text: string): string {
  return isAscii(text) ? 'A-Za-z0-9' : '\\p{L}\\p{N}';
}

/** Whether a text has a letter or a digit. */
export function hasWords(text: string): boolean {
  return /[A-Za-z0-9]/.test(text) || (!isAscii(text) && /[\p{L}\p{N}]/u.test(text));
}

function isAscii(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are of ASCII too
  return !/[^\u0000-\u007f]/.test(text);
}

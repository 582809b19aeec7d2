/*
 * Letters and digits of every script. Building their Unicode class takes most of a millisecond, so
 * pure ASCII text uses a plain class.
 */

/** Returns the letters and digits that a text may contain, as the inside of a class (flag `u`). */
export function wordSigns(text: string): string {
  return isAscii(text) ? 'A-Za-z0-9' : '\\p{L}\\p{N}';
}

/** Whether a text contains a letter or a digit. */
export function hasWords(text: string): boolean {
  return /[A-Za-z0-9]/.test(text) || (!isAscii(text) && /[\p{L}\p{N}]/u.test(text));
}

function isAscii(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are ASCII too
  return !/[^\u0000-\u007f]/.test(text);
}

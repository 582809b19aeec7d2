/** The letters and digits of all scripts, for use inside a character class (flag `u`). */
export const WORD_SIGNS = '\\p{L}\\p{N}';

/** Whether a text contains a letter or a digit. */
export function hasWords(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text);
}

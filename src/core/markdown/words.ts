/** The letters and digits of every script, as the inside of a class (flag `u`). */
export const WORD_SIGNS = '\\p{L}\\p{N}';

/** Whether a text contains a letter or a digit. */
export function hasWords(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text);
}

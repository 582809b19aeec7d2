const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\p{Emoji_Presentation}]/u;
const WITHOUT_WIDTH = /[\p{Mn}\p{Me}\p{Cf}]/u;

/** How many columns of a terminal a text takes, nearly: some terminals disagree about emoji. */
export function columnsOf(text: string): number {
  let columns = 0;
  for (const character of text) columns += widthOf(character);
  return columns;
}

/** Cut to so many columns, with an ellipsis where something was cut off. */
export function fitted(text: string, columns: number): string {
  if (columnsOf(text) <= columns) return text;
  let kept = '';
  let used = 1;
  for (const character of text) {
    used += widthOf(character);
    if (used > columns) break;
    kept += character;
  }
  return `${kept}…`;
}

/** Filled up with spaces to so many columns. */
export function padded(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - columnsOf(text)));
}

function widthOf(character: string): number {
  if (WITHOUT_WIDTH.test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
}

import { stripVTControlCharacters } from 'node:util';
import { atCommand } from '../printed-command.ts';

const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{16fe0}-\u{18aff}\u{1b000}-\u{1b2ff}\u{20000}-\u{3fffd}\p{Emoji_Presentation}]/u;
/** This sign turns the character before it into an emoji, which is two columns wide. */
const EMOJI_STYLE = '\ufe0f';
const WITHOUT_WIDTH = /[\p{Mn}\p{Me}\p{Cf}]/u;

/** Returns how many terminal columns a text takes. Terminals disagree about emoji: the widest form is assumed. */
export function columnsOf(text: string): number {
  let columns = 0;
  for (const character of stripVTControlCharacters(text)) columns += widthOf(character);
  return columns;
}

/** Cuts a text to at most `columns` terminal columns. A cut text ends with an ellipsis. */
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

/** Pads a text with spaces to `columns` terminal columns. */
export function padded(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - columnsOf(text)));
}

/** Returns the rows as lines whose columns are aligned and two spaces apart, each cell on one line. */
export function aligned(rows: readonly (readonly string[])[]): readonly string[] {
  const lines = rows.map((cells) => cells.map((cell) => cell.replace(/\s+/g, ' ')));
  const widths = (lines[0] ?? []).map((_, column) =>
    Math.max(...lines.map((cells) => columnsOf(cells[column] ?? ''))),
  );
  return lines.map((cells) =>
    cells
      .map((cell, column) => padded(cell, widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

/** Longer lines are hard to read. */
const WIDEST_PROSE = 100;

/** Wraps lines at spaces to `columns`, and to 100 at most. A command at the end stays whole, so it can be copied. */
export function wrappedProse(text: string, columns: number): readonly string[] {
  return text.split('\n').flatMap((line) => {
    const [before, command] = atCommand(line) ?? [line, ''];
    const lines = wrapped(before.trimEnd(), Math.min(columns, WIDEST_PROSE));
    return command === '' ? lines : [...lines.slice(0, -1), `${lines.at(-1)} ${command}`];
  });
}

/** Wraps a text at spaces to `columns` terminal columns. A longer word stays whole: it may be a path. */
export function wrapped(text: string, columns: number): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const line = lines.at(-1);
    if (line !== undefined && columnsOf(line) + 1 + columnsOf(word) <= columns) {
      lines[lines.length - 1] = `${line} ${word}`;
    } else lines.push(word);
  }
  return lines;
}

function widthOf(character: string): number {
  if (character === EMOJI_STYLE) return 1;
  if (WITHOUT_WIDTH.test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
}

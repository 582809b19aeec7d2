import { columnsOf } from '../../src/report/columns.ts';

interface Row {
  /** What stands in each column; empty behind a wide sign. */
  cells: string[];
  /** The next row goes on with the same line. */
  isFolded: boolean;
}

/** A terminal as far as a test needs one: what a person would see after all that was written. */
export interface VirtualTerminal {
  write(text: string): void;
  /** Folds lines anew, as terminals do. */
  resize(columns: number): void;
  /** All rows, those that scrolled out too, without the spaces and empty rows at their ends. */
  screen(): readonly string[];
  readonly cursor: { readonly row: number; readonly column: number; readonly isShown: boolean };
  /** Sequences that were not understood. */
  readonly unknown: readonly string[];
}

/** One part of what is written: a sequence, a control character, or a sign with what belongs to it. */
const PART =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what a terminal is sent
  /\u001b\[([?\d;]*)([A-Za-z])|\u001b.?|[\u0000-\u001f\u007f]|\P{M}[\p{M}\u200d]*/gu;

export function virtualTerminal(columns: number): VirtualTerminal {
  let width = columns;
  let rows: Row[] = [emptyRow()];
  let row = 0;
  let column = 0;
  let isShown = true;
  const unknown: string[] = [];

  const here = (): Row => {
    while (rows.length <= row) rows.push(emptyRow());
    return rows[row] ?? emptyRow();
  };
  const put = (sign: string): void => {
    const size = columnsOf(sign);
    if (column + size > width) {
      here().isFolded = true;
      row += 1;
      column = 0;
    }
    const { cells } = here();
    while (cells.length < column) cells.push(' ');
    cells[column] = sign;
    for (let more = 1; more < size; more += 1) cells[column + more] = '';
    column += size;
  };
  const clearRest = (): void => {
    here().cells.length = Math.min(here().cells.length, column);
    here().isFolded = false;
  };
  const sequence = (whole: string, parameter: string, final: string): void => {
    const count = Number(parameter || 1);
    if (final === 'm') return;
    if (whole === '\u001b[?25l' || whole === '\u001b[?25h') isShown = final === 'h';
    else if (final === 'A') row = Math.max(0, row - count);
    else if (final === 'B') row = Math.min(rows.length - 1, row + count);
    else if (final === 'K' && parameter === '') clearRest();
    else if (final === 'J' && parameter === '') {
      clearRest();
      rows.length = row + 1;
    } else unknown.push(whole);
  };

  return {
    write(text) {
      for (const [whole, parameter = '', final = ''] of text.matchAll(PART)) {
        if (final !== '') sequence(whole, parameter, final);
        else if (whole === '\r') column = 0;
        else if (whole === '\n') {
          row += 1;
          column = 0;
          here();
        } else if (whole < ' ' || whole === '\u007f') unknown.push(whole);
        else put(whole);
      }
    },
    resize(to) {
      const folded = fold(rows, to, row);
      width = to;
      rows = folded.rows;
      row = folded.cursorRow;
    },
    screen: () =>
      rows
        .map(({ cells }) => cells.join('').trimEnd())
        .join('\n')
        .trimEnd()
        .split('\n'),
    get cursor() {
      return { row, column, isShown };
    },
    unknown,
  };
}

function emptyRow(): Row {
  return { cells: [], isFolded: false };
}

/** Rows of another width; the cursor stays with the row that it stands in the first column of. */
function fold(rows: readonly Row[], width: number, cursor: number) {
  const folded: Row[] = [];
  let cursorRow = 0;
  const line: string[] = [];
  for (const [index, { cells, isFolded }] of rows.entries()) {
    if (line.length === 0 && index <= cursor) cursorRow = folded.length;
    line.push(...cells);
    if (isFolded) continue;
    do {
      const cells = line.splice(0, width);
      folded.push({ cells, isFolded: line.length > 0 });
    } while (line.length > 0);
  }
  return { rows: folded, cursorRow };
}

import { columnsOf } from '../src/report/columns.ts';

/** How a cell looks: the numbers of the colours and attributes that are on, such as `1 32`. */
type Look = string;

interface Cell {
  readonly sign: string;
  readonly look: Look;
}

/** What a terminal shows at one moment: rows of cells, the second half of a wide sign left empty. */
export type Frame = readonly (readonly Cell[])[];

/** A terminal that keeps colours, as far as ralph uses one. Throws at a sequence it does not know. */
export interface ColouredTerminal {
  write(text: string): void;
  frame(): Frame;
}

/** One part of what is written: a sequence, a control character, or a sign with what belongs to it. */
const PART =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what a terminal is sent
  /\u001b\[([?\d;]*)([A-Za-z])|\u001b.?|[\u0000-\u001f\u007f]|\P{M}[\p{M}\u200d]*/gu;

const BLANK: Cell = { sign: ' ', look: '' };

export function colouredTerminal(columns: number): ColouredTerminal {
  const rows: Cell[][] = [[]];
  let row = 0;
  let column = 0;
  const on = new Set<number>();

  const here = (): Cell[] => {
    while (rows.length <= row) rows.push([]);
    return rows[row] ?? [];
  };
  const put = (sign: string): void => {
    const size = columnsOf(sign);
    if (column + size > columns) {
      row += 1;
      column = 0;
    }
    const cells = here();
    while (cells.length < column) cells.push(BLANK);
    const look = [...on].sort((a, b) => a - b).join(' ');
    cells[column] = { sign, look };
    for (let more = 1; more < size; more += 1) cells[column + more] = { sign: '', look };
    column += size;
  };
  const clearRest = (): void => {
    here().length = Math.min(here().length, column);
  };
  const sequence = (whole: string, parameter: string, final: string): void => {
    const count = Number(parameter || 1);
    if (final === 'm') for (const code of parameter.split(';')) switchLook(on, Number(code || 0));
    else if (final === 'A') row = Math.max(0, row - count);
    else if (final === 'B') row += count;
    else if (final === 'G') column = count - 1;
    else if (final === 'K' && parameter === '') clearRest();
    else if (final === 'J' && parameter === '') {
      clearRest();
      rows.length = row + 1;
    } else if (whole !== '\u001b[?25l' && whole !== '\u001b[?25h') throw unknown(whole);
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
        } else if (whole < ' ' || whole === '\u007f') throw unknown(whole);
        else put(whole);
      }
    },
    frame: () => rows.map((cells) => [...cells]),
  };
}

function unknown(sequence: string): Error {
  return new Error(`The picture cannot show what was sent: ${JSON.stringify(sequence)}`);
}

/** What ends an attribute, by its number; all colours end each other. */
function switchLook(on: Set<number>, code: number): void {
  const off = (isOff: (code: number) => boolean): void => {
    for (const each of [...on]) if (isOff(each)) on.delete(each);
  };
  const isColour = (each: number): boolean => each >= 30;
  if (code === 0) off(() => true);
  else if (code === 22) off((each) => each <= 2);
  else if (code === 39) off(isColour);
  else if (code === 1 || code === 2) on.add(code);
  else if ((code >= 30 && code <= 37) || (code >= 90 && code <= 97)) {
    off(isColour);
    on.add(code);
  } else throw unknown(`\u001b[${code}m`);
}

/** The lines of a frame as text, without the empty ones at its end. */
export function textOf(frame: Frame): string {
  return frame
    .map((cells) =>
      cells
        .map(({ sign }) => sign)
        .join('')
        .trimEnd(),
    )
    .join('\n')
    .trimEnd();
}

const FONT_SIZE = 14;
const CELL_WIDTH = 8.4;
const LINE_HEIGHT = 20;
const MARGIN = 20;
/** Room for the three dots of a window. */
const HEAD = 34;

/** Foreground colours by their numbers: on white and on nearly black. */
const COLOURS: readonly (readonly [code: number, light: string, dark: string])[] = [
  [31, '#b3261e', '#ff7b72'],
  [32, '#1a7f37', '#3fb950'],
  [33, '#8a6100', '#d29922'],
  [34, '#0550ae', '#79c0ff'],
  [35, '#8250df', '#d2a8ff'],
  [36, '#0a6c74', '#56d4dd'],
  [90, '#6e7781', '#8b949e'],
];

const FRAME_SECONDS = 1.6;
const END_SECONDS = 7;

export interface PictureOptions {
  readonly columns: number;
  /** What was typed. */
  readonly command: string;
  readonly title: string;
}

/**
 * An SVG that needs nothing beside itself. It shows the frames one after the other, and the last one
 * for longest; where nothing moves (a printer, a person who asked for that), only the last one.
 */
export function terminalSvg(frames: readonly Frame[], options: PictureOptions): string {
  const shown = frames.map((frame) => [typed(options.command), ...frame]);
  const lines = Math.max(...shown.map((frame) => textOf(frame).split('\n').length));
  const width = Math.ceil(options.columns * CELL_WIDTH + 2 * MARGIN);
  const height = HEAD + lines * LINE_HEIGHT + MARGIN;
  const dots = [0, 1, 2]
    .map((index) => `<circle class="dot" cx="${MARGIN + 4 + index * 18}" cy="20" r="5.5"/>`)
    .join('');
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="t">
<title id="t">${escapeXml(options.title)}</title>
<style>
${styleOf(frames.length)}
</style>
<rect class="back" x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="8"/>
${dots}
${shown.map((frame, index) => group(frame, index, shown.length)).join('\n')}
</svg>
`;
}

function typed(command: string): readonly Cell[] {
  const cells = (text: string, look: Look): readonly Cell[] =>
    [...text].map((sign) => ({ sign, look }));
  return [...cells('$ ', '2'), ...cells(command, '1')];
}

function group(frame: Frame, index: number, count: number): string {
  const name = index === count - 1 ? 'last' : `f${index + 1}`;
  const lines = frame.flatMap((cells, row) => textRuns(cells, row));
  return `<g class="frame ${name}">\n${lines.join('\n')}\n</g>`;
}

/** A row as pieces of one look each. Their lengths are given, so that columns hold in any font. */
function textRuns(cells: readonly Cell[], row: number): readonly string[] {
  const runs: { look: Look; start: number; text: string; size: number }[] = [];
  for (const [column, { sign, look }] of cells.entries()) {
    const run = runs.at(-1);
    if (run?.look === look) {
      run.text += sign;
      run.size += 1;
    } else runs.push({ look, start: column, text: sign, size: 1 });
  }
  return runs
    .filter(({ text }) => text.trim() !== '')
    .map(({ look, start, text, size }) => {
      const looks = look
        .split(' ')
        .filter((code) => code !== '')
        .map((code) => `c${code}`);
      const kind = looks.length === 0 ? '' : ` class="${looks.join(' ')}"`;
      const x = round(MARGIN + start * CELL_WIDTH);
      const y = HEAD + row * LINE_HEIGHT + FONT_SIZE;
      return `<text${kind} x="${x}" y="${y}" textLength="${round(size * CELL_WIDTH)}">${escapeXml(text)}</text>`;
    });
}

function styleOf(frames: number): string {
  const colours = (shade: 1 | 2): string =>
    COLOURS.map((colour) => `.c${colour[0]}{fill:${colour[shade]}}`).join('');
  const total = (frames - 1) * FRAME_SECONDS + END_SECONDS;
  const at = (index: number): string => `${round((index * FRAME_SECONDS * 100) / total)}%`;
  const moves = Array.from({ length: frames }, (_, index) => {
    const name = index === frames - 1 ? 'last' : `f${index + 1}`;
    const before = index === 0 ? '' : '0%{opacity:0}';
    const after = index === frames - 1 ? '' : `${at(index + 1)}{opacity:0}`;
    return `.${name}{animation:${name} ${round(total)}s step-end infinite}@keyframes ${name}{${before}${at(index)}{opacity:1}${after}}`;
  });
  return [
    `text{font:${FONT_SIZE}px ui-monospace,SFMono-Regular,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono","Liberation Mono",monospace;white-space:pre;fill:#1f2328}`,
    '.back{fill:#fff;stroke:#d0d7de}.dot{fill:#d0d7de}.c1{font-weight:600}.c2{fill:#656d76}',
    colours(1),
    `@media (prefers-color-scheme:dark){text{fill:#e6edf3}.back{fill:#0d1117;stroke:#30363d}.dot{fill:#30363d}.c2{fill:#8b949e}${colours(2)}}`,
    '.frame{opacity:0}.last{opacity:1}',
    `@media (prefers-reduced-motion:no-preference){${moves.join('')}}`,
  ].join('\n');
}

function round(number: number): number {
  return Math.round(number * 100) / 100;
}

function escapeXml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

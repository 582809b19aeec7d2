/** What of a terminal is needed here. */
export interface Terminal {
  readonly columns?: number;
  readonly rows?: number;
  write(text: string): unknown;
  on(event: 'resize', listener: () => void): unknown;
  off(event: 'resize', listener: () => void): unknown;
}

/** What is redrawn in place. */
export interface Picture {
  /** Before the first line, one column, or nothing at all: what alone changes many times a second. */
  readonly mark: string;
  /** Each shorter than the terminal is wide. */
  readonly lines: readonly string[];
}

const HIDE_CURSOR = '\u001b[?25l';
const SHOW_CURSOR = '\u001b[?25h';
const CLEAR_LINE = '\u001b[K';
const CLEAR_BELOW = '\u001b[J';

/**
 * The end of a terminal: lines that stay, and below them a picture that is redrawn in place, each time
 * in one write that holds no more than what has changed.
 *
 *     • 1/10 answered, 12s                   ◄ stays
 *   ▌⠹ iteration 2/10 …                      ◄ the cursor rests at the picture's first column
 *     Bash: npm test
 *
 * There the `^C` of a terminal is drawn over at once, and after a change of its size, when lines may
 * have been folded, all of the picture is still below the cursor.
 */
export class LiveScreen {
  readonly #terminal: Terminal;
  #shown: Picture | null = null;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  /** Draws a picture over the one before. */
  draw(picture: Picture): void {
    const shown = this.#shown;
    this.#shown = picture;
    if (shown === null) {
      this.#terminal.write(`${HIDE_CURSOR}${whole(picture)}`);
    } else if (shown.lines.length !== picture.lines.length) {
      this.#terminal.write(`\r${CLEAR_BELOW}${whole(picture)}`);
    } else {
      const text = changed(shown, picture) + (picture.mark === '' ? '' : `\r${before(picture)}`);
      if (text !== '') this.#terminal.write(`${text}\r`);
    }
  }

  /** Draws all of it again, wherever the terminal has put it. */
  redraw(picture: Picture): void {
    if (this.#shown === null) return;
    this.#shown = picture;
    this.#terminal.write(`\r${CLEAR_BELOW}${whole(picture)}`);
  }

  /** Lines that stay, above the picture. */
  print(text: string): void {
    const shown = this.#shown;
    this.#terminal.write(shown === null ? `${text}\n` : `\r${CLEAR_BELOW}${text}\n${whole(shown)}`);
  }

  /** Lets the picture stay, and gives the cursor back below it. */
  leave(): void {
    const shown = this.#shown;
    if (shown === null) return;
    this.#shown = null;
    const lines = shown.lines.join('\r\n');
    this.#terminal.write(`\r${CLEAR_BELOW}${before(shown)}${lines}\n${SHOW_CURSOR}`);
  }

  /** Takes the picture away and gives the cursor back. */
  clear(): void {
    if (this.#shown === null) return;
    this.#shown = null;
    this.#terminal.write(`\r${CLEAR_BELOW}${SHOW_CURSOR}`);
  }
}

function before({ mark }: Picture): string {
  return mark === '' ? '' : `${mark} `;
}

function whole(picture: Picture): string {
  const { lines } = picture;
  const up = lines.length > 1 ? `\u001b[${lines.length - 1}A` : '';
  return `${before(picture)}${lines.join('\r\n')}${up}\r`;
}

function changed(shown: Picture, picture: Picture): string {
  const { lines } = picture;
  let text = '';
  let row = 0;
  lines.forEach((line, index) => {
    if (line === shown.lines[index]) return;
    const down = index > row ? `\u001b[${index - row}B` : '';
    // Cleared before it is written: behind a line that is full, some terminals would clear its last sign.
    text += `${down}\r${CLEAR_LINE}${index === 0 ? before(picture) : ''}${line}`;
    row = index;
  });
  return row === 0 ? text : `${text}\u001b[${row}A`;
}

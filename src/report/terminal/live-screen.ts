/** The part of a terminal stream that the live display uses. */
export interface Terminal {
  readonly columns?: number;
  readonly rows?: number;
  write(text: string): unknown;
  on(event: 'resize', listener: () => void): unknown;
  off(event: 'resize', listener: () => void): unknown;
}

/** The lines that are redrawn in place. */
export interface Picture {
  /** The spinner before the first line, one column wide, or empty. It changes many times a second. */
  readonly mark: string;
  /** Each line is narrower than the terminal. */
  readonly lines: readonly string[];
}

const HIDE_CURSOR = '\u001b[?25l';
const SHOW_CURSOR = '\u001b[?25h';
const CLEAR_LINE = '\u001b[K';
const CLEAR_BELOW = '\u001b[J';

/**
 * The bottom of the terminal: permanent lines, and below them a picture that is redrawn in place. Each
 * redraw is a single write of only what has changed.
 *
 *     • 1/10 answered, 12s                   ◄ permanent
 *   ▌⠹ iteration 2/10 …                      ◄ the cursor rests at the picture's first column
 *     Bash: npm test
 *
 * With the cursor there, the next draw covers an echoed `^C`, and after a resize, which may have wrapped
 * lines, the whole picture is still below the cursor.
 */
export class LiveScreen {
  readonly #terminal: Terminal;
  #shown: Picture | null = null;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  /** Draws a picture over the previous one. */
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

  /** Redraws the whole picture, for example after a resize. */
  redraw(picture: Picture): void {
    if (this.#shown === null) return;
    this.#shown = picture;
    this.#terminal.write(`\r${CLEAR_BELOW}${whole(picture)}`);
  }

  /** Prints permanent lines above the picture. */
  print(text: string): void {
    const shown = this.#shown;
    this.#terminal.write(shown === null ? `${text}\n` : `\r${CLEAR_BELOW}${text}\n${whole(shown)}`);
  }

  /** Makes the picture permanent and shows the cursor below it. */
  leave(): void {
    const shown = this.#shown;
    if (shown === null) return;
    this.#shown = null;
    const lines = shown.lines.join('\r\n');
    this.#terminal.write(`\r${CLEAR_BELOW}${before(shown)}${lines}\n${SHOW_CURSOR}`);
  }

  /** Erases the picture and shows the cursor. */
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
    // Clears the line before writing: after a full line, some terminals would erase the last character.
    text += `${down}\r${CLEAR_LINE}${index === 0 ? before(picture) : ''}${line}`;
    row = index;
  });
  return row === 0 ? text : `${text}\u001b[${row}A`;
}

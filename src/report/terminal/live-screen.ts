/** The part of a terminal stream that the live display uses. */
export interface Terminal {
  readonly columns?: number;
  readonly rows?: number;
  write(text: string): unknown;
}

const HIDE_CURSOR = '\u001b[?25l';
const SHOW_CURSOR = '\u001b[?25h';
const CLEAR_BELOW = '\u001b[J';

/**
 * The bottom of the terminal: permanent lines, and below them a picture that is drawn again and again in place.
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
  #shown: readonly string[] | null = null;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  /** Draws a picture over the previous one, in a single write. Each line is narrower than the terminal. */
  draw(lines: readonly string[]): void {
    const clear = this.#shown === null ? HIDE_CURSOR : `\r${CLEAR_BELOW}`;
    this.#shown = lines;
    this.#terminal.write(`${clear}${drawn(lines)}`);
  }

  /** Prints permanent lines above the picture. */
  print(text: string): void {
    const shown = this.#shown;
    this.#terminal.write(shown === null ? `${text}\n` : `\r${CLEAR_BELOW}${text}\n${drawn(shown)}`);
  }

  /** Makes the picture permanent and shows the cursor below it. */
  leave(): void {
    const lines = this.#shown ?? [];
    this.clear();
    for (const line of lines) this.print(line);
  }

  /** Erases the picture and shows the cursor. */
  clear(): void {
    if (this.#shown === null) return;
    this.#shown = null;
    this.#terminal.write(`\r${CLEAR_BELOW}${SHOW_CURSOR}`);
  }
}

function drawn(lines: readonly string[]): string {
  const up = lines.length > 1 ? `\u001b[${lines.length - 1}A` : '';
  return `${lines.join('\r\n')}${up}\r`;
}

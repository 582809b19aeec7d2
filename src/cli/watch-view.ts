import { setTimeout as pause } from 'node:timers/promises';
import type { Frame } from './commands/status.ts';
import { signalled, standardOutlet } from './outlet.ts';

const REDRAW_MS = 1_000;
const HIDE_CURSOR = '\u001b[?25l';
const SHOW_CURSOR = '\u001b[?25h';

/**
 * Shows frames until the last one, or until somebody ends it: redrawn in place on a terminal, anew
 * only where something has changed elsewhere. Resolves to the exit code.
 */
export async function watchView(next: () => Frame, stream: NodeJS.WriteStream): Promise<number> {
  const stop = signalled();
  const outlet = standardOutlet(stream);
  const isTerminal = stream.isTTY && process.env.TERM !== 'dumb';
  let drawn = 0;
  let key: string | null = null;
  if (isTerminal) await outlet.write(HIDE_CURSOR);
  try {
    for (;;) {
      const frame = next();
      const isNew = frame.key !== key;
      key = frame.key;
      if (isTerminal) {
        const lines = visibleLines(frame.text, stream.rows);
        if (!(await outlet.write(redrawn(lines, drawn)))) return 0;
        drawn = lines.length;
      } else if (isNew && !(await outlet.write(frame.text))) {
        return 0;
      }
      if (frame.isLast || stop.aborted) return 0;
      await pause(REDRAW_MS, undefined, { signal: stop }).catch(() => undefined);
      if (stop.aborted) return 0;
    }
  } finally {
    if (isTerminal) await outlet.write(SHOW_CURSOR);
  }
}

/** What scrolled out could not be reached again: the last line of a terminal stays free. */
function visibleLines(text: string, rows: number): readonly string[] {
  const lines = text === '' ? ['no task yet'] : text.trimEnd().split('\n');
  return rows > 1 ? lines.slice(0, rows - 1) : lines;
}

/** Over the last picture, line by line and in one write, so that nothing flickers. */
function redrawn(lines: readonly string[], drawn: number): string {
  const up = drawn > 0 ? `\u001b[${drawn}A\r` : '';
  return `${up}${lines.map((line) => `${line}\u001b[K\n`).join('')}\u001b[J`;
}

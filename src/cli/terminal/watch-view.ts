import { setTimeout as pause } from 'node:timers/promises';
import { plural } from '../../report/format.ts';
import { LiveScreen } from '../../report/terminal/live-screen.ts';
import { signalled, standardOutlet } from './outlet.ts';

const REDRAW_MS = 1_000;

/** Shows frames until the last one or a signal: in place on a terminal, elsewhere only those with a change. */
export async function watchView(
  next: () => Promise<Frame>,
  stream: NodeJS.WriteStream,
): Promise<number> {
  const stop = signalled();
  const isScreen = stream.isTTY && process.env.TERM !== 'dumb';
  const screen = new LiveScreen(stream);
  const outlet = standardOutlet(stream);
  let key: string | null = null;
  try {
    for (;;) {
      const frame = await next();
      if (isScreen) screen.draw(fitting(frame, stream.rows));
      else if (frame.key !== key && !(await outlet.write(frame.text))) return 0;
      key = frame.key;
      if (frame.isLast || stop.aborted) return 0;
      await pause(REDRAW_MS, undefined, { signal: stop }).catch(() => undefined);
      if (stop.aborted) return 0;
    }
  } finally {
    screen.leave();
  }
}

/** Returns the lines that fit with the last row free: lines that scroll out of the screen could not be redrawn. */
function fitting({ text }: Frame, rows: number): readonly string[] {
  const lines = text === '' ? ['no task yet'] : text.trimEnd().split('\n');
  const room = rows - 1;
  if (rows <= 2 || lines.length <= room) return lines;
  const shown = lines.slice(0, room - 1);
  return [...shown, `… and ${plural(lines.length - shown.length, 'more line')}`];
}

/** The output at one moment. */
export interface Frame {
  readonly text: string;
  /** Changes if something has happened, but not with elapsed time alone. */
  readonly key: string;
  /** Whether this is the last thing to show: nothing more will happen to the task. */
  readonly isLast: boolean;
}

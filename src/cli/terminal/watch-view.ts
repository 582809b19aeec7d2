import { setTimeout as pause } from 'node:timers/promises';
import { plural } from '../../report/format.ts';
import { LiveScreen, type Picture } from '../../report/terminal/live-screen.ts';
import { signalled, standardOutlet } from './outlet.ts';

const REDRAW_MS = 1_000;

/**
 * Shows frames until the last one or a signal. Redraws in place on a terminal; elsewhere prints a frame
 * only if something has changed. Resolves to the exit code.
 */
export async function watchView(
  next: () => Promise<Frame>,
  stream: NodeJS.WriteStream,
): Promise<number> {
  const stop = signalled();
  if (stream.isTTY && process.env.TERM !== 'dumb') return watchScreen(next, stream, stop);
  const outlet = standardOutlet(stream);
  let key: string | null = null;
  for (;;) {
    const frame = await next();
    if (frame.key !== key && !(await outlet.write(frame.text))) return 0;
    key = frame.key;
    if (frame.isLast || stop.aborted) return 0;
    await rest(stop);
    if (stop.aborted) return 0;
  }
}

async function watchScreen(
  next: () => Promise<Frame>,
  stream: NodeJS.WriteStream,
  stop: AbortSignal,
): Promise<number> {
  const screen = new LiveScreen(stream);
  const redraw = (): void => {
    // An error is ignored here: the next regular draw reports it.
    void next().then(
      (frame) => screen.redraw(pictureOf(frame, stream.rows)),
      () => {},
    );
  };
  stream.on('resize', redraw);
  try {
    for (;;) {
      const frame = await next();
      screen.draw(pictureOf(frame, stream.rows));
      if (frame.isLast || stop.aborted) return 0;
      await rest(stop);
      if (stop.aborted) return 0;
    }
  } finally {
    stream.off('resize', redraw);
    screen.leave();
  }
}

async function rest(stop: AbortSignal): Promise<void> {
  await pause(REDRAW_MS, undefined, { signal: stop }).catch(() => undefined);
}

/** Cuts the text so that the last row stays free: lines that scroll out of the screen could not be redrawn. */
function pictureOf({ text }: Frame, rows: number): Picture {
  const lines = text === '' ? ['no task yet'] : text.trimEnd().split('\n');
  const room = rows - 1;
  if (rows <= 2 || lines.length <= room) return { mark: '', lines };
  const shown = lines.slice(0, room - 1);
  return {
    mark: '',
    lines: [...shown, `… and ${plural(lines.length - shown.length, 'more line')}`],
  };
}

/** The output at one moment. */
export interface Frame {
  readonly text: string;
  /** Changes if something has happened, but not with elapsed time alone. */
  readonly key: string;
  /** Whether this is the last thing to show: nothing more will happen to the task. */
  readonly isLast: boolean;
}

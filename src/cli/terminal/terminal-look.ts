import type { TableOptions } from '../../report/screens/status.ts';

/** The width for a terminal that reports none, or less than `NARROWEST_COLUMNS`. */
const USUAL_COLUMNS = 80;
const NARROWEST_COLUMNS = 20;

/** Returns a function that returns the current width and colours. Loads the colour package only if needed. */
export async function terminalOf(
  stream: NodeJS.WriteStream,
  env: NodeJS.ProcessEnv,
): Promise<() => TableOptions> {
  const isColored = stream.isTTY && !env.NO_COLOR && env.TERM !== 'dumb';
  const paint = isColored ? new (await import('chalk')).Chalk({ level: 1 }) : null;
  return () => {
    const columns = stream.isTTY ? stream.columns : 0;
    return { width: columns >= NARROWEST_COLUMNS ? columns : USUAL_COLUMNS, paint };
  };
}

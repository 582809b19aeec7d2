import { keepCallsIn, type QuietTimes, watchCalls } from './call/watched-calls.ts';

export interface GitLimitsRequest extends QuietTimes {
  /** `signal` stops the run, and `hurry` also ends its calls of git at once; undefined if the run cannot be stopped. */
  readonly stops?: { readonly signal: AbortSignal; readonly hurry: AbortSignal };
  /** How long git may work after a stop, in ms; null for as long as it takes. Default: `CLOSING_MS`. */
  readonly closingMs?: number | null;
}

export interface GitLimits {
  /** Runs `work`, and holds each call of git in it to these limits. */
  keepIn<T>(work: () => Promise<T>): Promise<T>;
  /** Sets when the time of the task is over. Call it again whenever that instant changes. */
  setDeadline(instant: string): void;
  close(): void;
}

/** Returns the limits for the calls of git in one run. */
export function createGitLimits(request: GitLimitsRequest): GitLimits {
  const { stops } = request;
  const calls = watchCalls(request);
  let isOver: NodeJS.Timeout | undefined;
  let deadline: NodeJS.Timeout | undefined;
  const onStop = (): void => {
    calls.stop();
    const { closingMs = CLOSING_MS } = request;
    if (closingMs !== null) isOver = setTimeout(calls.over, closingMs).unref();
  };
  stops?.signal.addEventListener('abort', onStop);
  stops?.hurry.addEventListener('abort', calls.over);
  if (stops?.signal.aborted === true) onStop();

  return {
    keepIn: (work) => keepCallsIn(calls, work),
    setDeadline(instant) {
      const leftMs = Date.parse(instant) - Date.now();
      clearTimeout(deadline);
      calls.setLate(leftMs <= 0);
      if (leftMs <= 0 || leftMs > LONGEST_TIMER_MS) return;
      deadline = setTimeout(() => calls.setLate(true), leftMs).unref();
    },
    close() {
      clearTimeout(isOver);
      clearTimeout(deadline);
      stops?.signal.removeEventListener('abort', onStop);
      stops?.hurry.removeEventListener('abort', calls.over);
    },
  };
}

const CLOSING_MS = 7_000;
/** In ms. Node fires a longer timer at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

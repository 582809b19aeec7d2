import { writeDuration } from '../../core/settings/duration.ts';
import { monotonicMs } from '../../effects/time/monotonic.ts';

/** A worker claims no tasks while its home (the folder for its work trees) has less free space than this, in bytes. */
const ROOM_NEEDED = 1024 ** 3;

interface IdlenessOptions {
  /** Returns the free space for the worker's home in bytes; null if unknown. */
  readonly roomLeft: () => number | null;
  /** How long a worker rests after `rest` was called, in milliseconds. */
  readonly restMs: number;
  readonly say: (line: string) => void;
}

/** Whether a worker claims tasks at present. */
export interface Idleness {
  /** Returns why the worker claims nothing, as half a sentence; null if it claims. Prints a line when that changes. */
  because(): string | null;
  /** Lets the worker claim no tasks for a while, since it could not run one here. */
  rest(why: string): void;
}

/** Creates the idleness of a worker, which claims tasks at first. */
export function createIdleness({ roomLeft, restMs, say }: IdlenessOptions): Idleness {
  let rest: { readonly why: string; readonly sinceMs: number } | null = null;
  let said: string | null = null;
  const reason = (): string | null => {
    if ((roomLeft() ?? ROOM_NEEDED) < ROOM_NEEDED) return 'less than 1 GiB is free in its home';
    if (rest === null || monotonicMs() - rest.sinceMs >= restMs) return null;
    return `it rests for ${writeDuration(restMs)}, since ${rest.why}`;
  };
  return {
    because() {
      const why = reason();
      if (why !== said) say(why === null ? 'claims tasks again' : `claims no tasks: ${why}`);
      said = why;
      return why;
    },
    rest(why) {
      rest = { why, sinceMs: monotonicMs() };
    },
  };
}

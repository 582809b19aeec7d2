import { writeDuration } from '../../core/settings/duration.ts';
import { monotonicMs } from '../../effects/time/monotonic.ts';

/** A worker takes nothing while its home has less room, in bytes. */
const ROOM_NEEDED = 1024 ** 3;

interface IdlenessOptions {
  /** Returns the bytes that the worker's home has room for; null if unknown. */
  readonly roomLeft: () => number | null;
  /** How long a worker rests that could not work, in milliseconds. */
  readonly restMs: number;
  readonly say: (line: string) => void;
}

/** Whether a worker claims tasks at present. */
export interface Idleness {
  /** Returns why it claims none, as half a sentence; null if it does. Says so once each time that this changes. */
  because(): string | null;
  /** Lets it claim nothing for a while, since a leg could not work here. */
  rest(why: string): void;
}

/** Creates the idleness of a worker that claims. */
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

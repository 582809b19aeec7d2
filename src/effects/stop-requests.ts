import type { StopCause } from '../core/machine.ts';
import type { StopRequests } from '../loop/ports.ts';

const SIGNALS: readonly StopCause[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];

export interface SignalWatch extends StopRequests {
  /** Gives the signals back to Node's own handling. */
  close(): void;
}

/**
 * Turns signals into requests: the first one asks for a clean end, a second one for no courtesy.
 * Must be in place before the agent starts, or a signal in between would end ralph alone.
 */
export function watchSignals(): SignalWatch {
  const first = new AbortController();
  const second = new AbortController();
  let cause: StopCause | null = null;
  const onSignal = (signal: StopCause): void => {
    if (cause === null) {
      cause = signal;
      first.abort();
    } else {
      second.abort();
    }
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  return {
    signal: first.signal,
    hurry: second.signal,
    cause: () => cause,
    close() {
      for (const signal of SIGNALS) process.off(signal, onSignal);
    },
  };
}

import type { StopCause } from '../../core/machine/loop-state.ts';
import type { StopRequests } from '../../loop/ports.ts';
import { monotonicMs } from '../time/monotonic.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export interface SignalWatch extends StopRequests {
  /** Asks for a clean end, as a signal would; asking again has no effect. */
  request(by: StopCause): void;
  /** Restores Node's own handling of the signals. */
  close(): void;
}

/** Turns an abort into a request for a clean end, for a run that handles no signals itself. */
export function watchAbort(signal: AbortSignal | null): SignalWatch {
  return follow(signal, () => 'request');
}

/**
 * Returns the stop requests of one of several runs in this process. A request to `all` also stops
 * this run; a request to this run alone (`ralph stop`) stops no other.
 */
export function combinedStop(all: StopRequests): SignalWatch {
  return { ...follow(all.signal, () => all.cause() ?? 'SIGTERM'), hurry: all.hurry };
}

function follow(signal: AbortSignal | null, cause: () => StopCause): SignalWatch {
  const watch = createWatch();
  const onAbort = (): void => watch.request(cause());
  signal?.addEventListener('abort', onAbort);
  if (signal?.aborted === true) onAbort();
  return { ...watch, close: () => signal?.removeEventListener('abort', onAbort) };
}

/** `npx`, `timeout` and others pass on a signal that ralph gets anyway: what comes within this time is the same one. */
export const ECHO_MS = 1_000;

/**
 * Turns signals into requests: the first asks for a clean end, the second for an immediate one.
 * Call it before the agent starts, or an early signal would end ralph and not the agent.
 */
export function watchSignals(nowMs = monotonicMs): SignalWatch {
  const watch = createWatch();
  let firstMs: number | null = null;
  const onSignal = (signal: StopCause): void => {
    const isEcho = firstMs !== null && nowMs() - firstMs < ECHO_MS;
    firstMs ??= nowMs();
    if (watch.cause() === null) watch.request(signal);
    else if (!isEcho) watch.hasten();
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  return {
    ...watch,
    close() {
      for (const signal of SIGNALS) process.off(signal, onSignal);
    },
  };
}

function createWatch(): Omit<SignalWatch, 'close'> & { hasten(): void } {
  const first = new AbortController();
  const second = new AbortController();
  let cause: StopCause | null = null;
  return {
    signal: first.signal,
    hurry: second.signal,
    cause: () => cause,
    request(by) {
      cause ??= by;
      first.abort();
    },
    hasten: () => second.abort(),
  };
}

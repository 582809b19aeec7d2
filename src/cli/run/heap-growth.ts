/** The newest Node this was measured on. A later one may not know the flag, and would print a warning. */
const NEWEST_MEASURED_NODE = 24;
const MUCH_BYTES = 1_000_000;

/** V8's default. */
const USUAL_FACTOR = 2;

/** Limits the growth of the heap during much output. */
export interface HeapLimit {
  /** Counts bytes of the agent's output. */
  count(bytes: number): void;
  /** Restores V8's default growth. */
  lift(): void;
}

/**
 * Stops V8's young generation from growing after the first megabyte of input. V8 would let it grow to
 * 32 MB in a long-running process; ralph keeps few objects alive, and reads as fast without. Only for a
 * process of ralph's own, since the setting is global.
 *
 * Not earlier: V8 rejects cached code, even node's own, that was compiled under other flags. For the same
 * reason the limit has to be lifted before code is cached.
 */
export function limitHeap(): HeapLimit {
  const isKnown = Number.parseInt(process.versions.node, 10) <= NEWEST_MEASURED_NODE;
  let left = MUCH_BYTES;
  return {
    count(bytes) {
      if (left <= 0) return;
      left -= bytes;
      if (left <= 0 && isKnown) setGrowth(1);
    },
    lift() {
      if (left <= 0 && isKnown) setGrowth(USUAL_FACTOR);
    },
  };
}

function setGrowth(factor: number): void {
  // Loaded here, since few runs need it.
  const { setFlagsFromString } = process.getBuiltinModule('node:v8');
  setFlagsFromString(`--semi-space-growth-factor=${factor}`);
}

/** The newest Node on which the limit was measured. A later Node may print a warning about the flag. */
const NEWEST_MEASURED_NODE = 24;
const MUCH_BYTES = 1_000_000;

/** V8's default for the growth of the young generation. */
const USUAL_FACTOR = 2;

/** Limits the growth of the heap during much output. */
export interface HeapLimit {
  /** Counts bytes of the agent's output. */
  count(bytes: number): void;
  /** Restores V8's default growth. */
  lift(): void;
}

/**
 * Stops V8's young generation from growing after the first megabyte of output. V8 would let it grow to
 * 32 MB in a long-running process; ralph keeps few objects alive, and reads as fast without that. Use it
 * only in the command, not in the library, since the setting applies to the whole process.
 *
 * The limit does not start earlier, because V8 rejects cached code, even node's own, that was compiled
 * under other flags. For the same reason, call `lift` before code is cached.
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

/** The newest Node that this was measured on. A later one may not know the flag, and would say so. */
const NEWEST_MEASURED_NODE = 24;
const MUCH_BYTES = 1_000_000;

/** V8's own. */
const USUAL_FACTOR = 2;

/** Keeps the heap small once an agent says much. */
export interface HeapLimit {
  /** To be told of the bytes that an agent says. */
  count(bytes: number): void;
  /** Lets the heap grow as it does by itself. */
  lift(): void;
}

/**
 * Keeps the part of the heap in which objects are born at its size, once a megabyte was read. V8 lets it
 * grow to 32 MB in a process that runs for long, whatever is alive in it; ralph has little alive, and
 * reads as fast without. Only for a process that is ralph's own.
 *
 * Not before: V8 uses no compiled code, node's own neither, that was kept under other flags. Which is
 * also why the limit has to be lifted before code is kept.
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
  // Loaded here, since few runs come to it.
  const { setFlagsFromString } = process.getBuiltinModule('node:v8');
  setFlagsFromString(`--semi-space-growth-factor=${factor}`);
}

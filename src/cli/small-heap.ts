import { setFlagsFromString } from 'node:v8';

/** The newest Node that this was measured on. A later one may not know the flag, and would say so. */
const NEWEST_MEASURED_NODE = 24;

/**
 * Keeps the part of the heap in which objects are born at its first size. V8 lets it grow to 32 MB in
 * a process that runs for long, whatever is alive in it; ralph has little alive, and reads as fast
 * without. To be called before that part has grown, and only where the process is ralph's own.
 */
export function keepHeapSmall(): void {
  if (Number.parseInt(process.versions.node, 10) > NEWEST_MEASURED_NODE) return;
  setFlagsFromString('--semi-space-growth-factor=1');
}

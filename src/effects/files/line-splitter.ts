/** Longer lines are skipped. An agent's own lines are known to be shorter. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;
const FIRST_CAPACITY = 64 * 1024;
/** A larger buffer is released after the long line that needed it: a line of 1 MB needs one of 2 MB. */
const KEPT_CAPACITY = 2 * 1024 * 1024;
const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const NOTHING = Buffer.alloc(0);

interface LineSplitterOptions {
  /** Receives each line without its line end. The bytes are valid only during the call. */
  readonly onLine: (line: Buffer) => void;
  /** Called once at the end of each line that was skipped as too long, with its size in bytes. */
  readonly onSkipped?: ((bytes: number) => void) | undefined;
  /** Longest line, in bytes without its LF; a CR before that counts. Default: 16 MiB. */
  readonly maxLineBytes?: number | undefined;
}

interface LineSplitter {
  /** Takes the next bytes. They need to be valid only during the call. */
  readonly push: (chunk: Buffer) => void;
  /** Delivers a last line without a line end. */
  readonly end: () => void;
  /** Bytes held in memory for an unfinished line; never more than `maxLineBytes`. */
  readonly bufferedBytes: number;
}

/** Splits a stream of bytes into lines, wherever the chunks are cut. Only a line that is cut is copied. */
export function createLineSplitter(options: LineSplitterOptions): LineSplitter {
  const { onLine, onSkipped, maxLineBytes = MAX_LINE_BYTES } = options;
  let held = NOTHING;
  let used = 0;
  // Size so far of a line already known to be too long; otherwise 0.
  let dropped = 0;

  const hold = (chunk: Buffer, start: number, stop: number): void => {
    const needed = used + stop - start;
    if (dropped > 0 || needed > maxLineBytes) {
      dropped += needed;
      used = 0;
      held = NOTHING;
      return;
    }
    if (needed > held.length) {
      // Doubling keeps copying linear even if chunks of a few bytes build up a long line.
      const capacity = Math.min(maxLineBytes, Math.max(FIRST_CAPACITY, needed, held.length * 2));
      const grown = Buffer.allocUnsafe(capacity);
      held.copy(grown, 0, 0, used);
      held = grown;
    }
    chunk.copy(held, used, start, stop);
    used = needed;
  };

  const finishHeldLine = (): void => {
    if (dropped > 0) {
      const bytes = dropped;
      dropped = 0;
      onSkipped?.(bytes);
      return;
    }
    const line = held.subarray(0, used);
    used = 0;
    if (held.length > KEPT_CAPACITY) held = NOTHING;
    onLine(withoutCarriageReturn(line));
  };

  return {
    push: (chunk) => {
      let start = 0;
      for (;;) {
        const stop = chunk.indexOf(NEWLINE, start);
        if (stop === -1) break;
        if (used === 0 && dropped === 0 && stop - start <= maxLineBytes) {
          onLine(withoutCarriageReturn(chunk.subarray(start, stop)));
        } else {
          hold(chunk, start, stop);
          finishHeldLine();
        }
        start = stop + 1;
      }
      if (start < chunk.length) hold(chunk, start, chunk.length);
    },
    end: () => {
      if (used > 0 || dropped > 0) finishHeldLine();
      held = NOTHING;
    },
    get bufferedBytes() {
      return held.length;
    },
  };
}

function withoutCarriageReturn(line: Buffer): Buffer {
  return line[line.length - 1] === CARRIAGE_RETURN ? line.subarray(0, -1) : line;
}

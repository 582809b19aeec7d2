/** Lines longer than this are skipped: 16 MiB, the size up to which an agent's own lines are known to be whole. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;
const FIRST_CAPACITY = 64 * 1024;
/** What a long line made the splitter allocate beyond this is given back once the line is delivered. */
const KEPT_CAPACITY = 1024 * 1024;
const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const NOTHING = Buffer.alloc(0);

interface LineSplitterOptions {
  /** Gets each line without its line end. The bytes are valid during the call only. */
  readonly onLine: (line: Buffer) => void;
  /** Told once for each line over the bound, when its end is reached, with its size in bytes. */
  readonly onSkipped?: ((bytes: number) => void) | undefined;
  /** In bytes, the line end not counted (of CRLF only the LF). 16 MiB if not given. */
  readonly maxLineBytes?: number | undefined;
}

interface LineSplitter {
  /** Takes the next bytes. Nothing of `chunk` is kept after the call; the caller may reuse it. */
  readonly push: (chunk: Buffer) => void;
  /** Delivers a last line that has no line end. */
  readonly end: () => void;
  /** Bytes of memory held for a line whose end has not come yet; never over the bound. */
  readonly bufferedBytes: number;
}

/**
 * Cuts a stream of bytes into lines, wherever the chunks happen to be cut.
 * Lines are handed out as bytes, so that a character split between chunks is whole again before
 * anybody decodes it. A line that lies within one chunk is not copied.
 */
export function createLineSplitter(options: LineSplitterOptions): LineSplitter {
  const { onLine, onSkipped, maxLineBytes = MAX_LINE_BYTES } = options;
  let held = NOTHING;
  let used = 0;
  // Size so far of a line already known to be too long; 0 while there is none.
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
      // Doubling keeps the copying linear even where chunks of a few bytes build up a long line.
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
  return line.at(-1) === CARRIAGE_RETURN ? line.subarray(0, -1) : line;
}

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
  /**
   * Takes the next bytes. They must stay as they are until a chunk was pushed that does not begin in
   * memory where they end.
   */
  readonly push: (chunk: Buffer) => void;
  /** Delivers a last line that has no line end. */
  readonly end: () => void;
  /** Bytes of memory held for a line whose end has not come yet; never over the bound. */
  readonly bufferedBytes: number;
}

/**
 * Cuts a stream of bytes into lines, wherever the chunks happen to be cut.
 * Lines are handed out as bytes, so that a character split between chunks is whole again before
 * anybody decodes it. Only a line that does not lie in memory in one piece is copied.
 */
export function createLineSplitter(options: LineSplitterOptions): LineSplitter {
  const { onLine, onSkipped, maxLineBytes = MAX_LINE_BYTES } = options;
  let held = NOTHING;
  let used = 0;
  /** An unfinished line, where the caller has it. */
  let begun: Buffer | null = null;
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
      const bytes = begun === null ? chunk : joined(begun, chunk);
      // Searched through already, where it still is in one piece with the chunk.
      let from = bytes.length - chunk.length;
      if (begun !== null && from === 0) hold(begun, 0, begun.length);
      begun = null;
      let start = 0;
      for (;;) {
        const stop = bytes.indexOf(NEWLINE, from);
        if (stop === -1) break;
        if (used === 0 && dropped === 0 && stop - start <= maxLineBytes) {
          onLine(withoutCarriageReturn(bytes.subarray(start, stop)));
        } else {
          hold(bytes, start, stop);
          finishHeldLine();
        }
        start = stop + 1;
        from = start;
      }
      if (start === bytes.length) return;
      if (used === 0 && dropped === 0 && bytes.length - start <= maxLineBytes) {
        begun = bytes.subarray(start);
      } else {
        hold(bytes, start, bytes.length);
      }
    },
    end: () => {
      if (begun !== null) hold(begun, 0, begun.length);
      begun = null;
      if (used > 0 || dropped > 0) finishHeldLine();
      held = NOTHING;
    },
    get bufferedBytes() {
      return held.length;
    },
  };
}

/** Both in one where the second begins in memory where the first ends; otherwise the second. */
function joined(first: Buffer, second: Buffer): Buffer {
  const end = first.byteOffset + first.length;
  return first.buffer === second.buffer && end === second.byteOffset
    ? Buffer.from(first.buffer, first.byteOffset, first.length + second.length)
    : second;
}

function withoutCarriageReturn(line: Buffer): Buffer {
  return line[line.length - 1] === CARRIAGE_RETURN ? line.subarray(0, -1) : line;
}

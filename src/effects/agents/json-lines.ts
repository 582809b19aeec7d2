import { exceedsBounds, type JsonObject, parseObject } from '../files/json-fields.ts';
import { createLineSplitter } from '../files/line-splitter.ts';
import { isBraced } from './event-fields.ts';

interface JsonLines {
  push(chunk: Buffer): void;
  end(): void;
  /** Returns the number of lines that were too long. */
  skippedLines(): number;
  /** Returns the number of lines that were nested too deeply, or in an unexpected form. */
  brokenLines(): number;
}

interface JsonLinesOptions {
  readonly onEvent: (event: JsonObject) => void;
  /** Called with each line that is not a JSON object. */
  readonly onOther?: ((line: Buffer) => void) | undefined;
  /** Returns the part of a line to parse: '' for a line without interest, null if it cannot be read. */
  readonly select?: ((line: Buffer) => string | null) | undefined;
  readonly maxLineBytes?: number | undefined;
}

/** Splits the output of an agent into lines, and reads those that are JSON objects. Never throws. */
export function createJsonLines({
  onEvent,
  onOther,
  select,
  maxLineBytes,
}: JsonLinesOptions): JsonLines {
  let skipped = 0;
  let broken = 0;
  const readLine = (line: Buffer): void => {
    if (!isBraced(line)) {
      onOther?.(line);
      return;
    }
    // An error must be caught here, because it would end the driver.
    try {
      const json = select === undefined ? line.toString() : select(line);
      if (json === '') return;
      const event = json === null ? null : parseObject(json);
      if (event !== null) onEvent(event);
      else if (json === null || exceedsBounds(json)) broken += 1;
    } catch {
      broken += 1;
    }
  };
  const lines = createLineSplitter({
    onLine: readLine,
    onSkipped: () => {
      skipped += 1;
    },
    maxLineBytes,
  });
  return {
    push: lines.push,
    end: lines.end,
    skippedLines: () => skipped,
    brokenLines: () => broken,
  };
}

import { withoutControls } from '../../core/text/untrusted-text.ts';
import { exceedsBounds, type JsonObject, parseObject } from '../files/json-fields.ts';
import { createLineSplitter } from '../files/line-splitter.ts';
import { isBraced } from './event-fields.ts';

interface JsonLinesOptions {
  /** `isEmbedded`: other text stood before or after the event in its line. */
  readonly onEvent: (event: JsonObject, isEmbedded: boolean) => void;
  /** Called with each line that contains no event, except for lines that begin with `{` and end with `}`. */
  readonly onOther?: ((line: Buffer) => void) | undefined;
}

const EVENT = Buffer.from('{"type":"');
const ESCAPE = 0x1b;
const RIGHT_BRACE = 0x7d;
/** What a shell, a status line or a terminal writes before or after an event is not longer than this. */
const MAX_NOISE_BYTES = 512;

/**
 * Returns what may be an event in a line with other text before it, and control sequences of a terminal after it; null
 * if nothing looks like an event.
 */
function eventIn(line: Buffer): string | null {
  const start = line.indexOf(EVENT);
  if (start === -1) return null;
  // JSON contains no bare escape, but the title of a terminal that follows one may contain a brace.
  const noise = line.indexOf(ESCAPE, start);
  const end = line.lastIndexOf(RIGHT_BRACE, noise === -1 ? line.length : noise) + 1;
  const isNear = start <= MAX_NOISE_BYTES && line.length - end <= MAX_NOISE_BYTES;
  if (end < start || !isNear) return null;
  return withoutControls(line.toString('utf8', end)).trim() === ''
    ? line.toString('utf8', start, end)
    : null;
}

/** Splits the output of an agent into lines, and reads those that are JSON objects. Never throws. */
export function createJsonLines({ onEvent, onOther }: JsonLinesOptions) {
  let skipped = 0;
  let broken = 0;
  /** Reads a line as an event; false if it is no JSON object. `broken` counts what is too deep, too large or odd. */
  const read = (json: string, isEmbedded: boolean): boolean => {
    // An error that is not caught here would end ralph.
    try {
      const event = parseObject(json);
      if (event !== null) onEvent(event, isEmbedded);
      else if (exceedsBounds(json)) broken += 1;
      else return false;
    } catch {
      broken += 1;
    }
    return true;
  };
  const readLine = (line: Buffer): void => {
    const braced = isBraced(line);
    if (braced && read(line.toString(), false)) return;
    const inner = eventIn(line);
    if (inner !== null && read(inner, true)) return;
    if (!braced) onOther?.(line);
  };
  const lines = createLineSplitter({
    onLine: readLine,
    onSkipped: () => {
      skipped += 1;
    },
  });
  return {
    push: lines.push,
    end: lines.end,
    /** Returns the number of lines that were too long. */
    skippedLines: (): number => skipped,
    /** Returns the number of lines that were nested too deeply, or in an unexpected form. */
    brokenLines: (): number => broken,
  };
}

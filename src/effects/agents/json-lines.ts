import { exceedsBounds, type JsonObject, parseObject } from '../files/json-fields.ts';
import { createLineSplitter } from '../files/line-splitter.ts';
import { isBraced } from './event-fields.ts';

interface JsonLinesOptions {
  /** `isEmbedded`: other text stood before the event in its line. */
  readonly onEvent: (event: JsonObject, isEmbedded: boolean) => void;
  /** Called with each line that is not a JSON object. */
  readonly onOther?: ((line: Buffer) => void) | undefined;
}

const EVENT = Buffer.from('{"type":"');
/** What a terminal adds around an event: a byte order mark, or escape sequences for the cursor, a mode or the title. */
const NOISE =
  '(?:\\ufeff|\\u00ef\\u00bb\\u00bf|[ \\t\\r]|\\u001b(?:\\[[0-?]*[ -/]*[@-~]|\\][^\\u0007\\u001b]*(?:\\u0007|\\u001b\\\\)|[ -/]+[0-~]|[0-Z\\\\^-~]))+';
const NOISE_BEFORE = new RegExp(`^${NOISE}`);
const NOISE_BEHIND = new RegExp(`${NOISE}$`);
/** Noise that a status line or a shell writes is not longer than this. */
const MAX_NOISE_BYTES = 512;

/**
 * Returns the event in a line to which a shell or a status line has added text before or after the event; null if there
 * is none.
 */
function eventIn(line: Buffer): { readonly part: Buffer; readonly isEmbedded: boolean } | null {
  const brace = line.indexOf('{');
  if (brace === -1) return null;
  const isNoise =
    brace <= MAX_NOISE_BYTES && line.toString('utf8', 0, brace).replace(NOISE_BEFORE, '') === '';
  const inner = line.indexOf(EVENT, isNoise ? brace + 1 : brace);
  const whole = isNoise ? eventFrom(line, brace) : null;
  if (whole !== null) return { part: whole, isEmbedded: false };
  const part = inner === -1 || inner > MAX_NOISE_BYTES ? null : eventFrom(line, inner);
  return part === null ? null : { part, isEmbedded: true };
}

/** Returns the event from an index of a line to its end, without noise; null if there is no event. */
function eventFrom(line: Buffer, start: number): Buffer | null {
  const last = Math.max(start, line.length - MAX_NOISE_BYTES);
  const noise = NOISE_BEHIND.exec(line.toString('latin1', last))?.[0] ?? '';
  const part = line.subarray(start, line.length - noise.length);
  return isBraced(part) && parseObject(part.toString()) !== null ? part : null;
}

/** Splits the output of an agent into lines, and reads those that are JSON objects. Never throws. */
export function createJsonLines({ onEvent, onOther }: JsonLinesOptions) {
  let skipped = 0;
  let broken = 0;
  /** Reads a line as an event; false if it is no JSON object. Counts it as broken if its form is unexpected. */
  const read = (line: Buffer, isEmbedded = false): boolean => {
    // An error must be caught here, because it would end the driver.
    try {
      const json = line.toString();
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
    if (braced && read(line)) return;
    const inner = eventIn(line);
    if (inner !== null) read(inner.part, inner.isEmbedded);
    else if (!braced) onOther?.(line);
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

import { StringDecoder } from 'node:string_decoder';

/** Returns the end of a text within `maxBytes` bytes of UTF-8, starting at a whole character. */
export function tailWithin(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes || Buffer.byteLength(text) <= maxBytes) return text;
  if (maxBytes <= 0) return '';
  // Every character takes at least one byte, so no more than this can fit.
  const bytes = Buffer.from(text.slice(-maxBytes));
  let start = Math.max(0, bytes.length - maxBytes);
  while (((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return bytes.toString('utf8', start);
}

/** White space other than single spaces between words. */
const FOLDABLE = /^\s|\s$|\s\s|[^\S ]/;

/** Returns one line of at most `maxChars` characters, with `…` at the end if something was cut. */
export function shortLine(text: string, maxChars: number): string {
  if (text.length <= maxChars && !FOLDABLE.test(text)) return text;
  // Fold only a few hundred characters, not the whole of a file that is being written.
  const head = text.trimStart().slice(0, maxChars * 4);
  const line = head.replace(/\s+/g, ' ').trimEnd();
  const cut = line.length > maxChars || head.length < text.trim().length;
  // A copy, because a slice would keep the whole text in memory.
  return copyOf(cut ? `${withoutHalf(line.slice(0, maxChars - 1))}…` : line);
}

/** Drops half a surrogate pair, and half a word if others are left: it could be a credential that nothing masks. */
function withoutHalf(text: string): string {
  return text.replace(/[\uD800-\uDBFF]$/, '').replace(/ [!-~]*$/, '');
}

/** Returns the first line that is not blank, at most `maxChars` characters. */
export function firstLine(text: string, maxChars: number): string {
  const start = text.trimStart();
  const stop = start.indexOf('\n');
  return shortLine(stop === -1 ? start : start.slice(0, stop), maxChars);
}

function copyOf(text: string): string {
  return Buffer.from(text).toString();
}

/** Collects text in bounded memory: its first `headBytes` bytes and its last `tailBytes` bytes of UTF-8. */
export function createEndsText(headBytes: number, tailBytes: number) {
  let head = '';
  let isFull = false;
  let further = 0;
  const tail = createTailText(tailBytes, '');
  return {
    append(part: string): void {
      const start = isFull ? '' : headWithin(part, headBytes - Buffer.byteLength(head));
      head += start;
      if (start.length === part.length) return;
      isFull = true;
      const rest = part.slice(start.length);
      further += Buffer.byteLength(rest);
      tail.append(rest);
    },
    /** Returns the whole text or, if its middle is missing, both ends and a line that counts the missing bytes. */
    read(): string {
      const left = further - tailBytes;
      return `${head}${left > 0 ? `\n[${left} bytes are left out]\n` : ''}${tail.read()}`;
    },
  };
}

/** Returns the beginning of a text within `maxBytes` bytes of UTF-8, ending with a whole character. */
export function headWithin(text: string, maxBytes: number): string {
  if (Buffer.byteLength(text) <= maxBytes) return text;
  // A copy, because a slice would keep the whole text in memory.
  return new StringDecoder().write(Buffer.from(text.slice(0, maxBytes)).subarray(0, maxBytes));
}

interface TailText {
  readonly append: (part: string) => void;
  /** Returns the appended parts, or only their last `maxBytes` bytes; empty if nothing was appended. */
  readonly read: (maxBytes?: number) => string;
}

/** Collects parts joined by `separator`, in bounded memory: only the last `maxBytes` are kept. */
export function createTailText(maxBytes: number, separator: string): TailText {
  let text = '';
  return {
    append: (part) => {
      text = text === '' ? part : text + separator + part;
      // Cut only now and then: cutting at each append would copy the whole text each time.
      if (text.length > 2 * maxBytes) text = tailWithin(text, maxBytes);
    },
    read: (bytes = maxBytes) => tailWithin(text, Math.min(bytes, maxBytes)),
  };
}

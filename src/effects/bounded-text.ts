/** The end of a text within `maxBytes` bytes of UTF-8, beginning with a whole character. */
export function tailWithin(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes || Buffer.byteLength(text) <= maxBytes) return text;
  if (maxBytes <= 0) return '';
  // No character takes less than a byte, so no more than this many can fit.
  const bytes = Buffer.from(text.slice(-maxBytes));
  let start = Math.max(0, bytes.length - maxBytes);
  while (((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return bytes.toString('utf8', start);
}

/** White space that one line does not have: anything but single blanks between words. */
const FOLDABLE = /^\s|\s$|\s\s|[^\S ]/;

/** One line of at most `maxChars` characters, `…` at its end where something was cut off. */
export function oneLine(text: string, maxChars: number): string {
  if (text.length <= maxChars && !FOLDABLE.test(text)) return text;
  // Folding the white space of a few hundred characters, not of a whole file that is being written.
  const head = text.trimStart().slice(0, maxChars * 4);
  const line = head.replace(/\s+/g, ' ').trimEnd();
  const cut = line.length > maxChars || head.length < text.trim().length;
  // Half a character may not stay; and a slice would keep the whole text behind it in memory.
  return cut
    ? copyOf(`${line.slice(0, maxChars - 1).replace(/[\uD800-\uDBFF]$/, '')}…`)
    : copyOf(line);
}

/** The first line with words in it, of at most `maxChars` characters. */
export function firstLine(text: string, maxChars: number): string {
  const start = text.trimStart();
  const stop = start.indexOf('\n');
  return oneLine(stop === -1 ? start : start.slice(0, stop), maxChars);
}

function copyOf(text: string): string {
  return Buffer.from(text).toString();
}

interface TailText {
  readonly append: (part: string) => void;
  /** What was appended, its end kept within the bound; the empty text if nothing was. */
  readonly read: (maxBytes?: number) => string;
}

/** Gathers parts, joined by `separator`, in bounded memory: the end within `maxBytes` is kept. */
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

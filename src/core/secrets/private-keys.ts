import { MASK } from './mask.ts';

/** Matches the first or last line of a private key, in PEM form or in the form of PuTTY. */
const KEY_BORDER =
  /-----(BEGIN|END) [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|Private-(Lines): \d{1,4}(?!\d)/g;

/** Masks private keys. If the end of a key was cut off, it masks the lines that remain. */
export function maskPrivateKeys(text: string): string {
  if (!text.includes('-----BEGIN ') && !text.includes('Private-Lines: ')) return text;
  let masked = '';
  let from = 0;
  const borders = [...text.matchAll(KEY_BORDER)];
  borders.forEach((border, index) => {
    const isPem = border[1] === 'BEGIN';
    if ((!isPem && border[2] === undefined) || border.index < from) return;
    const start = border.index + border[0].length;
    if (text.startsWith(MASK, start)) return;
    const next = borders[index + 1];
    const isClosed = isPem && next?.[1] === 'END';
    const end = isClosed ? next.index + next[0].length : endOfKeyLines(text, start);
    if (end === start) return;
    masked += `${text.slice(from, start)}${MASK}`;
    from = end;
  });
  return masked + text.slice(from);
}

/** Matches a line of a key, or of the fields above it. The line break can be escaped: a backslash and `n`. */
const KEY_LINE =
  /[ \t]*(?:\r?\n|(?:\\{1,3}r)?\\{1,3}n)[ \t>|+"']*((?:Proc-Type|DEK-Info|Version|Comment|Charset): [^\n\\]*|[A-Za-z0-9+/=]*)(?=[\r\n\\"',…]|$)/y;

function endOfKeyLines(text: string, start: number): number {
  let end = start;
  let read = start;
  for (;;) {
    KEY_LINE.lastIndex = read;
    const line = KEY_LINE.exec(text);
    if (line === null) return end;
    read += line[0].length;
    if (line[1] !== '') end = read;
  }
}

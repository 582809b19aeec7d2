/** What acts on a terminal, turns a line round, or is not seen: OSC 52, a title, C1, bidi, tags. */
export const HOSTILE =
  'a\u001b]52;c;SGk=\u0007b\u001b]0;T\u0007c\u009b31md\u0085e\u202ef\u2066g\u200bh\u2060i\ufeffj\u{e0041}k\u007fl\u2028m';

/** One of them, raw. Tabs, newlines and what joins emoji are none. */
const RAW =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2064\u2066-\u206f\ufeff]|\udb40[\udc00-\udc7f]/;

/** Where a text holds the first of them, with what stands around it; null where it holds none. */
export function hostileSign(text: string): string | null {
  const found = RAW.exec(text);
  if (found === null) return null;
  return JSON.stringify(text.slice(Math.max(0, found.index - 30), found.index + 30));
}

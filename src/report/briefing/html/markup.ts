import { withoutControls } from '../../../core/text/untrusted-text.ts';

/** A piece of HTML that is inserted without escaping. Untrusted text gets into it only through `html`. */
export interface Markup {
  readonly markup: string;
}

type Part = Markup | string | number | readonly Part[];

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Removes control characters, too, since a page may be printed on a terminal. */
function escaped(text: string): string {
  return withoutControls(text).replace(/[&<>"']/g, (sign) => ENTITIES[sign] ?? '');
}

/** A template tag that makes HTML. It escapes each string that is inserted, and inserts `Markup` unchanged. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  let markup = strings[0] ?? '';
  parts.forEach((part, index) => {
    markup += written(part) + (strings[index + 1] ?? '');
  });
  return { markup };
}

function written(part: Part): string {
  if (typeof part === 'string') return escaped(part);
  if (typeof part === 'number') return String(part);
  if ('markup' in part) return part.markup;
  return part.map(written).join('');
}

export const NOTHING: Markup = { markup: '' };

import { withoutControls } from '../../core/material.ts';

/** A piece of a page, safe to stand in one: `html` makes it, and escapes what it is given. */
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

/**
 * What was said by anybody, fit to stand between tags and in the quotes of an attribute; a page may
 * also be shown on a terminal.
 */
function escaped(text: string): string {
  return withoutControls(text).replace(/[&<>"']/g, (sign) => ENTITIES[sign] ?? '');
}

/** Makes a piece of a page of a template: strings put into it are escaped, pieces stand as they are. */
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

/** Nothing. */
export const NOTHING: Markup = { markup: '' };

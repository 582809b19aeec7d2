import { readJsonLines, readJsonList } from './json-list.ts';
import type { ReadList } from './list-item.ts';
import { readMarkdownList } from './markdown-list.ts';

export const LIST_MAX_ITEMS = 5_000;

/** Reads a list from the text of a file. `sections` are headings in Markdown, or a tag in JSON with several lists. */
export function readList(file: string, text: string, sections: readonly string[] = []): ReadList {
  return checkedList(file, readByName(file, text, sections));
}

/** Returns a list, or its problems if it has too many items or equal ids. */
export function checkedList(file: string, read: ReadList): ReadList {
  if ('problems' in read) return read;
  const { items } = read.list;
  if (items.length > LIST_MAX_ITEMS) {
    const problem = `${file} has ${items.length} items, and ralph work takes at most ${LIST_MAX_ITEMS}.`;
    return { problems: [problem] };
  }
  const seen = new Set<string>();
  const twice = new Set<string>();
  for (const { id } of items) (seen.has(id) ? twice : seen).add(id);
  if (twice.size === 0) return read;
  const ids = [...twice].join(', ');
  return { problems: [`${file} expects an id of its own for each item; found twice: ${ids}.`] };
}

function readByName(file: string, text: string, sections: readonly string[]): ReadList {
  if (/\.jsonl$/i.test(file)) return readJsonLines(file, text);
  if (/\.json$/i.test(file)) return readJsonList(file, text, sections);
  return readMarkdownList(file, text, sections);
}

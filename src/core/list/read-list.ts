import { readJsonLines, readJsonList } from './json-list.ts';
import type { ListItem, ReadList, TaskList } from './list-item.ts';
import { readMarkdownList } from './markdown-list.ts';

export const LIST_MAX_ITEMS = 5_000;

/** Reads a list from the text of a file. `sections`: headings in Markdown, or the key of one list in JSON. */
export function readList(file: string, text: string, sections: readonly string[] = []): ReadList {
  return checkedList(file, readByName(file, text, sections));
}

/** Returns a list, or its problems if it has too many items, equal ids, or items that wait for each other. */
export function checkedList(file: string, read: ReadList): ReadList {
  if ('problems' in read) return read;
  const problems = listProblems(file, read.list);
  return problems.length > 0 ? { problems } : read;
}

function readByName(file: string, text: string, sections: readonly string[]): ReadList {
  if (/\.jsonl$/i.test(file)) {
    if (sections.length === 0) return readJsonLines(file, text);
    return { problems: [`--section expects a list in JSON or Markdown; ${file} has JSON lines.`] };
  }
  if (/\.json$/i.test(file)) return readJsonList(file, text, sections);
  return readMarkdownList(file, text, sections);
}

function listProblems(file: string, { items }: TaskList): readonly string[] {
  if (items.length > LIST_MAX_ITEMS) {
    return [`${file} has ${items.length} items, and ralph work takes at most ${LIST_MAX_ITEMS}.`];
  }
  const seen = new Set<string>();
  const twice = new Set<string>();
  for (const { id } of items) (seen.has(id) ? twice : seen).add(id);
  if (twice.size > 0) {
    return [
      `${file} expects an id of its own for each item; found twice: ${[...twice].join(', ')}.`,
    ];
  }
  const circle = circleIn(items);
  return circle === null
    ? []
    : [
        `${file} has items that wait for each other: ${circle.join(' → ')}. Remove one of these blockers.`,
      ];
}

/** Returns the ids of items that wait for each other in a circle, with the first id again at the end; null for none. */
function circleIn(items: readonly ListItem[]): readonly string[] | null {
  const open = new Map(
    items.filter(({ standing }) => standing !== 'done').map((item) => [item.id, item]),
  );
  const clear = new Set<string>();
  for (const { id: root } of items) {
    // The path is a list instead of a recursion, since a chain of blockers may be as long as the list of items.
    const path = [{ id: root, next: 0 }];
    const onPath = new Set([root]);
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const blocker = clear.has(top.id) ? undefined : open.get(top.id)?.blockers[top.next];
      if (blocker === undefined) {
        clear.add(top.id);
        onPath.delete(top.id);
        path.pop();
        continue;
      }
      top.next += 1;
      if (onPath.has(blocker)) {
        const ids = path.map(({ id }) => id);
        return [...ids.slice(ids.indexOf(blocker)), blocker];
      }
      if (!open.has(blocker) || clear.has(blocker)) continue;
      path.push({ id: blocker, next: 0 });
      onPath.add(blocker);
    }
  }
  return null;
}

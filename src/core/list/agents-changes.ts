import { standingOfWord } from './done-words.ts';
import { type Edit, type ListItem, type ReadList, type TaskList, withEdits } from './list-item.ts';

/** The text of a task list that is kept after an agent may have changed the list's file. */
export interface KeptList {
  readonly text: string;
  readonly what:
    | 'unchanged'
    /** The agent's version is kept, with its notes and new items. */
    | 'kept'
    /** The agent's version is kept, but done marks that ralph has not set were put back. */
    | 'marks-put-back'
    /** The whole file was put back as it was before the agent changed it. */
    | 'put-back';
  /** Why the whole file was put back, or null. */
  readonly why: string | null;
}

/** Decides which of an agent's changes to a list are kept. `after` is null if the file cannot be read. */
export function keptOf(before: TaskList, after: ReadList | null, whyUnread: string): KeptList {
  const putBack = (why: string): KeptList => ({ text: before.text, what: 'put-back', why });
  if (after === null) return putBack(whyUnread);
  if ('problems' in after) return putBack(after.problems[0] ?? whyUnread);
  const { list } = after;
  if (list.text === before.text) return { text: before.text, what: 'unchanged', why: null };
  const now = new Map(list.items.map((item) => [item.id, item]));
  const edits: Edit[] = [];
  for (const item of before.items) {
    const same = now.get(item.id);
    if (same === undefined) return putBack(`the item ${item.id} is gone`);
    if (item.essence !== same.essence) return putBack(`the item ${item.id} was rewritten`);
    if (item.isWanted !== same.isWanted) {
      return putBack(
        `the item ${item.id} was moved ${item.isWanted ? 'out of its' : 'into the'} section`,
      );
    }
    const back = marksBack(before, item, list, same);
    if (back === null) return putBack(`the item ${item.id} has other done fields`);
    edits.push(...back);
  }
  const were = new Set(before.items.map(({ id }) => id));
  for (const item of list.items) if (!were.has(item.id)) edits.push(...opened(list, item));
  const text = withEdits(list.text, edits);
  return { text, what: edits.length > 0 ? 'marks-put-back' : 'kept', why: null };
}

/** Returns the edits that mark a new item as open, since no task can have completed it. */
function opened({ text }: TaskList, { marks }: ListItem): readonly Edit[] {
  return marks.flatMap(({ from, to }) => {
    const mark = text.slice(from, to);
    if (mark === 'true') return [{ from, to, text: 'false' }];
    if (/^x$/i.test(mark)) return [{ from, to, text: ' ' }];
    // The word may be written with JSON escapes, so it is decoded first.
    return mark.startsWith('"') && standingOfWord(JSON.parse(mark)) === 'done'
      ? [{ from, to, text: '"open"' }]
      : [];
  });
}

/** Returns the edits that restore the done marks of an item; null if its marks are in other places than before. */
function marksBack(
  before: TaskList,
  was: ListItem,
  after: TaskList,
  now: ListItem,
): readonly Edit[] | null {
  const then = new Map(
    was.marks.map(({ place, from, to }) => [place, before.text.slice(from, to)]),
  );
  if (then.size !== now.marks.length) return null;
  const edits: Edit[] = [];
  for (const { place, from, to } of now.marks) {
    const text = then.get(place);
    if (text === undefined) return null;
    if (after.text.slice(from, to) !== text) edits.push({ from, to, text });
  }
  return edits;
}

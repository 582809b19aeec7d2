import { readJsonList } from './json-list.ts';
import type { ListItem, TaskList } from './list-item.ts';
import type { ItemRecord } from './list-state.ts';

/** Returns an item as JSON. The commands that reserve items for this run get it on standard input; ralph stores it. */
export function itemAsJson({ id, name, text }: ListItem): string {
  // The text of an item of a Markdown list is not JSON.
  const fields: object = text.startsWith('{') ? JSON.parse(text) : { text };
  return JSON.stringify({ ...fields, id, title: name });
}

/**
 * Matches fields that may change while other items are worked on, or by a claim of ralph's own, and that do not say what
 * an item asks for.
 */
const PASSING =
  /^(?:status|state|labels|priority|owner|assign(?:ees?|ed).*|claimed.*|dependsOn|depends_on|dependencies|dependents|blockedBy|notes?|comments?|(?:last_?)?(?:[uU]pdated|[eE]dited|[mM]odified).*|.*(?:_at|At|_count))$/;

/** Whether two versions of an item ask for the same work. */
export function asksTheSame(one: ListItem, other: ListItem): boolean {
  return asked(itemAsJson(one)) === asked(itemAsJson(other));
}

/** Whether an item still asks for the work that its task was started for. Done marks do not matter. */
export function asksAsRecorded({ kept }: ItemRecord, item: ListItem): boolean {
  if (kept === undefined) return true;
  return [item.text, item.essence].some(
    (text) => asked(itemAsJson({ ...item, text })) === asked(kept),
  );
}

function asked(json: string): string {
  const fields: object = JSON.parse(json);
  return JSON.stringify(Object.entries(fields).filter(([name]) => !PASSING.test(name)));
}

/** Reduces the stored JSON of an item to its id and title, which is enough once no command needs the item any more. */
export function nameAsJson(kept = '{}'): string {
  const { id, title }: { readonly id?: unknown; readonly title?: unknown } = JSON.parse(kept);
  return JSON.stringify({ id, title });
}

/**
 * Adds what ralph knows about the items to a list that a command (its source) has printed. Items that ralph has done
 * are marked as done, even if the source does not know it. Items that the source no longer prints are added again.
 * Such an item is wanted if ralph has done it and it was `seen` in this run, or if ralph has not finished it and may
 * have hidden it by claiming it for itself (`claimsHide`). Otherwise, a person has withdrawn it.
 */
export function withRecords(
  list: TaskList,
  records: readonly ItemRecord[],
  seen: ReadonlySet<string>,
  claimsHide: boolean,
): TaskList {
  const known = new Map(records.map((record) => [record.id, record]));
  const printed = new Set(list.items.map(({ id }) => id));
  const gone = records.flatMap((record) => {
    if (printed.has(record.id)) return [];
    const isHidden = claimsHide && record.claimed === true;
    const isOver = record.state === 'done' && record.told !== false;
    const isDoneNow = record.state === 'done' && seen.has(record.id);
    const isWanted = isDoneNow || (isHidden && !isOver);
    return keptItem(record).map((item) => ({ ...item, isWanted }));
  });
  const items = [...list.items, ...gone].map((item) =>
    known.get(item.id)?.state === 'done' ? { ...item, standing: 'done' as const } : item,
  );
  return { ...list, items };
}

function keptItem({ kept }: ItemRecord): readonly ListItem[] {
  if (kept === undefined) return [];
  const read = readJsonList('the item', `[${kept}]`, [], false);
  return 'list' in read ? read.list.items.map((item) => ({ ...item, standing: 'open' })) : [];
}

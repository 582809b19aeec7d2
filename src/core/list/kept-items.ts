import { readJsonList } from './json-list.ts';
import type { ListItem, TaskList } from './list-item.ts';
import type { ItemRecord } from './list-state.ts';

/** Returns an item as commands get it on their standard input, and as it is kept. */
export function itemAsJson({ id, name, text }: ListItem): string {
  // An item of a Markdown list has a text that is no JSON.
  const fields: object = text.startsWith('{') ? JSON.parse(text) : { text };
  return JSON.stringify({ ...fields, id, title: name });
}

/** Fields that change while other items are worked on, and ask for nothing. */
const PASSING =
  /^(?:status|state|labels|priority|assignee|dependsOn|depends_on|dependencies|dependents|blockedBy|notes?|comments?|(?:last_?)?(?:updated|edited).*|.*(?:_at|At|_count))$/;

/** Whether two readings of an item ask for the same work. */
export function asksTheSame(one: ListItem, other: ListItem): boolean {
  const asked = (item: ListItem): string => {
    const fields: object = JSON.parse(itemAsJson(item));
    return JSON.stringify(Object.entries(fields).filter(([name]) => !PASSING.test(name)));
  };
  return asked(one) === asked(other);
}

/** Returns what is kept of an item once nobody has to be told of it any more. */
export function nameAsJson(kept = '{}'): string {
  const { id, title }: { readonly id?: unknown; readonly title?: unknown } = JSON.parse(kept);
  return JSON.stringify({ id, title });
}

/**
 * Adds to a printed list what ralph knows of its items. What ralph has done is done, whether the source knows it or not.
 * What the source does not print any more is there again, so that it can be gone on with: a claim may have taken it off.
 * It counts if ralph has done it after it was `seen` in this run, or may have taken it off by a claim (`claimsHide`) and
 * is not through with it; any other one was withdrawn by a person.
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

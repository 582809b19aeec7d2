import { getNodeValue, type Node } from 'jsonc-parser';
import { isObject } from '../text/is-object.ts';
import { DONE_FIELDS, DONE_SWITCHES, doneWordAmong, standingOfWord } from './done-words.ts';
import { withIds } from './item-ids.ts';
import {
  JsonMistake,
  lineAndColumn,
  memberOf,
  membersOf,
  rangeOf,
  readJson,
  readJsonSeries,
} from './json-tree.ts';
import type { DoneMark, Edit, ListItem, ReadList } from './list-item.ts';

/** The fields that may hold a list, in the order in which they are searched. */
const LIST_KEYS = ['userStories', 'stories', 'items', 'features', 'tasks'] as const;
const NAMES = ['title', 'name', 'description'] as const;
/** The fields in which an item holds its steps. */
const STEPS = [
  ...['subtasks', 'acceptanceCriteria', 'acceptance', 'steps', 'tasks', 'actionItems'],
] as const;
/** The fields with the criteria that have to hold. The first one that an item has counts. */
const CRITERIA = ['acceptanceCriteria', 'acceptance', 'steps', 'tasks', 'actionItems'] as const;
const BLOCKERS = ['dependsOn', 'depends_on', 'dependencies', 'blockedBy'] as const;
const CHECKS = ['verification', 'verificationCommands', 'verify', 'gate'] as const;
/** The fields that an agent may write, since they do not change what an item asks for. */
const NOTES = ['notes', 'note', 'comments'];
const PRIORITIES: Readonly<Record<string, number>> = {
  ...{ critical: 0, urgent: 0, high: 1, medium: 2, normal: 2, low: 3 },
  ...{ p0: 0, p1: 1, p2: 2, p3: 3, p4: 4 },
};

/** Reads a list in JSON. `tags`: the key of the one to read of several. `needsMark`: an item must have a done field. */
export function readJsonList(
  file: string,
  text: string,
  tags: readonly string[],
  needsMark = true,
): ReadList {
  const tree = readJson(text);
  if (tree instanceof JsonMistake) return mistaken(file, 'JSON', text, tree);
  const found = listIn(file, tree, tags);
  return 'problem' in found
    ? wrong(found.problem)
    : itemsOf(file, text, found.nodes, found.place, needsMark);
}

/** Reads a list in JSON lines: one object after the other, each with a title. */
export function readJsonLines(file: string, text: string): ReadList {
  const nodes = readJsonSeries(text);
  return nodes instanceof JsonMistake
    ? mistaken(file, 'one JSON object a line', text, nodes)
    : itemsOf(file, text, nodes, 'line');
}

function mistaken(file: string, wanted: string, text: string, mistake: JsonMistake): ReadList {
  const { at, expected } = mistake;
  const { line, column } = lineAndColumn(text, at);
  return wrong(
    `${file} expects ${wanted}; line ${line}, column ${column} has ${shownAt(text, at)} where ${expected} is expected.`,
  );
}

function wrong(problem: string): ReadList {
  return { problems: [problem] };
}

function shownAt(text: string, at: number): string {
  const sign = text.slice(at, at + 12).split(/\s/)[0] ?? '';
  return sign === '' ? 'nothing' : `'${sign}'`;
}

type Found =
  | { readonly nodes: readonly Node[]; readonly place: string }
  | { readonly problem: string };

function listIn(file: string, tree: Node, tags: readonly string[]): Found {
  const tagged = membersOf(tree).flatMap(({ key, value }) => {
    const nodes = itemsIn(memberOf(value, 'tasks'));
    return nodes === null ? [] : [{ key: String(key.value), nodes }];
  });
  if (tags.length === 0) {
    const found = [null, ...LIST_KEYS].flatMap((key) => {
      const nodes = itemsIn(key === null ? tree : memberOf(tree, key));
      return nodes === null ? [] : [{ nodes, place: key ?? 'item' }];
    });
    // An empty list beside a full one says nothing about what is to do. A tag that nobody named, such as an archive or a
    // backlog, does not take its place.
    const plain = found.find(({ nodes }) => nodes.length > 0) ?? found[0];
    if (plain !== undefined) return plain;
  }
  const names = tagged.map(({ key }) => key).join(', ');
  const chosen = tags.length === 0 ? tagged : tagged.filter(({ key }) => tags.includes(key));
  const [only] = chosen;
  if (only !== undefined && chosen.length === 1) {
    return { nodes: only.nodes, place: `${only.key}.tasks` };
  }
  if (tagged.length > 0) {
    return {
      problem: `${file} has several lists (${names}), and one of them is expected: name it with --section.`,
    };
  }
  if (tags.length > 0) {
    return { problem: `--section expects a list ${tags[0]}.tasks in ${file}; found none.` };
  }
  return {
    problem: `${file} expects a list: an array at the top, or under ${LIST_KEYS.join(', ')} or TAG.tasks; found none.`,
  };
}

/** Returns the items of an array; null for any other value. */
function itemsIn(node: Node | undefined): readonly Node[] | null {
  return node?.type === 'array' ? (node.children ?? []) : null;
}

function itemsOf(
  file: string,
  text: string,
  nodes: readonly Node[],
  place: string,
  needsMark = true,
): ReadList {
  const problems: string[] = [];
  const objects: Node[] = [];
  const names: { id: string | null; name: string }[] = [];
  nodes.forEach((node, index) => {
    // The line is counted only for a mistake: to count that of each item would take a second for a long list.
    const where = () =>
      `${file}, line ${lineAndColumn(text, node.offset).line} (${place} ${index + 1})`;
    if (node.type !== 'object') {
      problems.push(`${where()} expects an object with a title; found something else.`);
      return;
    }
    const fields = fieldsOf(node);
    const name = nameIn(fields);
    if (name === undefined) {
      problems.push(`${where()} expects a title, name or description; found none.`);
      return;
    }
    objects.push(node);
    names.push({ id: idIn(fields.id), name });
  });
  if (problems.length > 0) return { problems };
  const style = styleOf(objects);
  if (style === null && objects.length > 0 && needsMark) {
    return wrong(
      `${file} has nothing to tick: at least one item expects ${DONE_SWITCHES.join(', ')} (true or false) or ${DONE_FIELDS.join(', ')}.`,
    );
  }
  const ids = withIds(names);
  const items = objects.map((object, index) =>
    itemOf(text, object, { id: ids[index] ?? '', name: names[index]?.name ?? '' }, style),
  );
  return { list: { text, items } };
}

type Fields = Readonly<Record<string, unknown>>;

function fieldsOf(object: Node): Fields {
  return getNodeValue(object);
}

/** Returns the texts of a field that holds one text or a list of them, except for blank texts. */
function textsIn(value: unknown): readonly string[] {
  return [value].flat().flatMap((each) => textIn(each) ?? []);
}

function textIn(value: unknown): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value : null;
}

function nameIn(fields: Fields): string | undefined {
  return NAMES.flatMap((key) => textIn(fields[key]) ?? [])[0];
}

/** Returns an id as text, which may be written as a number; null for a blank text and for any other value. */
function idIn(value: unknown): string | null {
  const isId = typeof value === 'string' || typeof value === 'number';
  return isId ? String(value).trim() || null : null;
}

/** How a list says that an item is done. */
interface Style {
  /** The field that ralph adds to a done item that has no done field. */
  readonly key: string;
  readonly isSwitch: boolean;
  readonly word: string;
}

function styleOf(objects: readonly Node[]): Style | null {
  const words: string[] = [];
  let first: Pick<Style, 'key' | 'isSwitch'> | null = null;
  for (const object of objects) {
    for (const { key, node } of doneFields(object)) {
      const isSwitch = typeof node.value === 'boolean';
      if (first === null || (isSwitch && !first.isSwitch)) first = { key, isSwitch };
      if (typeof node.value === 'string') words.push(node.value);
    }
  }
  return first === null ? null : { ...first, word: doneWordAmong(words) };
}

interface DoneField {
  readonly key: string;
  readonly node: Node;
}

function doneFields(object: Node): readonly DoneField[] {
  const leaf = (key: string, type: 'boolean' | 'string'): readonly DoneField[] => {
    const node = memberOf(object, key);
    return node?.type === type ? [{ key, node }] : [];
  };
  const switches = DONE_SWITCHES.flatMap((key) => leaf(key, 'boolean'));
  const word = DONE_FIELDS.map((key) => leaf(key, 'string')).find((found) => found.length > 0);
  return [...switches, ...(word ?? [])];
}

function standingOf(fields: readonly DoneField[]): ListItem['standing'] {
  const said = fields.map(({ node: { value } }) =>
    typeof value === 'string' ? standingOfWord(value) : value ? 'done' : 'open',
  );
  return said.includes('done') ? 'done' : said.includes('left-out') ? 'left-out' : 'open';
}

function itemOf(
  text: string,
  object: Node,
  named: Pick<ListItem, 'id' | 'name'>,
  style: Style | null,
): ListItem {
  const fields = fieldsOf(object);
  const own = doneFields(object);
  const steps = stepsOf(object, '');
  const standing = standingOf(own);
  const said = [...own.map((field) => ({ ...field, place: field.key })), ...steps];
  const marks: readonly DoneMark[] = said.map(({ node, place }) => ({ ...rangeOf(node), place }));
  const word = style?.word ?? 'done';
  const ticked = said.flatMap(({ node }): readonly Edit[] => {
    if (node.type === 'boolean') return node.value ? [] : [{ ...rangeOf(node), text: 'true' }];
    const isOpen = standingOfWord(node.value) === 'open';
    return isOpen ? [{ ...rangeOf(node), text: JSON.stringify(word) }] : [];
  });
  const added = own.length === 0 && style !== null ? [addedField(text, object, style)] : [];
  return {
    ...named,
    text: JSON.stringify(withoutMarks(object, []), null, 2),
    essence: JSON.stringify(withoutMarks(object, NOTES)),
    standing,
    blockers: BLOCKERS.flatMap((key) => blockersIn(fields[key])),
    priority: priorityOf(fields.priority),
    lane: null,
    criteria: criteriaOf(fields),
    checks: checksOf(fields),
    createdAt: textIn(fields.created_at) ?? textIn(fields.createdAt),
    isWanted: true,
    marks,
    tick: standing === 'done' ? [] : [...ticked, ...added],
  };
}

function criteriaOf(fields: Fields): readonly string[] {
  const told = CRITERIA.map((key) =>
    [fields[key]].flat().flatMap((each) => (isObject(each) ? nameIn(each) : textIn(each)) ?? []),
  );
  return told.find((texts) => texts.length > 0)?.map((text) => text.trim()) ?? [];
}

type Step = DoneField & { readonly place: string };

function stepsOf(object: Node, above: string): readonly Step[] {
  return STEPS.flatMap((key) => {
    const items = itemsIn(memberOf(object, key)) ?? [];
    return items.flatMap((item, index): readonly Step[] => {
      const place = `${above}${key}[${index}].`;
      const own = doneFields(item).map((field) => ({ ...field, place: place + field.key }));
      return [...own, ...stepsOf(item, place)];
    });
  });
}

/** Returns the edit that adds a field after the last one of an object, or replaces it where it says something else. */
function addedField(text: string, object: Node, { key, isSwitch, word }: Style): Edit {
  const members = membersOf(object);
  const last = members.at(-1);
  const at = last === undefined ? object.offset + 1 : rangeOf(last.value).to;
  const value = isSwitch ? 'true' : JSON.stringify(word);
  const other = memberOf(object, key);
  if (other !== undefined) return { ...rangeOf(other), text: value };
  if (last === undefined) return { from: at, to: at, text: `${JSON.stringify(key)}: ${value}` };
  const [lead = ''] = /\s*$/.exec(text.slice(object.offset, last.key.offset)) ?? [];
  const colon = text.slice(rangeOf(last.key).to, last.value.offset);
  // If an object on one line has a single field, the space before that field belongs to the brace.
  const gap = members.length === 1 && !lead.includes('\n') ? ' ' : lead;
  return { from: at, to: at, text: `,${gap}${JSON.stringify(key)}${colon}${value}` };
}

function withoutMarks(node: Node, but: readonly string[]): unknown {
  if (node.type !== 'object') return getNodeValue(node);
  const left = [...doneFields(node).map(({ key }) => key), ...but];
  const fields = membersOf(node).map(({ key: { value: key }, value }) => {
    const steps = (STEPS as readonly string[]).includes(key) ? itemsIn(value) : null;
    return [key, steps?.map((step) => withoutMarks(step, but)) ?? getNodeValue(value)];
  });
  return Object.fromEntries(fields.filter(([key]) => !left.includes(key)));
}

function blockersIn(value: unknown): readonly string[] {
  return [value].flat().flatMap((each: unknown) => {
    if (!isObject(each)) return idIn(each) ?? [];
    const { type = 'blocks', depends_on_id: other, id } = each;
    return type === 'blocks' ? (idIn(other ?? id) ?? []) : [];
  });
}

function priorityOf(priority: unknown): number {
  if (typeof priority === 'number') return priority;
  return PRIORITIES[textIn(priority)?.trim().toLowerCase() ?? ''] ?? Number.POSITIVE_INFINITY;
}

function checksOf(fields: Fields): readonly string[] {
  const own = CHECKS.flatMap((key) => textsIn(fields[key]));
  const layers = Array.isArray(fields.layers) ? fields.layers.filter(isObject) : [];
  return [...new Set([...own, ...layers.flatMap(({ cmd }) => textsIn(cmd))])];
}

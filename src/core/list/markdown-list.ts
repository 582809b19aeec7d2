import { openBoxLines } from '../completion/plan-file.ts';
import { headingAt, headingName } from '../markdown/heading.ts';
import { COMMENT, endOfHidden } from '../markdown/hidden-lines.ts';
import { firstFew } from '../text/untrusted-text.ts';
import { withIds } from './item-ids.ts';
import type { DoneMark, Edit, ReadList } from './list-item.ts';

/**
 * Matches a checkbox at the start of a list item, in three groups: the part before its sign, the sign, the words. The
 * spaces around a box may be missing, as in `-[ ] Write it` and `- [ ]Write it`. `[...]` and `[->]` are no boxes.
 */
const BOX =
  /^([ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]*\[)(\s*|[^\p{L}\p{N}\s[\]]\p{M}*|[xX])\](?:[ \t]+|(?<=\[[ \txX]+\])(?=[\p{L}\p{N}]|\*\*))(\S.*)$/su;
const LIST_ITEM = /^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]/;
/** Matches an id at the start of an item's words: `T012`, `US-3:`, `1.1`, `2.`, bold or not. */
const ID =
  /^(?:\*\*|__)?([A-Z]{1,8}[-_]?\d+|[A-Za-z]+-\d+|\d+(?:\.\d+)+|\d+(?=[.:)]))[.:)]?(?:\*\*|__)?[.:)]?(?=\s|$)/;
/** Matches the mark `[P]` of an item that may be worked on in parallel with its neighbours. */
const BESIDE = /(?:^|\s)\[P\](?=\s|$)/;
const DEPENDS = /\(depends on ([^)]*)\)/gi;

/** Reads a list in Markdown. Each checkbox that is not nested in another one is an item. */
export function readMarkdownList(
  file: string,
  text: string,
  sections: readonly string[] = [],
): ReadList {
  const { items: raw, headings } = rawItems(text, sections);
  const missing = sections.filter((name) => !headings.has(headingName(name)));
  if (missing.length > 0) {
    return {
      problems: missing.map(
        (name) => `--section expects a heading of ${file}; it has none named '${name}'.`,
      ),
    };
  }
  if (raw.length === 0) {
    return {
      problems: [
        `${file} expects boxes at the beginning of a list item, such as "- [ ] Write it"; found none.`,
      ],
    };
  }
  const tokens = raw.map(({ words }) => ID.exec(words)?.[1] ?? null);
  const names = raw.map(({ words }, index) => {
    const token = tokens[index] ?? null;
    const isOwn = token !== null && tokens.filter((each) => each === token).length === 1;
    return { id: isOwn ? token : null, name: words };
  });
  const ids = withIds(names);
  const lanes = lanesOf(raw);
  const items = raw.map(({ words, lines, boxes, steps, isDone, isWanted }, index) => {
    const whole = lines.join('\n');
    const marks: readonly DoneMark[] = boxes.map(({ from, to }, place) => ({
      ...{ from, to, place: String(place) },
    }));
    const ticks = boxes.flatMap(({ from, to, isOpen }): readonly Edit[] =>
      isOpen ? [{ from, to, text: 'x' }] : [],
    );
    return {
      id: ids[index] ?? '',
      name: words.replace(ID, '').replace(/^[\s:—-]+/, '') || words,
      text: whole,
      essence: lines.map((line) => line.replace(BOX, '$1 ] $3')).join('\n'),
      standing: isDone ? ('done' as const) : ('open' as const),
      blockers: [...whole.matchAll(DEPENDS)].flatMap(([, named = '']) =>
        named.split(/,|\band\b/).flatMap((each) => each.trim() || []),
      ),
      priority: Number.POSITIVE_INFINITY,
      lane: lanes[index] ?? null,
      criteria: steps,
      checks: [],
      createdAt: null,
      isWanted,
      marks,
      tick: isDone ? [] : ticks,
    };
  });
  const read = new Set(raw.flatMap(({ boxes }) => boxes.map(({ line }) => line)));
  const unread = openBoxLines(text, sections).filter((line) => !read.has(line));
  return { list: { text, items, notices: unreadNotice(file, unread) } };
}

/** Tells of lines that look like open boxes and are not read, since they would be missing in a list that is done. */
function unreadNotice(file: string, lines: readonly number[]): readonly string[] {
  if (lines.length === 0) return [];
  return [
    `${file} has open boxes that ralph neither works on nor ticks, in line ${firstFew(lines.map(String))}: an item begins as in "- [ ] Write it".`,
  ];
}

/** Returns the lanes of items. Neighbours with `[P]` under one heading share a lane; each other item has its own. */
function lanesOf(items: readonly RawItem[]): readonly number[] {
  let lane = 0;
  return items.map(({ words, heading }, at) => {
    const above = items[at - 1];
    const isBeside =
      above !== undefined &&
      above.heading === heading &&
      [above.words, words].every((each) => BESIDE.test(each));
    if (!isBeside) lane += 1;
    return lane;
  });
}

interface RawItem {
  readonly words: string;
  /** How many headings are above the item. */
  readonly heading: number;
  readonly lines: string[];
  /** The words of the boxes that are nested in the item. */
  readonly steps: string[];
  readonly boxes: {
    readonly from: number;
    readonly to: number;
    /** The number of the line, counted from 1. */
    readonly line: number;
    readonly isOpen: boolean;
  }[];
  readonly isDone: boolean;
  readonly isWanted: boolean;
}

interface RawList {
  readonly items: readonly RawItem[];
  readonly headings: ReadonlySet<string>;
}

function rawItems(text: string, sections: readonly string[]): RawList {
  // A byte order mark is no part of the first line.
  const read = [...text.matchAll(/(?!^\uFEFF)[^\r\n]*(?:\r\n?|\n|$)/g)];
  const lines = read.map(({ 0: line }) => line.replace(/[\r\n]+$/, ''));
  const wanted = new Set(sections.map(headingName));
  const headings = new Set<string>();
  const items: RawItem[] = [];
  /** The level of the heading whose section is being read; null outside of the wanted sections. */
  let level: number | null = wanted.size === 0 ? 0 : null;
  let current: { readonly item: RawItem; readonly indent: number } | null = null;
  let heading = 0;
  let isDoubtful = false;
  let isAfterBlank = false;
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    const end = isDoubtful ? at : endOfHidden(lines, at);
    if (end === null) isDoubtful = true;
    else if (end > at || COMMENT.test(line)) {
      const hidden = lines.slice(at, end + 1);
      if (current !== null && isNested(line, current.indent)) current.item.lines.push(...hidden);
      else current = null;
      at = end;
      continue;
    }
    const title = headingAt(lines, at);
    if (title !== null && !LIST_ITEM.test(line)) {
      headings.add(title.name);
      heading += 1;
      if (wanted.size > 0 && (level === null || title.level <= level)) {
        level = wanted.has(title.name) ? title.level : null;
      }
      current = null;
      continue;
    }
    if (line.trim() === '') {
      current?.item.lines.push(line);
      isAfterBlank = true;
      continue;
    }
    const [, lead, sign = '', words = ''] = BOX.exec(line) ?? [];
    const indent = indentOf(line);
    const isInside = current !== null && isNested(line, current.indent);
    if (lead !== undefined) {
      const from = (read[at]?.index ?? 0) + lead.length;
      const box = { from, to: from + sign.length, line: at + 1, isOpen: !/[xX]/.test(sign) };
      if (current !== null && isInside) {
        current.item.boxes.push(box);
        current.item.steps.push(words);
      } else {
        const own = { words, heading, lines: [], steps: [], boxes: [box] };
        const item = { ...own, isDone: !box.isOpen, isWanted: level !== null };
        items.push(item);
        current = { item, indent };
      }
    } else if (!isInside && (isAfterBlank || LIST_ITEM.test(line))) current = null;
    isAfterBlank = false;
    current?.item.lines.push(line);
  }
  for (const { lines: own } of items) while (own.at(-1)?.trim() === '') own.pop();
  return { items, headings };
}

/** Whether a line is nested in a list item: it is indented at least two columns further than the item. */
function isNested(line: string, indent: number): boolean {
  return indentOf(line) >= indent + 2;
}

/** Returns how far a line is indented, in columns. */
function indentOf(line: string): number {
  let columns = 0;
  for (const sign of line) {
    if (sign === '\t') columns += 4 - (columns % 4);
    else if (sign === ' ') columns += 1;
    else break;
  }
  return columns;
}

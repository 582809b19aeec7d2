import { BLANK_BOX_ANYWHERE, EMPTY_BOX_LINE, OPEN_BOX_LINE } from '../markdown/checkbox.ts';
import { headingAt, headingName } from '../markdown/heading.ts';
import { shownLines } from '../markdown/hidden-lines.ts';

/** The number of open and of ticked checkboxes in a plan. */
export interface PlanCount {
  readonly open: number;
  readonly done: number;
}

/** How many checkboxes of a plan are ticked, in the form in which the event of a task's end stores it. */
export interface PlanStand {
  /** Relative to the folder in which the agent works. */
  readonly file: string;
  /** The headings below which boxes count; absent if all count. */
  readonly sections?: readonly string[];
  readonly ticked: number;
  /** How many boxes there are; null if the file is missing or cannot be read. */
  readonly boxes: number | null;
  /** Line number, counted from 1; null if no box is open. */
  readonly first_open_line: number | null;
}

/** Matches quote signs and list markers, even nested ones, then a ticked box and a space. */
const TICKED_LINE = /^\s*(?:>\s*)*(?:(?:[-*+]|\d{1,9}[.)])\s+(?:>\s*)*)+\[[xX]\](?:\s|$)/;
const HEADING_OR_ROW = /^[\s>]*(?:#{1,6}\s|\|)/;

/**
 * Counts the checkboxes of a Markdown text, including nested ones. A plan must not count as done while anything in it
 * is open, so open boxes are read generously: even without a list marker or with nothing inside, in a heading or a
 * table, and after a code fence or HTML comment that is never closed. Ticked boxes are read strictly: they must be the
 * first thing of a list item. Boxes inside closed fences and comments are ignored.
 *
 * With `sections`, only boxes under headings with these names count, up to the next heading of the same or a higher
 * level. Upper and lower case do not matter in the names.
 */
export function readPlan(text: string, sections: readonly string[] = []): PlanCount {
  let open = 0;
  let done = 0;
  for (const { isOpen } of boxesIn(text, sections)) {
    if (isOpen) open += 1;
    else done += 1;
  }
  return { open, done };
}

/** Counts the ticked boxes of a plan, by the same rules as `readPlan`. `text` is null if the plan cannot be read. */
export function planStand(
  name: string,
  text: string | null,
  sections: readonly string[],
): PlanStand {
  const file = { file: name, ...(sections.length === 0 ? {} : { sections }) };
  if (text === null) return { ...file, ticked: 0, boxes: null, first_open_line: null };
  const boxes = [...boxesIn(text, sections)];
  const open = boxes.filter(({ isOpen }) => isOpen);
  const [first] = open;
  return {
    ...{ ...file, ticked: boxes.length - open.length, boxes: boxes.length },
    first_open_line: first === undefined ? null : first.line,
  };
}

/** Returns the line numbers of the open checkboxes of a plan, counted from 1, by the same rules as `readPlan`. */
export function openBoxLines(text: string, sections: readonly string[]): readonly number[] {
  return [...boxesIn(text, sections)].flatMap(({ line, isOpen }) => (isOpen ? [line] : []));
}

interface Box {
  /** Line number, counted from 1. */
  readonly line: number;
  readonly isOpen: boolean;
}

function* boxesIn(text: string, sections: readonly string[]): Generator<Box> {
  const lines = text.split(/\r\n?|\n/);
  const names = new Set(sections.map(headingName));
  /** The level of the heading whose section is being read; null outside of the wanted sections. */
  let level: number | null = names.size === 0 ? 0 : null;
  for (const { at, isDoubtful } of shownLines(lines)) {
    const line = lines[at] ?? '';
    const heading = names.size === 0 ? null : headingAt(lines, at);
    if (heading !== null && (level === null || heading.level <= level)) {
      // After a fence that is never closed, a line that looks like the next heading may be code.
      if (names.has(heading.name)) level = heading.level;
      else if (!isDoubtful) level = null;
    }
    if (level === null) continue;
    if (hasOpenBox(line)) yield { line: at + 1, isOpen: true };
    else if (!isDoubtful && TICKED_LINE.test(line)) yield { line: at + 1, isOpen: false };
  }
}

function hasOpenBox(line: string): boolean {
  if (OPEN_BOX_LINE.test(line) || EMPTY_BOX_LINE.test(line)) return true;
  return HEADING_OR_ROW.test(line) && BLANK_BOX_ANYWHERE.test(line);
}

/** Whether the plan is done: it has at least one box, and none is open. */
export function isPlanDone({ open, done }: PlanCount): boolean {
  return done > 0 && open === 0;
}

import type { ChalkInstance } from 'chalk';
import { aligned, columnsOf, fitted, wrapped } from './columns.ts';

const GAP = '  ';

interface TableLook {
  /** The width of the terminal, in columns. */
  readonly width: number;
  readonly paint: Pick<ChalkInstance, 'bold'> | null;
}

/** Returns a table with a heading. If it is wider than the terminal, each row becomes a block of lines. */
export function plainTable(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  { width, paint }: TableLook,
): readonly string[] {
  const [heading = '', ...lines] = aligned([headings, ...rows]);
  const isTooWide = [heading, ...lines].some((line) => columnsOf(line) > width);
  if (isTooWide) return rows.flatMap((cells) => block(headings, cells, width));
  return [paint === null ? heading : paint.bold(heading), ...lines];
}

function block(
  headings: readonly string[],
  [first = '', ...others]: readonly string[],
  width: number,
): readonly string[] {
  const facts = others.map((cell, index) => `${(headings[index + 1] ?? '').toLowerCase()} ${cell}`);
  const lines = wrapped(facts.join(', '), width - GAP.length);
  return [fitted(first, width), ...lines.map((line) => fitted(`${GAP}${line}`, width))];
}

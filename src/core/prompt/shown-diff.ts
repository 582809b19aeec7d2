import { firstFew } from '../text/untrusted-text.ts';
import { excerpts } from './excerpts.ts';

export interface DifferingFile {
  readonly name: string;
  /** The file's part of the diff; null if it was not read. */
  readonly diff: string | null;
}

/** How many files are shown with their diffs. With more, there would be no room for each one's beginning and end. */
const MOST_SHOWN = 60;
/** How many further files are only named. */
const MOST_NAMED = 200;

/**
 * Shows a diff in `room` UTF-16 code units: the beginning and the end of each file's part, and further files only by
 * name. The files named in `first` come first, so other files cannot push them out.
 */
export function shownDiff(
  files: readonly DifferingFile[],
  room: number,
  first: readonly string[] = [],
): string {
  if (files.length === 0) return 'Nothing is different.';
  const firstNames = new Set(first);
  const readable = files
    .filter(({ diff }) => diff !== null)
    .toSorted((a, b) => Number(firstNames.has(b.name)) - Number(firstNames.has(a.name)))
    .slice(0, MOST_SHOWN);
  const others = files.filter((file) => !readable.includes(file));
  const names = others.map(({ name }) => name);
  const named =
    names.length === 0 ? [] : [`Also different: ${firstFew(names, undefined, MOST_NAMED)}`];
  // Each piece is followed by a line end, which needs room, too.
  const left = Math.max(0, room - named.join('').length - readable.length - 1);
  const shown = excerpts(
    readable.map(({ diff }) => diff ?? ''),
    left,
  );
  return [...shown, ...named].join('\n').slice(0, room);
}

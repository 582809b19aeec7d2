import { firstFew } from '../text/untrusted-text.ts';
import { excerpts } from './excerpts.ts';

/** A file that differs between two trees. */
export interface DifferingFile {
  readonly name: string;
  /** Its part of the diff; null if it was not read. */
  readonly diff: string | null;
}

/** So many files are shown with their diffs: of each at least the beginning and the end can be read. */
const MOST_SHOWN = 60;
/** So many more are named. */
const MOST_NAMED = 200;

/**
 * Shows a diff in `room` UTF-16 code units: the head and the tail of each file, and further files by name. The files
 * named in `first` come first: other files cannot push them out.
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
  // Each piece has a line end behind it.
  const left = Math.max(0, room - named.join('').length - readable.length - 1);
  const shown = excerpts(
    readable.map(({ diff }) => diff ?? ''),
    left,
  );
  return [...shown, ...named].join('\n').slice(0, room);
}

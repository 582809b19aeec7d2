import { clip, disarm } from '../text/untrusted-text.ts';
import { shownPath } from './shown-path.ts';

/** What a person has undone or redone, to be told to the agent. */
export interface TakenBack {
  /** The first iteration that was undone; null for a redo. */
  readonly iteration: number | null;
  /** The changed paths, with one character for each byte. */
  readonly paths: readonly string[];
  readonly hasMovedHead: boolean;
}

const MOST_PATHS = 20;
const PATH_CHARS = 200;

/** Describes an undo or a redo in the next prompt. The agent chose the paths, so each is made one harmless line. */
export function undoHint({ iteration, paths, hasMovedHead }: TakenBack): string {
  const what =
    iteration === null
      ? 'A person has taken back the last undo, so these files are again as they were before it'
      : `A person has taken back what iteration ${iteration} and all after it changed. These files are again as they were before`;
  const head = hasMovedHead ? ' The branch and the index have gone back, too.' : '';
  const listed = paths
    .slice(0, MOST_PATHS)
    .map((name) => `- ${disarm(clip(shownPath(name), PATH_CHARS), { expandsAtPaths: true })}`);
  const more = paths.length - listed.length;
  return [`${what}.${head}`, ...listed, ...(more > 0 ? [`- and ${more} more`] : [])].join('\n');
}

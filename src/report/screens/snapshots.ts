import type { KeptPath, PathChange, UndoPreview } from '../../core/snapshots/undo-preview.ts';
import { commandHere } from '../../printed-command.ts';
import { aligned } from '../columns.ts';
import { formatInstant, plural } from '../format.ts';

/** A row in the list of snapshots. */
export interface SnapshotRow {
  readonly name: string;
  readonly at: string;
  readonly files: number;
  /** What the snapshot shows, for example `iteration 3: answered`. */
  readonly what: string;
}

/** Returns the list that `ralph snapshots` prints. */
export function snapshotTable(rows: readonly SnapshotRow[]): string {
  const cells = rows.map(({ name, at, files, what }) => [
    ...[name, formatInstant(at)],
    ...[plural(files, 'file'), what],
  ]);
  return aligned(cells)
    .map((line) => `${line}\n`)
    .join('');
}

/** How many paths of each kind are shown. */
const MOST_SHOWN = 100;

const SIGNS: Readonly<Record<PathChange, string>> = {
  'comes-back': '+',
  changes: '~',
  goes: '-',
  filled: '+',
};

/** Returns what an undo would do, path by path, and what it leaves alone. */
export function undoPreview(preview: UndoPreview): string {
  const { taskId, changes, kept, leftOut, missing, others, move, whyNoMove } = preview;
  const lines: string[] = [];
  if (changes.length > 0) {
    lines.push(`${wouldOf(preview, plural(changes.length, 'file'))}:`);
    lines.push(...shown(changes.map(({ path, kind }) => `  ${SIGNS[kind]} ${path}`)));
  }
  if (move !== null) {
    const place = move.branch === null ? 'HEAD' : move.branch.replace(/^refs\/heads\//, '');
    if (move.from !== move.to) {
      lines.push(`${place} goes back from ${shortId(move.from)} to ${shortId(move.to)}`);
    }
    if (move.switches) lines.push(`HEAD goes back to ${place}`);
    if (move.indexEntries > 0) lines.push(`${entries(move.indexEntries)} of the index change`);
    for (const what of move.ends) lines.push(endLine(what));
  }
  if (whyNoMove !== null) lines.push(`HEAD and the index stay: ${whyNoMove}`);
  if (kept.length > 0) {
    lines.push(
      kept.length === 1
        ? '1 path stays, since somebody else changed it:'
        : `${kept.length} paths stay, since somebody else changed them:`,
    );
    lines.push(...shown(kept.map((path) => `  = ${path}`)));
  }
  if (leftOut.length > 0) {
    lines.push(
      `${plural(leftOut.length, 'path')} can neither go nor come back, being in no snapshot:`,
    );
    lines.push(...shown(leftOut.map(({ path, why }) => `  = ${path} (${why})`)));
  }
  if (missing.length > 0) {
    lines.push(`no snapshot was made after iteration ${missing.join(', ')} of ${taskId}`);
  }
  if (others.length > 0) {
    lines.push(
      `${others.join(', ')} ${others.length === 1 ? 'has' : 'have'} worked here since; some changes may be ${others.length === 1 ? 'its' : 'their'} own`,
    );
  }
  return lines.map((line) => `${line}\n`).join('');
}

function wouldOf({ iteration, taskId }: UndoPreview, files: string): string {
  return iteration === null
    ? `ralph undo --redo would redo ${files} of ${taskId}`
    : `ralph undo would restore ${files} to before iteration ${iteration} of ${taskId}`;
}

function shown(lines: readonly string[]): readonly string[] {
  if (lines.length <= MOST_SHOWN) return lines;
  return [...lines.slice(0, MOST_SHOWN), `  … and ${lines.length - MOST_SHOWN} more`];
}

function shortId(commit: string | null): string {
  return commit?.slice(0, 10) ?? 'no commit';
}

function entries(count: number): string {
  return count === 1 ? '1 entry' : `${count} entries`;
}

function endLine(what: string): string {
  return what === 'bisect'
    ? 'the bisect continues; git bisect reset ends it'
    : `the ${what} that is under way ends`;
}

/** Returns the question for a person at the terminal. */
export function undoQuestion({ iteration }: UndoPreview): string {
  return iteration === null ? 'Redo this? [y/N] ' : 'Take this back? [y/N] ';
}

/** Returns what is said if there is nothing to take back or to redo. */
export function nothingToUndo({ taskId, iteration }: UndoPreview): string {
  return iteration === null
    ? `nothing of ${taskId} is left to redo`
    : `nothing is left to take back of iteration ${iteration} of ${taskId} and all after it`;
}

/** Describes what an undo or a redo did and did not do. */
export function undoResult(preview: UndoPreview, blocked: readonly KeptPath[]): string {
  const { taskId, iteration, changes, kept } = preview;
  const count = changes.length - blocked.length;
  const done =
    iteration === null
      ? `redone: ${plural(count, 'path')}`
      : `restored ${plural(count, 'file')}; to redo: ${commandHere('undo', taskId, ['--redo'])}`;
  const lines = [done, ...blocked.map(({ path, why }) => `not brought back: ${path} (${why})`)];
  if (kept.length > 0) {
    lines.push(
      `kept: ${plural(kept.length, 'path')} of somebody else; --force takes them back, too`,
    );
  }
  return lines.join('\n');
}

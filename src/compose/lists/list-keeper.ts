import { existsSync, rmSync } from 'node:fs';
import path from 'node:path';
import type { TaskList } from '../../core/list/list-item.ts';
import { type ListState, newListState } from '../../core/list/list-state.ts';
import { readList } from '../../core/list/read-list.ts';
import { withPolicy } from '../../core/task/policy.ts';
import { inOwnTree } from '../../effects/branches/own-tree.ts';
import { realPath } from '../../effects/files/real-path.ts';
import { readListFile } from '../../effects/lists/list-file.ts';
import { knownAt, listStates, readListState } from '../../effects/lists/list-states.ts';
import type { RunPlan } from '../../effects/plan/run-plan.ts';
import type { SealedPlace } from '../../effects/trust/seal.ts';
import { writeNote } from '../../effects/vault/note-file.ts';
import { openNotes } from '../../effects/vault/open-notes.ts';
import { NEEDS_ACTION } from '../../effects/vault/vault-folders.ts';
import { UsageError } from '../../errors.ts';
import { TaskAlreadyActiveError } from '../../task-errors.ts';
import { holdName } from '../rescue/shared-runs.ts';
import { listOf } from './list-source.ts';

/** The word that marks the note of a list in its file name. */
const NOTE_REASON = 'LIST';

/** Returns the path of a list's file; resolves symbolic links of its folder. A file that is a link is refused later. */
export function listFileAt(folder: string, name: string): string {
  const file = path.resolve(folder, name);
  return path.join(realPath(path.dirname(file)), path.basename(file));
}

/** Reads a list that a person named, or parses `before`, its text from before an item began. Throws a `UsageError`. */
export function requireList(
  file: string,
  shown: string,
  { sections, before }: Pick<ListState, 'sections' | 'before'>,
): TaskList {
  const found = before === null ? readListFile(file) : { text: before };
  if ('problem' in found) {
    throw new UsageError([
      `ralph work expects a list, a file in JSON (.json, .jsonl) or Markdown (.md); ${shown} cannot be used: ${found.problem}.`,
    ]);
  }
  return listOf({ shown, sections }, found.text);
}

/** Reads the stored state of a list. Throws a `UsageError` if somebody else wrote it or it is about another list. */
export function requireListState(
  place: SealedPlace,
  { list: name, file: named, sections }: Pick<ListState, 'list' | 'file' | 'sections'>,
): ListState {
  const list = { list: name, file: named, sections };
  const state = readListState(place, name);
  if (state === 'foreign') {
    throw new UsageError([
      `${knownAt(place, name)} is not as your ralph wrote it, so what it says of the items cannot be used; look at it, and remove it to start again.`,
    ]);
  }
  if (state === null) return newListState(list);
  if (state.file === list.file) return { ...state, ...list };
  if (path.isAbsolute(state.file) && !existsSync(state.file)) return newListState(list);
  throw new UsageError([
    `${state.file} has the name '${list.list}' in ids of tasks already, and ${list.file} would have the same; rename one of them.`,
  ]);
}

/** Throws a `UsageError` if the stored ids come from another source than this list (such as another repository). */
export function requireSameOrigin(
  place: SealedPlace,
  { list, items, origin: known = '' }: ListState,
  { origin }: { readonly origin: string },
): void {
  if (items.length === 0 || known === '' || origin === known) return;
  const [expected, remedy] = {
    github: [
      `the issues of ${known}, whose numbers it knows; ${list} has those of ${origin}`,
      'See what git remote -v says',
    ],
    beads: [
      `the beads of the folder ${known}, whose ids it knows; this is the folder ${origin}`,
      'Start it there',
    ],
  }[list] ?? [
    'the --from command and the --section whose ids it knows; these are other ones',
    'Name another --vault for another list',
  ];
  throw new UsageError([
    `ralph work expects ${expected}. ${remedy}, or remove ${knownAt(place, list)} to start again.`,
  ]);
}

/** Returns the plan of an item's task, with the path of the list in the task's work tree. */
export function planOfItem(plan: RunPlan, list: string): RunPlan {
  return { ...plan, policy: withPolicy(plan.policy, { list: inOwnTree(plan.workTree, list) }) };
}

/** Locks a list, so that only one process works on it. Rejects with a `TaskAlreadyActiveError`. */
export async function holdList(
  { stateDir }: SealedPlace,
  list: string,
  shown: string,
): Promise<{ release(): void }> {
  const hold = await holdName(stateDir, `list.${list}`);
  if (hold !== null) return hold;
  const sentence = `another ralph work has the list ${shown}; ralph status shows what it does.`;
  throw new TaskAlreadyActiveError(list, 'another ralph work', sentence);
}

/** Returns the lists that a state folder knows, with their stored states. Never throws. */
export function knownLists(
  place: SealedPlace,
): readonly { readonly state: ListState; readonly list: TaskList | null }[] {
  return listStates(place).map((state) => {
    // While items are being worked on, the file may have ticks that their agents made.
    const text = state.before ?? textOf(state.file);
    const read = text === null ? null : readList(state.file, text, state.sections);
    return { state, list: read !== null && 'list' in read ? read.list : null };
  });
}

/** Returns the text of a list's file; null if it cannot be read, or the list is no file. */
function textOf(file: string): string | null {
  const found = path.isAbsolute(file) ? readListFile(file) : { problem: 'no file' };
  return 'text' in found ? found.text : null;
}

/** Writes the note for a person that no more items of a list can be started. Rejects with the system's error. */
export function writeListNote(
  vault: string,
  list: string,
  at: string,
  text: string,
): Promise<string> {
  const folder = path.join(vault, NEEDS_ACTION);
  return writeNote({ folder, reason: NOTE_REASON, taskId: list, at, text });
}

/** Removes the note of a list. */
export function removeListNote(vault: string, list: string): void {
  for (const { file, reason, taskId } of openNotes(vault)) {
    if (reason === NOTE_REASON && taskId === list) rmSync(file, { force: true });
  }
}

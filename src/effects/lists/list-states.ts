import path from 'node:path';
import type { ListState } from '../../core/list/list-state.ts';
import { MB, tryReadText } from '../files/bounded-read.ts';
import { fileNamesIn } from '../files/folder.ts';
import { makePrivateFolder, replaceFile } from '../files/write-file.ts';
import { type SealedPlace, sealAt } from '../trust/seal.ts';
import { saying } from './list-file.ts';

/** The limit for the state of a list: its text (its open items if the list is no file) and a record for each item. */
const STATE_MAX_BYTES = 64 * MB;

/** Returns the path of the file with the state of a list. */
export function knownAt({ stateDir }: SealedPlace, list: string): string {
  return path.join(stateDir, 'lists', `${list}.json`);
}

/** Reads the state of a list; null if there is none, `foreign` if it is broken or not signed with this user's key. */
export function readListState(place: SealedPlace, list: string): ListState | null | 'foreign' {
  const file = knownAt(place, list);
  const text = tryReadText(file, STATE_MAX_BYTES);
  if (text === null) return null;
  const seal = sealAt(place);
  if (seal.problem === null && !seal.isClosed(text, whatOf(file))) return 'foreign';
  try {
    const state: ListState = JSON.parse(text);
    return state.schema_version === 1 ? state : 'foreign';
  } catch {
    return 'foreign';
  }
}

/** Writes the state of a list, and waits until it would survive a power cut. Rejects with a `CommandError`. */
export function saveListState(place: SealedPlace, state: ListState): Promise<void> {
  const file = knownAt(place, state.list);
  return saying(file, async () => {
    makePrivateFolder(path.dirname(file));
    const text = sealAt(place, true).close(`${JSON.stringify(state, null, 2)}\n`, whatOf(file));
    const kept = await replaceFile(file, text);
    await kept();
  });
}

/** Returns the states of all lists in a state folder, except for foreign ones. Never throws. */
export function listStates(place: SealedPlace): readonly ListState[] {
  return fileNamesIn(path.dirname(knownAt(place, ''))).flatMap((name) => {
    const state = name.endsWith('.json') ? readListState(place, name.slice(0, -5)) : null;
    return state === null || state === 'foreign' ? [] : [state];
  });
}

function whatOf(file: string): string {
  return `list ${path.basename(file)}`;
}

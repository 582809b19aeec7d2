import path from 'node:path';
import type { ListState } from '../../core/list/list-state.ts';
import { MB, tryReadText } from '../files/bounded-read.ts';
import { fileNamesIn } from '../files/folder.ts';
import { makePrivateFolder, replaceFile } from '../files/write-file.ts';
import type { Seal } from '../trust/seal.ts';

/** Its list is in it, and a line for each item; of a list that is no file also the items that are not over. */
const STATE_MAX_BYTES = 64 * MB;

/** The file in which ralph keeps what it knows of a list. */
export function listStateFile(stateDir: string, list: string): string {
  return path.join(stateDir, 'lists', `${list}.json`);
}

/** Reads the state of a list; null if there is none. `foreign`: it is broken, or this user's ralph did not write it. */
export function readListState(file: string, seal: Seal): ListState | null | 'foreign' {
  const text = tryReadText(file, STATE_MAX_BYTES);
  if (text === null) return null;
  if (seal.problem === null && !seal.isClosed(text, whatOf(file))) return 'foreign';
  try {
    const state: ListState = JSON.parse(text);
    return state.schema_version === 1 ? state : 'foreign';
  } catch {
    return 'foreign';
  }
}

/** Writes the state of a list, and waits until it would survive a power cut. Rejects with the system's error. */
export async function writeListState(file: string, state: ListState, seal: Seal): Promise<void> {
  makePrivateFolder(path.dirname(file));
  const text = seal.close(`${JSON.stringify(state, null, 2)}\n`, whatOf(file));
  const kept = await replaceFile(file, text);
  await kept();
}

/** Returns the files of all states of lists in a state folder. Never throws. */
export function listStateFiles(stateDir: string): readonly string[] {
  const folder = path.join(stateDir, 'lists');
  return fileNamesIn(folder)
    .filter((name) => name.endsWith('.json'))
    .map((name) => path.join(folder, name));
}

function whatOf(file: string): string {
  return `list ${path.basename(file)}`;
}

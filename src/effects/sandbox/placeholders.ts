import { existsSync, rmdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { GitFolder } from '../../core/sandbox/default-rules.ts';
import { isWithinAny } from '../../core/sandbox/places.ts';
import { isObject } from '../../core/text/is-object.ts';
import { KB, MB, readTextWithin, tryReadText } from '../files/bounded-read.ts';
import { stringAt } from '../files/json-fields.ts';
import { errorCode, makePrivateFolder, tryToRemove } from '../files/write-file.ts';
import { otherRunFolders, type RunFolder, removeRunFolder } from './run-folder.ts';

/*
 * Only existing paths can be mounted read-only, so placeholders are made for missing ones: an empty `hooks` folder, and
 * a `commondir` with the text `.`, which changes nothing for git. Without the latter, an agent could write
 * `.git/commondir` to give git another `config`, and the user's next `git status` would run programs which that file
 * names. The same holds for `config.worktree`, if the repository has turned that on.
 */

/** An entry that exists only for the sandbox: an empty folder, or a file of settings without effect. */
interface Placeholder {
  readonly kind: 'folder' | 'commondir' | 'settings';
  readonly path: string;
}

/** The texts of the placeholder files: `commondir` names its own folder, and the settings are empty. */
const TEXTS = { commondir: '.\n', settings: '' };

/** Makes the needed placeholders, and returns how to renew and remove them. Throws the system's error. */
export function makePlaceholders(
  run: RunFolder,
  needed: { readonly git: readonly GitFolder[]; readonly folders: readonly string[] },
  writable: readonly string[],
) {
  const all: readonly Placeholder[] = [
    ...needed.folders.map((folder) => ({ kind: 'folder', path: folder }) as const),
    // No file is made in a folder of git whose files are tracked: the agent would commit it.
    ...needed.git
      .filter((each) => !each.isTracked)
      .map(
        (each) => ({ kind: 'settings', path: path.join(each.path, 'config.worktree') }) as const,
      ),
    // A work tree whose hooks have the default path needs no folder for them: git uses the hooks of its repository.
    ...needed.git
      .filter((each) => !each.isOfWorkTree || each.hooks !== path.join(each.path, 'hooks'))
      .map(({ hooks }) => ({ kind: 'folder', path: hooks }) as const),
    ...needed.git
      .filter((each) => !each.isOfWorkTree)
      .map((each) => ({ kind: 'folder', path: path.join(each.path, 'hooks') }) as const),
    ...needed.git
      .filter((each) => !each.isOfWorkTree && !each.isTracked)
      .map((each) => ({ kind: 'commondir', path: path.join(each.path, 'commondir') }) as const),
  ].filter((each) => isWithinAny(each.path, writable));
  // The placeholders are noted before they are made, so that later runs can remove them if this process is killed.
  const ofOthers = placeholdersOfOthers(run);
  const own = all.filter((each) => !isForeign(each, ofOthers));
  writeFileSync(noteIn(run), JSON.stringify(own));
  const renew = (): void => own.forEach(make);
  renew();
  return {
    /** Makes the missing placeholders, for example because another run has ended and removed them. */
    renew,
    /** Removes the placeholders on which no other run relies. */
    remove: (): void => removeUnlessNeeded(own, run),
  };
}

/** Removes the folders of runs whose process was killed, with the placeholders that no other run needs. */
export async function removeAbandoned(own: RunFolder): Promise<void> {
  for (const { folder, isAlive } of otherRunFolders(own)) {
    if (isAlive) continue;
    removeUnlessNeeded(placeholdersOf(folder), folder);
    await removeRunFolder(folder);
  }
}

function removeUnlessNeeded(own: readonly Placeholder[], run: RunFolder): void {
  const needed = placeholdersOfOthers(run);
  for (const each of own) {
    if (!needed.has(each.path)) remove(each);
  }
}

function placeholdersOfOthers(run: RunFolder): ReadonlySet<string> {
  const living = otherRunFolders(run).filter(({ isAlive }) => isAlive);
  return new Set(living.flatMap(({ folder }) => placeholdersOf(folder)).map((each) => each.path));
}

/** Whether something is at the path that no run of ralph has made, even an empty folder: it stays as it is. */
function isForeign({ kind, path: place }: Placeholder, ofOthers: ReadonlySet<string>): boolean {
  if (kind !== 'folder') return ![null, TEXTS[kind]].includes(textAt(place));
  return !ofOthers.has(place) && existsSync(place);
}

function make({ kind, path: place }: Placeholder): void {
  if (kind === 'folder') makePrivateFolder(place);
  else if (textAt(place) === null) writeNew(place, TEXTS[kind]);
}

/** Writes a new file; one that another run has made meanwhile is left as it is. */
function writeNew(file: string, text: string): void {
  try {
    writeFileSync(file, text, { flag: 'wx' });
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  }
}

function remove({ kind, path: place }: Placeholder): void {
  try {
    if (kind === 'folder') rmdirSync(place);
    else if (textAt(place) === TEXTS[kind]) tryToRemove(place);
  } catch {
    // The folder is no longer empty, the entry is gone, or the agent has closed a folder on the way.
  }
}

/** Returns the text of a file; null if there is none, `OTHER` for anything but a small readable file. */
function textAt(file: string): string | null {
  try {
    return readTextWithin(file, KB);
  } catch (error) {
    return errorCode(error) === 'ENOENT' ? null : OTHER;
  }
}

const OTHER = 'another kind of file';

const NAMES = { commondir: 'commondir', settings: 'config.worktree' };

/**
 * Whether a noted path can be a placeholder: a file in a folder of git, or any folder (only empty ones are removed).
 */
function canBeOne(kind: Placeholder['kind'], place: string): boolean {
  if (kind === 'folder') return true;
  const head = path.join(path.dirname(place), 'HEAD');
  return path.basename(place) === NAMES[kind] && existsSync(head);
}

function noteIn(run: RunFolder): string {
  return path.join(run.outside, 'made');
}

function placeholdersOf(run: RunFolder): readonly Placeholder[] {
  let noted: unknown = null;
  try {
    noted = JSON.parse(tryReadText(noteIn(run), MB) ?? '[]');
  } catch {
    return [];
  }
  if (!Array.isArray(noted)) return [];
  return noted.filter(isObject).flatMap((each) => {
    const [kind, place] = [stringAt(each, 'kind'), stringAt(each, 'path')];
    const known = (['folder', 'commondir', 'settings'] as const).find((name) => name === kind);
    if (place === null || known === undefined || !canBeOne(known, place)) return [];
    return [{ kind: known, path: place }];
  });
}

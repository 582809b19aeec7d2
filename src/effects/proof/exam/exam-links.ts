import { readlinkSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { isInside, realPath } from '../../files/real-path.ts';

/** The absolute paths, without symbolic links, of the work tree and of its exam, a checkout for running the checks. */
export interface ExamPlaces {
  readonly root: string;
  readonly folder: string;
}

/** Returns the path in the exam for a path of the work tree; null for any other path. */
export function placeInExam({ root, folder }: ExamPlaces, place: string): string | null {
  if (place === root) return folder;
  return isInside(root, place) ? path.join(folder, path.relative(root, place)) : null;
}

/**
 * Returns where the copy of a symbolic link has to lead. If the link leads into the work tree, even through other
 * links, the copy leads to the same place of the exam; otherwise it leads where the link does.
 */
export function targetInExam(places: ExamPlaces, link: string): string {
  const target = path.resolve(realPath(path.dirname(link)), readlinkSync(link));
  return placeInExam(places, target) ?? placeInExam(places, realPath(target)) ?? target;
}

/** Makes a link in the exam that corresponds to the link `from`. */
export function linkAgain(places: ExamPlaces, from: string, to: string): void {
  symlinkSync(targetInExam(places, from), to);
}

/**
 * Returns a text in which the exam's path replaces that of the work tree, which tools write into scripts, caches and
 * environments. Null if the content does not name the work tree, or is not text.
 */
export function textInExam({ root, folder }: ExamPlaces, content: Buffer): Buffer | null {
  if (!content.includes(root) || content.includes(0)) return null;
  const text = content.toString('latin1');
  const [from, to] = [root, folder].map((place) => Buffer.from(place).toString('latin1'));
  const name = (from ?? '').replace(/[.+*?^${}()|[\]\\]/g, '\\$&');
  // For `/repo`, the paths `/repo-2` and `/repo.ralph` are other folders, but a full stop may end a sentence.
  const changed = text.replace(new RegExp(`${name}(?![\\w-]|\\.\\w)`, 'g'), () => to ?? '');
  return changed === text ? null : Buffer.from(changed, 'latin1');
}

import { readlinkSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { isInside, realPath } from '../../files/real-path.ts';

/** The work tree and its old exam: absolute paths of both, links resolved. */
export interface ExamPlaces {
  readonly root: string;
  readonly folder: string;
}

/** Returns where a path of the work tree is in the exam; null if it is no path of the work tree. */
export function placeInExam({ root, folder }: ExamPlaces, place: string): string | null {
  if (place === root) return folder;
  return isInside(root, place) ? path.join(folder, path.relative(root, place)) : null;
}

/**
 * Returns where a link of the work tree, or of something installed outside, leads in the exam: to the same place of
 * the exam if it leads into the work tree, also through other links; otherwise to where it leads.
 */
export function targetInExam(places: ExamPlaces, link: string): string {
  const target = path.resolve(realPath(path.dirname(link)), readlinkSync(link));
  return placeInExam(places, target) ?? placeInExam(places, realPath(target)) ?? target;
}

/** Makes a link in the exam that is to `from` what the exam is to the work tree. */
export function linkAgain(places: ExamPlaces, from: string, to: string): void {
  symlinkSync(targetInExam(places, from), to);
}

/**
 * Returns a text with the exam's path in the place of the work tree's, which tools write into scripts, caches and
 * environments; null if it does not name the work tree, or is no text.
 */
export function textInExam({ root, folder }: ExamPlaces, content: Buffer): Buffer | null {
  if (!content.includes(root) || content.includes(0)) return null;
  const text = content.toString('latin1');
  const [from, to] = [root, folder].map((place) => Buffer.from(place).toString('latin1'));
  const name = (from ?? '').replace(/[.+*?^${}()|[\]\\]/g, '\\$&');
  // `/repo-2` and `/repo.ralph` are other folders; a full stop may end a sentence.
  const changed = text.replace(new RegExp(`${name}(?![\\w-]|\\.\\w)`, 'g'), () => to ?? '');
  return changed === text ? null : Buffer.from(changed, 'latin1');
}

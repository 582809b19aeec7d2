import { readlinkSync } from 'node:fs';
import path from 'node:path';
import { errorCode } from '../files/write-file.ts';

/** The largest number of symbolic links that Linux follows in a path. */
const MOST_LINKS = 40;

/** Returns the symbolic links through which a path leads, and those in their targets. Stops after `MOST_LINKS`. */
export function linksOnWay(place: string): readonly string[] {
  const links: string[] = [];
  const left = place.split('/').reverse();
  let at = '/';
  for (let part = left.pop(); part !== undefined; part = left.pop()) {
    const next = path.join(at, part);
    const target = targetOf(next);
    if (target === null) {
      at = next;
      continue;
    }
    links.push(next);
    if (links.length > MOST_LINKS) return links;
    if (path.isAbsolute(target)) at = '/';
    left.push(...target.split('/').reverse());
  }
  return links;
}

function targetOf(place: string): string | null {
  try {
    return readlinkSync(place);
  } catch (error) {
    if (errorCode(error) === '') throw error;
    return null;
  }
}

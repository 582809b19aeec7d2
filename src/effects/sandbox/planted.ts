import { lstatSync, readlinkSync } from 'node:fs';
import { isWithinAny } from '../../core/sandbox/places.ts';
import type { SandboxRules } from '../../core/sandbox/rules.ts';
import { realPath } from '../files/real-path.ts';
import { findNestedGit } from './nested-git.ts';

/** Finds what came to be although the agent should not write it. */
export interface PlantedWatch {
  /** Returns the paths that are new since the last call. */
  take(): Promise<readonly string[]>;
}

/**
 * Watches the names that stay as they are, since a mount cannot hold all of them, and the repositories below
 * the work folder. `nested` are those of the start.
 */
export function watchPlanted(
  rules: SandboxRules,
  workFolder: string,
  nested: ReadonlySet<string>,
  rg: string,
): PlantedWatch {
  const writable = rules.allowWrite.map((rule) => rule.value);
  const denied = rules.denyWrite.map((rule) => rule.value);
  const names = [...new Set(denied)].filter((place) => isWithinAny(place, writable));
  const signs = new Map(names.map((place) => [place, signOf(place)]));
  let known = nested;
  return {
    async take() {
      const born = names.filter((place) => {
        const [before, now] = [signs.get(place), signOf(place)];
        signs.set(place, now);
        return now !== before && now !== '';
      });
      const repositories = await findNestedGit(workFolder, rg);
      // What nobody can write inside is ralph's own, such as its snapshots.
      const fresh = [...repositories].filter(
        (place) => !known.has(place) && !isWithinAny(place, denied),
      );
      known = repositories;
      return [...born, ...fresh].sort();
    },
  };
}

/**
 * Empty if there is nothing. A mount holds a file that exists, but neither a link, nor a link on the way to it,
 * nor a file that a program outside replaces while the agent works: then another file is there.
 */
function signOf(place: string): string {
  try {
    const stats = lstatSync(place, { throwIfNoEntry: false });
    if (stats === undefined) return '';
    if (stats.isSymbolicLink()) return `link ${readlinkSync(place)}`;
    return `${realPath(place)} ${stats.isFile() ? stats.ino : 'there'}`;
  } catch {
    return '';
  }
}

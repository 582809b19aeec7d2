import { lstatSync, readlinkSync } from 'node:fs';
import { isWithinAny } from '../../core/sandbox/places.ts';
import type { SandboxRules } from '../../core/sandbox/rules.ts';
import { findNestedGit } from './nested-git.ts';

/** Finds what came to be although the agent should not write it. */
export interface PlantedWatch {
  /** Returns the paths that are new since the last call. */
  take(): Promise<readonly string[]>;
}

/**
 * Watches the names that stay as they are but could not be mounted, because they do not exist or are links,
 * and the repositories below the work folder. `nested` are those of the start.
 */
export function watchPlanted(
  rules: SandboxRules,
  workFolder: string,
  nested: ReadonlySet<string>,
  rg: string,
): PlantedWatch {
  const writable = rules.allowWrite.map((rule) => rule.value);
  const denied = rules.denyWrite.map((rule) => rule.value);
  const names = [...new Set(denied)].filter(
    (place) => isWithinAny(place, writable) && !isMounted(place),
  );
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

/** A mount holds what exists; a link itself can still be replaced. */
function isMounted(place: string): boolean {
  const stats = lstatSync(place, { throwIfNoEntry: false });
  return stats !== undefined && !stats.isSymbolicLink();
}

/** Empty if there is nothing, otherwise where a link leads, or that something else is there. */
function signOf(place: string): string {
  try {
    const stats = lstatSync(place, { throwIfNoEntry: false });
    if (stats === undefined) return '';
    return stats.isSymbolicLink() ? `link ${readlinkSync(place)}` : 'there';
  } catch {
    return '';
  }
}

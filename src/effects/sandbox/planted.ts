import { lstatSync, readlinkSync } from 'node:fs';
import path from 'node:path';
import { isWithinAny } from '../../core/sandbox/places.ts';
import { messageOf } from '../../errors.ts';
import { realPath } from '../files/real-path.ts';
import { gitPlaces, watchGitLinks } from './repositories/git-links.ts';
import { watchEntries } from './repositories/planted-in-git.ts';
import {
  type FoundPlace,
  type FoundPlaces,
  PARTS_OF_GIT,
  searchFolders,
} from './repositories/search-folders.ts';
import type { SandboxPlan } from './surroundings.ts';

/**
 * Watches for what the agent plants for programs outside to run: changes of paths that are denied to it (mounts do not
 * protect all of these) or of their entries in git; in its folders, new or changed repositories and files that programs
 * run by themselves; and in git folders, new symbolic links.
 */
export async function watchPlanted(
  { rules, surroundings, searched, found, outerPath }: SandboxPlan,
  env: NodeJS.ProcessEnv,
) {
  const writable = rules.allowWrite.map((rule) => rule.value);
  const denied = new Set(rules.denyWrite.map((rule) => rule.value));
  const names = [...denied].filter((place) => isWithinAny(place, writable));
  const signs = new Map(names.map((place) => [place, signOf(place)]));
  const links = watchGitLinks(gitPlaces(surroundings.gitFolders, rules));
  const gitFolders = new Set(surroundings.gitFolders.map((each) => each.path));
  const entries = await watchEntries({
    root: surroundings.treeRoot,
    denied: surroundings.commonGitFolder === null ? [] : [...denied],
    env: { ...env, PATH: outerPath },
  });
  let known = found;
  return {
    /**
     * Returns the paths that are new since the last call, the most dangerous first, some with a remark in parentheses.
     * Never rejects.
     */
    async take(): Promise<readonly string[]> {
      const removed = links.take();
      const born = names.filter((place) => {
        const [before, now] = [signs.get(place), signOf(place)];
        signs.set(place, now);
        return now !== before && now !== '';
      });
      const first = [...born.sort(), ...(await entries.take()), ...removed];
      try {
        const now = withUnread(await searchFolders(searched, { held: denied, gitFolders }), known);
        const fresh = newIn(now, known, { start: found, denied });
        known = now;
        return [...first, ...fresh];
      } catch (error) {
        const unread = `${searched.join(', ')} (could not be searched: ${messageOf(error)})`;
        return [...first, unread];
      }
    },
    /** Removes symbolic links by which git would write elsewhere. Call this before git runs outside. */
    sweep: links.sweep,
  };
}

/** Keeps the earlier findings in folders that cannot be searched now, so that they do not count as new later. */
function withUnread(now: FoundPlaces, before: FoundPlaces): FoundPlaces {
  const closed = [...now].flatMap(([place, { kind }]) => (kind === 'unread' ? [place] : []));
  if (closed.length === 0) return now;
  return new Map([...[...before].filter(([place]) => isWithinAny(place, closed)), ...now]);
}

const BY_DANGER = ['git', 'name', 'unread'] as const;

interface Told {
  /** The places at the start: restoring one of them plants nothing. */
  readonly start: FoundPlaces;
  /** Places whose changes are reported by other means, together with everything in them. */
  readonly denied: ReadonlySet<string>;
}

/** Returns the places that are new or changed, the most dangerous first. */
function newIn(now: FoundPlaces, known: FoundPlaces, { start, denied }: Told): readonly string[] {
  const rank = ([, { kind }]: readonly [string, FoundPlace]): number => BY_DANGER.indexOf(kind);
  const fresh = [...now]
    .filter(([place, { sign }]) => !denied.has(place) && known.get(place)?.sign !== sign)
    .filter(([place, { kind, sign }]) => kind !== 'name' || start.get(place)?.sign !== sign);
  const born = fresh.flatMap(([place, { kind }]) =>
    kind === 'name' && !known.has(place) ? [place] : [],
  );
  const above = [...denied, ...born];
  return fresh
    .filter(([place, { kind }]) => kind !== 'name' || !isWithinAny(path.dirname(place), above))
    .sort((one, other) => rank(one) - rank(other) || (one[0] < other[0] ? -1 : 1))
    .map(([place, { kind, sign }]) => {
      if (kind === 'unread') return `${place} (could not be searched)`;
      const before = known.get(place)?.sign ?? start.get(place)?.sign;
      if (kind === 'name') return before === undefined ? place : `${place} (changed)`;
      const parts = before?.split(' ') ?? [];
      const gone = PARTS_OF_GIT.filter((name) => parts.includes(name) && !sign.includes(name));
      return gone.length === 0 ? place : `${place} (${gone.join(', ')} missing)`;
    });
}

/**
 * Returns a text that changes when the entry at a path is replaced; empty if there is no entry, or it cannot be read. A
 * mount protects an existing file, but no link at this path or on the way to it, and no file that a program outside
 * replaces while the agent works.
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

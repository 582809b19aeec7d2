/** A folder as checks may name it. */
export interface NamedPlace {
  /** Its absolute path, also one that leads there through links. */
  readonly as: string;
  /** Its path relative to the top of the work tree, or empty. */
  readonly below: string;
}

/** `cd "$(git rev-parse --show-toplevel)"` is the same as the path. */
const TOP = /\$\(git rev-parse --show-toplevel\)|`git rev-parse --show-toplevel`/g;

/**
 * Returns a check with the work tree's absolute path replaced by `top`: what it names there, it names below
 * `top` then.
 */
export function checkBelow(check: string, places: readonly NamedPlace[], top: string): string {
  // The longest first: one may be below the other.
  const sorted = places
    .filter(({ as }) => as !== '/')
    .toSorted((one, other) => other.as.length - one.as.length);
  if (sorted.length === 0) return check;
  const names = sorted.map(({ as }) => as.replace(/[.+*?^${}()|[\]\\]/g, '\\$&')).join('|');
  // `-C/repo` is the path, `/mnt/repo` and `/repo.ralph` are others.
  const pattern = new RegExp(`(?:(?<![\\w./-])|(?<=\\s-[a-zA-Z]))(?:${names})(?![\\w.-])`, 'g');
  return check.replace(pattern, (found) => {
    const { below = '' } = sorted.find(({ as }) => as === found) ?? {};
    return below === '' ? top : `${top}/${below}`;
  });
}

/** Returns a check in which the work tree's files have relative paths, as far as its words tell. */
export function relativeCheck(
  check: string,
  places: readonly NamedPlace[],
  folder: string,
): string {
  const up = folder === '' ? '.' : folder.replace(/[^/]+/g, '..');
  return checkBelow(
    check.replace(TOP, () => up),
    places,
    up,
  );
}

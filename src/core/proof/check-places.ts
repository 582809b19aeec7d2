/** A folder of the work tree that checks may name by an absolute path. */
export interface NamedPlace {
  /** An absolute path of the folder, possibly through symbolic links. */
  readonly as: string;
  /** The folder's path relative to the top of the work tree; empty for the top itself. */
  readonly below: string;
}

/** Matches commands that return the path of the work tree, as in `cd "$(git rev-parse --show-toplevel)"`. */
const TOP = /\$\(git rev-parse --show-toplevel\)|`git rev-parse --show-toplevel`/g;

/** Returns a check with the work tree's absolute path replaced by `top`, so that it uses the files below `top`. */
export function checkBelow(check: string, places: readonly NamedPlace[], top: string): string {
  // The longest path is tried first, since one may contain another.
  const sorted = places
    .filter(({ as }) => as !== '/')
    .toSorted((one, other) => other.as.length - one.as.length);
  if (sorted.length === 0) return check;
  const names = sorted.map(({ as }) => as.replace(/[.+*?^${}()|[\]\\]/g, '\\$&')).join('|');
  // For `/repo`, `-C/repo` contains the path, while `/mnt/repo` and `/repo.ralph` are other paths.
  const pattern = new RegExp(`(?:(?<![\\w./-])|(?<=\\s-[a-zA-Z]))(?:${names})(?![\\w.-])`, 'g');
  return check.replace(pattern, (found) => {
    const { below = '' } = sorted.find(({ as }) => as === found) ?? {};
    return below === '' ? top : `${top}/${below}`;
  });
}

/** Returns a check with absolute paths into the work tree made relative, where they are written out. */
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

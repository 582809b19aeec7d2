import { maskSecrets } from '../secrets/secrets.ts';
import { clip, oneLine, withoutControls } from '../text/untrusted-text.ts';
import type { CitedCriterion, CitedPlace } from './read-answer.ts';
import type { JudgedCriterion, JudgedPlace } from './verdict.ts';

/** What the claimed tree (the one said to be complete) has at a path relative to its root. */
export type AtPath =
  | { readonly kind: 'file'; readonly lines: number }
  /** A folder, or something that cannot be read from the tree, such as the content of a submodule. */
  | { readonly kind: 'other' }
  | { readonly kind: 'nothing' };

/** The checkout in which the judge has worked. */
export interface JudgedTree {
  /** Absolute paths of the checkout's root: as ralph named it, and with symbolic links resolved. */
  readonly roots: readonly string[];
  /** The judge's folder relative to the root; empty if it is the root. */
  readonly below: string;
  readonly look: (path: string) => AtPath;
}

const EVIDENCE_CHARS = 1_000;

/**
 * Looks up the places that the judge cites for each criterion. A `met` or `not-met` without an existing place becomes
 * `unclear`, since a verdict without evidence should neither block a claim nor let it pass.
 */
export function weigh(
  criteria: readonly CitedCriterion[],
  tree: JudgedTree,
): readonly JudgedCriterion[] {
  return criteria.map(({ id, text, verdict, evidence, where }) => {
    const found = where.flatMap((place) => foundAt(place, tree) ?? []);
    return {
      ...{ id, text: maskSecrets(text) },
      verdict: found.length === 0 ? 'unclear' : verdict,
      evidence: clip(maskSecrets(withoutControls(evidence)).trim(), EVIDENCE_CHARS),
      where: found,
    };
  });
}

/** Returns every path, relative to the root, that a cited place can mean. */
export function citedPaths(
  { file }: Pick<CitedPlace, 'file'>,
  tree: Omit<JudgedTree, 'look'>,
): readonly string[] {
  const written = file.trim();
  if (written.startsWith('/')) {
    const root = tree.roots.find((each) => written.startsWith(`${each}/`));
    const inside = root === undefined ? null : normal(written.slice(root.length + 1));
    return inside === null ? [] : [inside];
  }
  const paths = [normal(written), normal(`${tree.below}/${written}`)];
  return [...new Set(paths.filter((path) => path !== null))];
}

function foundAt(place: CitedPlace, tree: JudgedTree): JudgedPlace | null {
  const seen = citedPaths(place, tree).map((path) => ({ path, at: tree.look(path) }));
  if (place.missing) {
    const [first] = seen;
    const isMissing = first !== undefined && seen.every(({ at }) => at.kind === 'nothing');
    return isMissing ? { file: shown(first.path), missing: true } : null;
  }
  const { line } = place;
  const hit = seen.find(
    ({ at }) => at.kind === 'file' && (line === null || (line >= 1 && line <= at.lines)),
  );
  if (hit === undefined) return null;
  return { file: shown(hit.path), ...(line === null ? {} : { line }) };
}

function shown(path: string): string {
  return oneLine(maskSecrets(path), 300);
}

/** Resolves `.` and `..` in a relative path. Returns null if the path leads out of the root or to the root itself. */
function normal(path: string): string | null {
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') parts.push(part);
    else if (parts.pop() === undefined) return null;
  }
  return parts.length === 0 ? null : parts.join('/');
}

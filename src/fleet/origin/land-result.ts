import { seeing } from '../../effects/git/private-git.ts';
import { isSameWork } from '../../effects/git/questions/history.ts';
import { shownUrl } from '../../effects/git/questions/origin-answer.ts';
import { originRefs } from '../core/origin-refs.ts';
import type { Mirror } from './mirror.ts';

export interface ResultToLand {
  readonly mirror: Mirror;
  readonly taskId: string;
  readonly commit: string;
  /** The name of the task's branch, without `refs/heads/`. */
  readonly branch: string;
  /** The commit that the task last pushed to the branch; null if it never pushed: then the branch must not exist. */
  readonly left: string | null;
  /** The folder with the objects of the agent's repository. */
  readonly objects: string;
}

/** Where the result of a task is now. `why` and `warning` are sentences. */
export type LandEnd =
  /** The branch holds the result. `commit` may be one with the same files that a killed worker had pushed. */
  | { readonly kind: 'landed'; readonly commit: string; readonly ref: string }
  /** The result has a name of its own: the branch was moved by somebody else, or another branch is in its way. */
  | {
      readonly kind: 'beside';
      readonly commit: string;
      readonly ref: string;
      readonly warning: string;
    }
  | { readonly kind: 'refused'; readonly why: string }
  | { readonly kind: 'away'; readonly why: string };

type Away = Extract<LandEnd, { readonly kind: 'away' }>;

/** The most names that are tried. If so many are taken, the cause must be something else. */
const NAMES_AT_MOST = 100;

/**
 * Moves the task's branch in its repository (the origin) to the result, if it is still where the task left it. If
 * somebody else has moved it, or git cannot have it beside another branch, pushes the result under a name of its own.
 */
export async function landResult(request: ResultToLand): Promise<LandEnd> {
  const { mirror, commit, branch, left, objects } = request;
  const ref = `refs/heads/${branch}`;
  const end = await mirror.push(commit, ref, { objects, expect: left ?? 'absent' });
  if (end.kind === 'pushed') return { kind: 'landed', commit, ref };
  const shown = shownUrl(mirror.url);
  if (end.kind !== 'moved') {
    const other = await refInTheWay(mirror, ref);
    if (other === null) return end;
    return pushBeside(request, `${other} of ${shown} is in the way of the branch ${branch}`);
  }
  const earlier = await landedBefore(request, ref);
  if (typeof earlier === 'string') return { kind: 'landed', commit: earlier, ref };
  if (earlier !== null) return earlier;
  const why = `Somebody else has moved the branch ${branch} of ${shown}, so it was left alone`;
  return pushBeside(request, why);
}

/**
 * Returns a ref that is in the way of `ref`: git allows no branch `a` beside a branch `a/b`, and origins report that in
 * many different words. Null if there is none, or if the origin does not answer.
 */
async function refInTheWay(mirror: Mirror, ref: string): Promise<string | null> {
  const below = await mirror.list(`${ref}/`);
  if (below.kind !== 'listed') return null;
  const [first] = below.refs.keys();
  if (first !== undefined) return first;
  const parts = ref.split('/');
  for (let count = 3; count < parts.length; count += 1) {
    const above = parts.slice(0, count).join('/');
    const listed = await mirror.list(above);
    if (listed.kind === 'listed' && listed.refs.has(above)) return above;
  }
  return null;
}

async function pushBeside(
  { mirror, taskId, commit, objects }: ResultToLand,
  why: string,
): Promise<LandEnd> {
  for (let number = 1; ; number += 1) {
    const ref = `${originRefs(taskId)}result${number === 1 ? '' : `.${number}`}`;
    const end = await mirror.push(commit, ref, { objects });
    if (end.kind === 'pushed') {
      return { kind: 'beside', commit, ref, warning: `${why}; the result is at ${ref}.` };
    }
    if (end.kind !== 'moved') return end;
    if (number === NAMES_AT_MOST) return { kind: 'refused', why: end.why };
  }
}

/**
 * Returns the branch's commit if a worker pushed this result before it was killed. That commit has another id, since it
 * was made at another time, but the same files on the same commit for the same task. Otherwise null, or `away`.
 */
async function landedBefore(
  { mirror, commit, taskId, objects }: ResultToLand,
  ref: string,
): Promise<string | Away | null> {
  const there = await mirror.resolve(ref);
  if (there.kind !== 'found') return there.kind === 'away' ? there : null;
  const git = seeing(mirror.git, [objects]);
  return (await isSameWork(git, taskId, [commit, there.commit])) ? there.commit : null;
}

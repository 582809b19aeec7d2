import {
  type FetchTrouble,
  fetchTrouble,
  shownUrl,
} from '../../effects/git/questions/origin-answer.ts';
import { removeThere } from '../../effects/git/questions/remote.ts';
import { originRefs, thinnedAtOrigin } from '../core/origin-refs.ts';
import type { Mirror } from './mirror.ts';

/** The outcome of removing a task's refs; `why` is a sentence. */
export type RemoveEnd =
  | { readonly kind: 'removed'; readonly count: number }
  /** A hook or missing permissions prevented the removal. */
  | { readonly kind: 'refused'; readonly why: string }
  | FetchTrouble;

/**
 * Removes a task's refs `refs/ralph/<task_id>/*` from its repository (the origin), and never its branch. Resolves as
 * usual even if some or all are gone already.
 */
export function removeSnapshotsAtOrigin(mirror: Mirror, taskId: string): Promise<RemoveEnd> {
  return removeSome(mirror, taskId, (all) => all);
}

/**
 * Removes some of a task's snapshots at the origin if there are very many, as ralph also does in a work tree. Keeps
 * those in `needed`, which a resume of the task fetches.
 */
export function thinSnapshotsAtOrigin(
  mirror: Mirror,
  taskId: string,
  needed: readonly string[],
): Promise<RemoveEnd> {
  return removeSome(mirror, taskId, (all) =>
    thinnedAtOrigin(all).filter((ref) => !needed.includes(ref)),
  );
}

/** How many refs one command removes; more would make its line too long. */
const AT_ONCE = 200;

async function removeSome(
  mirror: Mirror,
  taskId: string,
  which: (refs: readonly string[]) => readonly string[],
): Promise<RemoveEnd> {
  const refs = originRefs(taskId);
  const listed = await mirror.list(refs);
  if (listed.kind !== 'listed') return listed;
  const names = which([...listed.refs.keys()]);
  for (let at = 0; at < names.length; at += AT_ONCE) {
    const some = names.slice(at, at + AT_ONCE);
    const failed = await removeThere(await mirror.online(), mirror.url, some);
    if (failed === null) continue;
    const after = await mirror.list(refs);
    if (after.kind !== 'listed') return after;
    if (some.every((name) => !after.refs.has(name))) continue;
    const { reason, complaint } = failed;
    if (reason === null) return fetchTrouble(complaint, mirror.url, refs);
    return { kind: 'refused', why: `${shownUrl(mirror.url)} does not remove ${refs}*: ${reason}.` };
  }
  return { kind: 'removed', count: names.length };
}

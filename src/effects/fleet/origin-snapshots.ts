import { type FetchTrouble, fetchTrouble, shownUrl } from '../../core/fleet/origin-answer.ts';
import type { Mirror } from './mirror.ts';

/** What became of a task's refs; `why` is a sentence. */
export type RemoveEnd =
  | { readonly kind: 'removed'; readonly count: number }
  /** By a hook or by missing permissions. */
  | { readonly kind: 'refused'; readonly why: string }
  | FetchTrouble;

/** More would make a command line too long. */
const AT_ONCE = 200;

/**
 * Removes all refs of a task at the origin: `refs/ralph/<task_id>/*`, and never its branch. It is no failure if
 * there are none, or if some are gone already.
 */
export async function removeSnapshotsAtOrigin(mirror: Mirror, taskId: string): Promise<RemoveEnd> {
  const refs = `refs/ralph/${taskId}/`;
  const listed = await mirror.list(refs);
  if (listed.kind !== 'listed') return listed;
  const names = [...listed.refs.keys()];
  for (let at = 0; at < names.length; at += AT_ONCE) {
    const some = names.slice(at, at + AT_ONCE);
    const args = ['push', '--porcelain', '--no-verify', '--no-signed', '--delete', '--', mirror.url];
    const { exitCode, output, complaint } = await mirror.git([...args, ...some]);
    if (exitCode === 0) continue;
    const after = await mirror.list(refs);
    if (after.kind !== 'listed') return after;
    if (some.every((name) => !after.refs.has(name))) continue;
    const reason = /^!\t.*\((.*)\)$/m.exec(output)?.[1];
    if (reason === undefined) return fetchTrouble(complaint, mirror.url, refs);
    return { kind: 'refused', why: `${shownUrl(mirror.url)} does not remove ${refs}*: ${reason}.` };
  }
  return { kind: 'removed', count: names.length };
}

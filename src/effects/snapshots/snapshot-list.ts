import { readSnapshotMessage } from '../../core/snapshots/snapshot-message.ts';
import { type ListedSnapshot, type Timeline, timelineOf } from '../../core/snapshots/timeline.ts';
import type { PrivateGit } from './private-git.ts';

const FIELDS = ['%(refname)', '%(objectname)', '%(tree)', '%(contents)'];

/** Lists the snapshots below `refs`, for example `refs/ralph/fix-login`; null if git fails. */
export async function listSnapshots(
  git: Pick<PrivateGit, 'onRepository'>,
  refs: string,
): Promise<Timeline | null> {
  const format = `--format=${FIELDS.join('%00')}%00`;
  const { exitCode, output } = await git.onRepository(['for-each-ref', format, `${refs}/`]);
  if (exitCode !== 0) return null;
  const parts = output.split('\0');
  const listed: ListedSnapshot[] = [];
  for (let at = 0; at + FIELDS.length <= parts.length; at += FIELDS.length) {
    const [ref = '', commit = '', tree = '', message = ''] = parts.slice(at, at + FIELDS.length);
    const read = readSnapshotMessage(Buffer.from(message, 'latin1').toString());
    // Each entry ends with a line break, which begins the next one.
    const name = ref.trim().slice(refs.length + 1);
    if (read !== null) listed.push({ ...read, name, commit, tree });
  }
  return timelineOf(listed);
}

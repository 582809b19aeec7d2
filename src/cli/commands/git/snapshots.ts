import { randomUUID } from 'node:crypto';
import { listTaskSnapshots } from '../../../compose/git-commands/show-snapshots.ts';
import { safeJson } from '../../../core/text/safe-json.ts';
import { withoutControlsIn } from '../../../core/text/untrusted-text.ts';
import { snapshotTable } from '../../../report/screens/snapshots.ts';
import { existingTask } from '../../tasks/find-task.ts';
import { type FolderOptions, foldersOf } from '../../tasks/named-folders.ts';
import { shownTask } from '../../tasks/named-task.ts';
import { standardOutlet } from '../../terminal/outlet.ts';

export interface SnapshotsOptions extends FolderOptions {
  readonly json?: boolean;
}

/** `ralph snapshots [ID]`: lists the snapshots of a task, the oldest first. */
export async function snapshots(
  word: string | undefined,
  options: SnapshotsOptions,
): Promise<number> {
  const place = foldersOf(options);
  const task = existingTask(shownTask(word, place), place);
  const rows = withoutControlsIn(await listTaskSnapshots(task, randomUUID()));
  const text = options.json ? `${safeJson(rows, 2)}\n` : snapshotTable(rows);
  await standardOutlet().write(text);
  return 0;
}

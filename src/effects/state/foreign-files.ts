import path from 'node:path';
import type { TaskState } from '../../core/task/task-state.ts';
import { tryReadText } from '../files/bounded-read.ts';
import { parseObject } from '../files/json-fields.ts';
import { fileOf, type Seal } from '../trust/seal.ts';
import { BASELINE_MAX_BYTES } from '../workspace/kept-baseline.ts';

/**
 * Returns the names of the files beside a task's state that are not sealed with this user's key, so that somebody else
 * may have written them. Leaves out missing or damaged files, which their readers report, and memories (the saved
 * steps), since ralph acts only on sealed ones.
 */
export function foreignFiles(
  folder: string,
  task: Pick<TaskState, 'task_id' | 'started_at'>,
  seal: Seal,
): readonly string[] {
  return (['settings', 'baseline', 'git-setup', 'deciders', 'snapshots'] as const).flatMap(
    (kind) => {
      const name = `${kind}.json`;
      const text = tryReadText(path.join(folder, name), BASELINE_MAX_BYTES);
      if (text === null || parseObject(text) === null) return [];
      return seal.isClosed(text, fileOf(kind, task)) ? [] : [name];
    },
  );
}

import type { UndoneItem } from '../../core/list/list-event.ts';
import { messageOf } from '../../errors.ts';
import { openUndo, type UndoneTask } from '../git-commands/undo.ts';

/**
 * Undoes all changes that a task has made since it began, as `ralph undo ID 1 --hard` does, but does not move HEAD if
 * others have moved it. Leaves a task's own work tree as it is. Never rejects.
 */
export async function undoItem(task: UndoneTask): Promise<UndoneItem> {
  const { work_tree: tree } = task.state.git;
  if (tree !== null) return { kind: 'apart', branch: tree.branch };
  if (task.state.git.snapshots === null) return { kind: 'failed', why: 'there are no snapshots' };
  try {
    const undo = await openUndo(task, { iteration: 1, redo: false, force: false, hard: 'if-own' });
    try {
      const blocked = undo.isNothing ? [] : await undo.carryOut();
      const { kept, whyNoMove } = undo.preview;
      const others = kept.map((name) => `${name}, which somebody else has changed since`);
      const [but = null] = [...blocked.map(({ path, why }) => `${path} (${why})`), ...others];
      if (undo.isNothing && but === null && whyNoMove === null) return { kind: 'nothing' };
      return { kind: 'undone', but, whyNoMove };
    } finally {
      undo.close();
    }
  } catch (error) {
    return { kind: 'failed', why: messageOf(error) };
  }
}

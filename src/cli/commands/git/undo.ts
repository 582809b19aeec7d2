import { type OpenUndo, openUndo } from '../../../compose/git-commands/undo.ts';
import { UsageError } from '../../../errors.ts';
import { EXIT_FAILED } from '../../../exit-codes.ts';
import {
  nothingToUndo,
  undoPreview,
  undoQuestion,
  undoResult,
} from '../../../report/screens/snapshots.ts';
import { existingTask, refuseInsideOwnLoop } from '../../tasks/find-task.ts';
import { type FolderOptions, foldersOf } from '../../tasks/named-folders.ts';
import { iterationNumber, steeredTask } from '../../tasks/named-task.ts';
import { personAt } from '../../terminal/ask-person.ts';
import { say, standardOutlet } from '../../terminal/outlet.ts';

export interface UndoOptions extends FolderOptions {
  readonly redo?: boolean;
  readonly force?: boolean;
  readonly hard?: boolean;
  /** Whether to change the files without asking. */
  readonly yes?: boolean;
}

/** `ralph undo ID [N]`: undoes the changes of iteration N and all later ones. */
export async function undo(
  word: string,
  iteration: string | undefined,
  options: UndoOptions,
): Promise<number> {
  const { redo = false, force = false, hard = false, yes = false } = options;
  if (redo && iteration !== undefined) {
    throw new UsageError(['ralph undo expects an iteration or --redo; found both.']);
  }
  const number = iteration === undefined ? null : iterationNumber(iteration, 'ralph undo');
  const place = foldersOf(options);
  const taskId = steeredTask(word, place);
  const found = existingTask(taskId, place);
  refuseInsideOwnLoop('undo', taskId, found.paths.stateFile, process.env);
  const canBeResumed = !found.isInHistory && found.standing !== 'completed';
  const task = { ...found, place, canBeResumed };
  const open = await openUndo(task, { iteration: number, redo, force, hard });
  try {
    return await agreeAndCarryOut(open, yes);
  } finally {
    open.close();
  }
}

async function agreeAndCarryOut(open: OpenUndo, isAgreed: boolean): Promise<number> {
  const { preview } = open;
  await standardOutlet().write(undoPreview(preview));
  const keepsSome = preview.kept.length > 0 || preview.whyNoMove !== null;
  if (open.isNothing) {
    say(nothingToUndo(preview));
    return keepsSome || preview.iteration === null ? EXIT_FAILED : 0;
  }
  if (!isAgreed) {
    const ask = personAt(process.env);
    if (ask === null) {
      throw new UsageError([
        'ralph undo asks before it changes files, and here it can ask nobody; nothing was changed. --yes answers the question.',
      ]);
    }
    if (!ask(undoQuestion(preview))) {
      say('nothing was changed');
      return EXIT_FAILED;
    }
  }
  const blocked = await open.carryOut();
  say(undoResult(preview, blocked));
  return keepsSome || blocked.length > 0 ? EXIT_FAILED : 0;
}

import type {
  Examination,
  ExamPart,
  ExamRequest,
  Rerun,
} from '../../core/completion/examination.ts';
import { messageOf } from '../../errors.ts';
import type { ExaminedTask } from './examined-task.ts';
import { lookAtTask } from './look-at-deciders.ts';
import { cleanCheckout, oldExam, startTests } from './reruns.ts';

type PartOfChecks = Exclude<ExamPart, 'judge'>;

/** Examines one aspect of the checks of a claim to be done. If something cannot be found out, the answer says so. */
export async function examineChecks(
  task: ExaminedTask,
  { part, checks, ...about }: ExamRequest & { readonly part: PartOfChecks },
): Promise<Examination> {
  switch (part) {
    case 'deciders':
      return { deciders: await lookAtTask(task, checks, about) };
    case 'oldExam':
      return { oldExam: await rerunOf(oldExam(task, checks)) };
    case 'startTests':
      return { startTests: await rerunOf(startTests(task, checks)) };
    case 'cleanCheckout':
      return { cleanCheckout: await rerunOf(cleanCheckout(task, checks)) };
  }
}

function rerunOf(running: Promise<Rerun>): Promise<Rerun> {
  return running.catch((error) => ({
    kind: 'not-made',
    why: `the checkout could not be made: ${messageOf(error)}`,
    setup: null,
    folder: null,
  }));
}

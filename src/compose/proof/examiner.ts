import type {
  Examination,
  ExamPart,
  ExamRequest,
  Rerun,
} from '../../core/completion/examination.ts';
import type { DecidersOfTree } from '../../effects/proof/decider-look.ts';
import { messageOf } from '../../errors.ts';
import type { ExaminedTask } from './examined-task.ts';
import { lookAtTask } from './look-at-deciders.ts';
import { cleanCheckout, oldExam, startTests } from './reruns.ts';

/** Examines the checks of a claim. */
export interface CheckExaminer {
  examine(
    request: ExamRequest & { readonly part: Exclude<ExamPart, 'judge'> },
  ): Promise<Examination>;
}

/** Creates what examines the checks of claims. What cannot be found out is an answer as well. */
export function createExaminer(given: ExaminedTask): CheckExaminer {
  const known = new Map<string, Promise<DecidersOfTree>>();
  const task = { ...given, known, told: new Set<string>() };
  return {
    async examine({ part, checks, ...about }) {
      switch (part) {
        case 'deciders':
          return { deciders: await lookAtTask(task, checks, about) };
        case 'oldExam':
          return { oldExam: await rerunOf(() => oldExam(task, checks)) };
        case 'startTests':
          return { startTests: await rerunOf(() => startTests(task, checks)) };
        case 'cleanCheckout':
          return { cleanCheckout: await rerunOf(() => cleanCheckout(task, checks)) };
      }
    },
  };
}

async function rerunOf(run: () => Promise<Rerun>): Promise<Rerun> {
  return run().catch((error) => ({
    kind: 'not-made',
    why: `the checkout could not be made: ${messageOf(error)}`,
    setup: null,
    folder: null,
  }));
}

import type { Rerun } from '../../core/completion/examination.ts';
import type { JudgesOfTree } from '../../effects/proof/judge-look.ts';
import { messageOf } from '../../errors.ts';
import type { Examiner } from '../../loop/ports.ts';
import type { ExaminedTask } from './examined-task.ts';
import { lookAtTask } from './look-at-judges.ts';
import { cleanCheckout, oldExam, startTests } from './reruns.ts';

/** Creates the port that examines claims. What cannot be found out is an answer as well. */
export function createExaminer(given: ExaminedTask): Examiner {
  const known = new Map<string, Promise<JudgesOfTree>>();
  const task = { ...given, known, told: new Set<string>() };
  return {
    async examine({ part, checks, ...about }) {
      switch (part) {
        case 'judges':
          return { judges: await lookAtTask(task, checks, about) };
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

import { expect, test } from 'vitest';
import { makeBriefing } from '../../../src/core/task/briefing.ts';
import { laterBy } from '../../../src/core/task/task-state.ts';
import { reportScreen } from '../../../src/report/briefing/report-screen.ts';
import { briefIteration, briefingSources, foundRun } from '../../helpers/brief-task.ts';
import { newTask, START } from '../../helpers/new-task.ts';

const ended = { finished_at: laterBy(START, 600_000) };
const PLAIN = { width: 80, paint: null };

test('a report at a terminal looks like the status, and first names what needs a person', () => {
  const work = {
    iterations: [briefIteration(1), briefIteration(2)],
    metrics: { ...newTask().metrics, iterations: 2 },
  };
  const runs = [
    foundRun('a_b', { ...ended, status: 'completed', task_prompt: 'Fix _all_ of it' }),
    foundRun('tired', { ...ended, ...work, status: 'max_iterations_reached' }),
  ];
  const text = reportScreen(makeBriefing(briefingSources({ runs })), PLAIN);
  expect(text).not.toMatch(/[|\\`#*]/);
  expect(text).toContain(`NEEDS A PERSON
tired  out of iterations  2 iterations, 2m, $0.20
  Fix the tests.
  next: ralph resume tired --max-iterations +5 --vault /vault

TASK `);
  expect(text).toMatch(/^a_b +completed .*\n {2}Fix _all_ of it\n$/m);
});

test('a report at a terminal says so if nothing happened', () => {
  expect(reportScreen(makeBriefing(briefingSources()), PLAIN)).toBe(
    `2026-01-05 10:00 to 2026-01-06 10:00 UTC, /vault/.ralph_state
0 tasks completed, 0 failed, 0 waiting, 0 running: 0 iterations

NEEDS A PERSON
nothing
`,
  );
});

import { beforeEach, type RunnerTask, type RunnerTestCase } from 'vitest';
import { NOT_IN_SANDBOX, REASONS } from './not-in-sandbox.ts';

// The set-up of each file of the end-to-end tests with the sandbox on.

beforeEach(({ task, skip }) => {
  const { file } = task;
  const entries = NOT_IN_SANDBOX[file.name] ?? [];
  const names = entries.flatMap(([, ...each]) => each);
  const stale = names.filter((name) => !testsIn(file.tasks).some((test) => isNamed(test, name)));
  if (stale.length > 0) {
    throw new Error(
      `test/helpers/not-in-sandbox.ts names tests that are not in ${file.name}: ${stale.join(', ')}`,
    );
  }
  const entry = entries.find(
    ([, ...each]) => each.length === 0 || each.some((name) => isNamed(task, name)),
  );
  if (entry !== undefined) skip(REASONS[entry[0]]);
});

function testsIn(tasks: readonly RunnerTask[]): readonly RunnerTestCase[] {
  return tasks.flatMap((task) => (task.type === 'suite' ? testsIn(task.tasks) : [task]));
}

/** Whether a test has this name, or belongs to a suite that has it. */
function isNamed({ fullTestName }: RunnerTestCase, name: string): boolean {
  return fullTestName === name || fullTestName.startsWith(`${name} > `);
}

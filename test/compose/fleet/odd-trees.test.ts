import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  originOfTest,
  stoppedOnceThere,
  taskOfTest,
  workerOfTest,
} from '../../helpers/fleet-worker.ts';
import { memoryFleet } from '../../helpers/memory-fleet.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

// What becomes of a task whose agent leaves its repository as no one expects it.

const DONE = 'echo "<promise>TASK_COMPLETE</promise>"';
const COMMIT = 'git -c user.name=a -c user.email=a@example.com commit -q --allow-empty -m agent';

/** The tree that a task's warning names. */
function treeIn(warning: string | null | undefined): string {
  return /work tree is (\S+) on host1/.exec(warning ?? '')?.[1] ?? '';
}

test('what a result cannot have is told with the result, and its tree is kept', async () => {
  const queue = memoryFleet();
  const origin = await originOfTest();
  const agent = `echo b >b.txt; git init -q app; echo c >app/c; echo A=1 >.env; ${DONE}`;
  await queue.submit([await taskOfTest(agent, { repo: origin.url })]);
  await (await workerOfTest(queue)).run();
  const task = await queue.task('t');
  expect(task).toMatchObject({ status: 'completed', result_ref: 'refs/heads/ralph/t' });
  expect(task?.warning).toContain('The result does not have .env, app: ');
  expect(existsSync(join(treeIn(task?.warning), 'app', 'c'))).toBe(true);
});

test.for([
  ['removed', 'rm -rf .git'],
  ['broken', `${COMMIT}; echo '[' >.git/config`],
])('a repository that is %s ends the task, and no branch is made', async ([, deed]) => {
  const queue = memoryFleet();
  const origin = await originOfTest();
  await queue.submit([await taskOfTest(`echo b >b.txt; ${deed}; ${DONE}`, { repo: origin.url })]);
  const worker = await workerOfTest(queue, { originPatienceMs: 3_600_000 });
  await worker.run();
  const task = await queue.task('t');
  expect(task, worker.said.join('\n')).toMatchObject({
    ...{ status: 'failed', exit_reason: 'failed:repository' },
    warning: expect.stringContaining('The work tree cannot be kept: '),
  });
  expect(existsSync(join(treeIn(task?.warning), 'b.txt'))).toBe(true);
  expect(origin.refs()).not.toContain('refs/heads/ralph/t');
});

test('a branch without a commit is one for the next worker, too', async () => {
  const queue = memoryFleet();
  const origin = await originOfTest();
  const folder = await tempFolder();
  const [ready, again] = [join(folder, 'ready'), join(folder, 'again')];
  const orphan = `git checkout -q --orphan new; touch ${ready}`;
  const look = `git rev-parse -q --verify HEAD >head; ${DONE}`;
  const agent = `if [ -e ${again} ]; then ${look}; else ${orphan}; fi`;
  const settings = { maxIterations: 500, noProgressLimit: 0 };
  await queue.submit([await taskOfTest(agent, { repo: origin.url, settings })]);
  const said = await stoppedOnceThere(queue, ready);
  expect(await queue.task('t'), said).toMatchObject({
    parked: { kind: 'handover' },
  });
  writeFileSync(again, '');
  await (await workerOfTest(queue, { id: 'w2' })).run();
  expect(await queue.task('t')).toMatchObject({ status: 'completed' });
  expect(origin.show('ralph/t', 'head')).toBe('');
});

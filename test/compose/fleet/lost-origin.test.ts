import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { originOfTest, queueWith, taskOfTest, workerOfTest } from '../../helpers/fleet-worker.ts';
import { memoryFleet } from '../../helpers/memory-fleet.ts';
import { isDead } from '../../helpers/processes.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

test('an origin that refuses from the second iteration on ends the task once patience is over', async () => {
  const memory = memoryFleet();
  // A worker that dies once the end is stored leaves its folder to the next one, which removes what is not marked.
  let isMarked = false;
  const queue = queueWith(memory, {
    settle(...given) {
      isMarked = existsSync(join(worker.home, 'legs', 't.1', 'kept'));
      return memory.settle(...given);
    },
  });
  const origin = await originOfTest();
  const folder = await tempFolder();
  const [starts, full, pushes] = ['starts', 'full', 'pushes'].map((name) => join(folder, name));
  const hook = join(origin.url, 'hooks', 'pre-receive');
  mkdirSync(join(origin.url, 'hooks'), { recursive: true });
  writeFileSync(
    hook,
    `#!/bin/sh\n[ ! -e ${full} ] || { echo push >>${pushes}; echo 'the disk is full' >&2; exit 1; }\n`,
  );
  chmodSync(hook, 0o755);
  const left = join(folder, 'left');
  const background = `sleep 600 >/dev/null 2>&1 & echo $! >${left}`;
  const agent = `${background}; echo "$RALPH_ITERATION" | tee -a lines >>${starts}; [ "$RALPH_ITERATION" = 1 ] || touch ${full}`;
  await queue.submit([
    await taskOfTest(agent, { repo: origin.url, settings: { maxIterations: 5 } }),
  ]);
  const worker = await workerOfTest(queue, { originPatienceMs: 5_000 });
  await worker.run();

  const task = await queue.task('t');
  expect(task, worker.said.join('\n')).toMatchObject({
    ...{ status: 'failed', exit_reason: 'failed:origin', exit_code: 1, iterations: 1 },
  });
  const linesOf = (file = ''): readonly string[] => readFileSync(file, 'utf8').trim().split('\n');
  expect(linesOf(starts)).toEqual(['1', '2']);
  expect(linesOf(pushes).length).toBeGreaterThan(1);
  expect(isDead(Number(linesOf(left)[0]))).toBe(true);
  // The work that the origin has not got is kept, and a person is told where.
  expect(task?.warning).toContain('the disk is full');
  const [, tree = ''] = /its work tree is (\S+)/.exec(task?.warning ?? '') ?? [];
  expect([existsSync(tree), isMarked]).toEqual([true, true]);
  expect(linesOf(join(tree, 'lines'))).toEqual(['1', '2']);
});

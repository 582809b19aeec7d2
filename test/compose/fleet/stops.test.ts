import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import {
  originOfTest,
  queueWith,
  TEST_POLICY,
  taskOfTest,
  workerOfTest,
} from '../../helpers/fleet-worker.ts';
import { memoryFleet } from '../../helpers/memory-fleet.ts';
import { PATIENCE_MS } from '../../helpers/patience.ts';
import { until } from '../../helpers/processes.ts';
import { GIT_ENV } from '../../helpers/repository.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

// What ends a leg before its task has ended: a person who stops or pauses it, and a worker that is told to stop.

const DONE = 'echo "<promise>TASK_COMPLETE</promise>"';
const STOPPED = { status: 'stopped', exit_reason: 'stopped:request', exit_code: 143 };
const HANDED_OVER = { worker: null, claims_without_iteration: 0, parked: { kind: 'handover' } };

/** Waits for a file that an agent or a command makes as a sign. */
async function untilMade(file: string, worker: { readonly said: readonly string[] }) {
  await until(
    () => existsSync(file),
    () => `${file}; ${worker.said.join(' ')}`,
    PATIENCE_MS,
  );
}

test('a stop reaches a leg in its set-up', async () => {
  const queue = memoryFleet();
  const origin = await originOfTest();
  const ready = join(await tempFolder(), 'ready');
  const settings = { setup: `touch ${ready}; sleep 600` };
  await queue.submit([await taskOfTest(DONE, { repo: origin.url, settings })]);
  const worker = await workerOfTest(queue);
  const run = worker.run();
  await untilMade(ready, worker);
  await queue.request('t', { kind: 'stop', by: 'ann' });
  await run;
  expect(await queue.task('t'), worker.said.join(' ')).toMatchObject(STOPPED);
  expect(await queue.resume('t')).toEqual({ kind: 'done' });
});

test('a worker that is told to stop hands a task over at once whose run has not begun', async () => {
  const queue = memoryFleet();
  const origin = await originOfTest();
  const ready = join(await tempFolder(), 'ready');
  const settings = { setup: `touch ${ready}; sleep 600` };
  await queue.submit([await taskOfTest(DONE, { repo: origin.url, settings })]);
  const worker = await workerOfTest(queue);
  const run = worker.run();
  await untilMade(ready, worker);
  worker.stops.stop();
  expect(await run).toEqual({ gaveBack: false });
  expect(await queue.task('t'), worker.said.join(' ')).toMatchObject(HANDED_OVER);
});

test.for(['a person', 'the worker'])('the clone of a leg is ended by %s', async (by) => {
  const queue = memoryFleet();
  const folder = await tempFolder();
  const [ready, ssh] = [join(folder, 'ready'), join(folder, 'ssh.sh')];
  writeFileSync(ssh, `touch ${ready}; exec sleep 100`);
  await queue.submit([await taskOfTest(DONE, { repo: 'ssh://git@host.invalid/app.git' })]);
  const worker = await workerOfTest(queue, {
    policy: { ...TEST_POLICY, repos: ['ssh://*'] },
    env: { ...GIT_ENV, HOME: folder, GIT_SSH_COMMAND: `/bin/sh ${ssh}` },
    originPatienceMs: 600_000,
  });
  const run = worker.run();
  await untilMade(ready, worker);
  if (by === 'a person') await queue.request('t', { kind: 'stop', by: 'ann' });
  else worker.stops.stop();
  await run;
  const end = by === 'a person' ? STOPPED : HANDED_OVER;
  expect(await queue.task('t'), worker.said.join(' ')).toMatchObject(end);
});

test('a stop while the origin is away ends the task where its last checkpoint is', async () => {
  const queue = memoryFleet();
  const origin = await originOfTest();
  const away = `${origin.url}.away`;
  const again = join(await tempFolder(), 'again');
  const agent = `echo b > b.txt; [ -e ${again} ] || mv ${origin.url} ${away}; touch ${again}; ${DONE}`;
  await queue.submit([await taskOfTest(agent, { repo: origin.url })]);
  const worker = await workerOfTest(queue, { originPatienceMs: 600_000 });
  const run = worker.run();
  await until(
    () => worker.said.some((line) => line.includes('Trying again for up to 10m.')),
    () => worker.said.join(' '),
    PATIENCE_MS,
  );
  await queue.request('t', { kind: 'stop', by: 'ann' });
  await run;
  const stopped = await queue.task('t');
  expect(stopped, worker.said.join(' ')).toMatchObject({ ...STOPPED, iterations: 0 });
  // What its iteration has done is nowhere else.
  const [, tree = ''] =
    /not at the origin; its work tree is (\S+) on /.exec(stopped?.warning ?? '') ?? [];
  expect(readFileSync(join(tree, 'b.txt'), 'utf8')).toBe('b\n');
  const [log] = await queue.logs('t', 0);
  expect(gunzipSync(log?.packed ?? '').toString()).toContain('TASK_COMPLETE');

  renameSync(away, origin.url);
  expect(await queue.resume('t')).toEqual({ kind: 'done' });
  await (await workerOfTest(queue, { id: 'w2' })).run();
  expect(await queue.task('t')).toMatchObject({ status: 'completed', iterations: 1 });
  expect(origin.show('ralph/t', 'b.txt')).toBe('b');
});

test.for(['before', 'after'])(
  'a task that a person pauses stays paused, %s its worker is told to stop',
  async (order) => {
    const memory = memoryFleet();
    let looks = 0;
    const queue = queueWith(memory, {
      async requestsTo(claims) {
        looks += 1;
        return memory.requestsTo(claims);
      },
    });
    const origin = await originOfTest();
    const folder = await tempFolder();
    const [ready, go] = [join(folder, 'ready'), join(folder, 'go')];
    const agent = `[ ! -e ${go} ] || ${DONE}; touch ${ready}; while [ ! -e ${go} ]; do sleep 0.1; done`;
    await queue.submit([await taskOfTest(agent, { repo: origin.url })]);
    const worker = await workerOfTest(queue);
    const run = worker.run();
    await untilMade(ready, worker);
    if (order === 'after') worker.stops.stop();
    await queue.request('t', { kind: 'pause', by: 'ann' });
    // The second look from now on comes after the run was told what the first one found.
    const seen = looks;
    await until(
      () => looks >= seen + 2,
      () => 'two looks for requests',
      PATIENCE_MS,
    );
    worker.stops.stop();
    writeFileSync(go, '');
    await run;
    expect(await queue.task('t'), worker.said.join(' ')).toMatchObject({
      ...{ status: 'paused', paused: true, worker: null, parked: null, iterations: 1 },
    });
    await queue.resume('t');
    await (await workerOfTest(queue, { id: 'w2' })).run();
    expect(await queue.task('t')).toMatchObject({ status: 'completed', iterations: 2 });
  },
);

test('a worker that is told to stop twice says that it has given its leg back', async () => {
  const queue = memoryFleet();
  const origin = await originOfTest();
  const ready = join(await tempFolder(), 'ready');
  await queue.submit([await taskOfTest(`touch ${ready}; sleep 600`, { repo: origin.url })]);
  const worker = await workerOfTest(queue);
  const run = worker.run();
  await untilMade(ready, worker);
  worker.stops.stop();
  worker.stops.askAgain();
  expect(await run).toEqual({ gaveBack: true });
  expect(await queue.task('t')).toMatchObject(HANDED_OVER);
});

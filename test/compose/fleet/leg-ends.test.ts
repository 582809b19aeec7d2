import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, test, vi } from 'vitest';
import { FleetAwayError } from '../../../src/errors.ts';
import { planFleetResume } from '../../../src/fleet/worker/plan-fleet-resume.ts';
import { makeFleetStub } from '../../helpers/fleet-stub.ts';
import {
  originOfTest,
  queueWith,
  stoppedOnceThere,
  TEST_POLICY,
  taskOfTest,
  workerOfTest,
} from '../../helpers/fleet-worker.ts';
import { memoryFleet } from '../../helpers/memory-fleet.ts';
import { until } from '../../helpers/processes.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

// What becomes of a task when its leg ends by itself.

const DONE = 'echo "<promise>TASK_COMPLETE</promise>"';

test('a leg that is too old is ended in its iteration, and another one repeats that', async () => {
  const queue = memoryFleet();
  const origin = await originOfTest();
  const ready = join(await tempFolder(), 'ready');
  const agent = `if [ -e ${ready} ]; then ${DONE}; else touch ${ready}; sleep 600; fi`;
  await queue.submit([await taskOfTest(agent, { repo: origin.url })]);
  const worker = await workerOfTest(queue, { oldestLegMs: 15_000 });
  await worker.run();
  expect(worker.said.join('\n')).toContain('t: handed over, since the leg is too old');
  const task = await queue.task('t');
  expect(task).toMatchObject({ status: 'completed', iterations: 1 });
  // On a busy machine the next leg may be too old as well.
  expect(task?.fence).toBeGreaterThan(1);
});

test('--on-end runs once the result is on its branch, and not when a task is handed over', async () => {
  const queue = memoryFleet();
  const origin = await originOfTest();
  const folder = await tempFolder();
  const [ready, ends] = [join(folder, 'ready'), join(folder, 'ends')];
  const onEnd = `(cat; git -C ${origin.url} show ralph/t:b.txt) >>${ends}`;
  const agent = `echo b >b.txt; touch ${ready}; if [ -e ${folder}/again ]; then ${DONE}; fi`;
  const settings = { onEnd, maxIterations: 500, noProgressLimit: 0 };
  await queue.submit([await taskOfTest(agent, { repo: origin.url, settings })]);
  await stoppedOnceThere(queue, ready);
  expect(await queue.task('t')).toMatchObject({ parked: { kind: 'handover' } });
  expect(existsSync(ends)).toBe(false);

  writeFileSync(join(folder, 'again'), '');
  const second = await workerOfTest(queue, { id: 'w2' });
  await second.run();
  expect(await queue.task('t'), second.said.join('\n')).toMatchObject({ status: 'completed' });
  const [event = '', file] = readFileSync(ends, 'utf8').trim().split('\n');
  expect([JSON.parse(event).event, file]).toEqual(['task_completed', 'b']);
});

test('--on-end runs where only the answer to the end of the task was lost', async () => {
  const memory = memoryFleet();
  const origin = await originOfTest();
  const ends = join(await tempFolder(), 'ends');
  await memory.submit([
    await taskOfTest(DONE, { repo: origin.url, settings: { onEnd: `cat >>${ends}` } }),
  ]);
  let tries = 0;
  const queue = queueWith(memory, {
    async settle(...given) {
      tries += 1;
      const isSettled = await memory.settle(...given);
      if (tries === 1) throw new FleetAwayError('fleet memory/test', 'the test says so');
      return isSettled;
    },
  });
  const worker = await workerOfTest(queue);
  await worker.run();
  expect(tries).toBe(2);
  expect(worker.said.join('\n')).not.toContain('the claim is lost');
  expect(JSON.parse(readFileSync(ends, 'utf8'))).toMatchObject({ event: 'task_completed' });
});

test('--on-end runs after a stop, too, and the log of the stopped iteration is kept', async () => {
  const queue = memoryFleet();
  const origin = await originOfTest();
  const folder = await tempFolder();
  const [ready, ends] = [join(folder, 'ready'), join(folder, 'ends')];
  const settings = { onEnd: `sleep 0.1; cat >${ends}` };
  const agent = `echo "I have begun"; touch ${ready}; sleep 600`;
  await queue.submit([await taskOfTest(agent, { repo: origin.url, settings })]);
  const worker = await workerOfTest(queue);
  const run = worker.run();
  await until(
    () => existsSync(ready),
    () => worker.said.join('\n'),
  );
  await queue.request('t', { kind: 'stop', by: 'ann' });
  await run;
  expect(await queue.task('t')).toMatchObject({ status: 'stopped' });
  expect(JSON.parse(readFileSync(ends, 'utf8'))).toMatchObject({ status: 'stopped' });
  // Its only iteration was not counted.
  const [log] = await queue.logs('t', 0);
  expect(gunzipSync(log?.packed ?? '').toString()).toBe('I have begun\n');
});

test('--on-end goes on for longer than the lease, since the claim is given up by then', async () => {
  const memory = memoryFleet({ leaseMs: 5_000 });
  const origin = await originOfTest();
  const folder = await tempFolder();
  const [begun, goOn, ended] = ['begun', 'go-on', 'ended'].map((name) => join(folder, name));
  let beats = 0;
  const queue = queueWith(memory, {
    async beat(claims) {
      beats += 1;
      return memory.beat(claims);
    },
  });
  const onEnd = `touch ${begun}; until [ -e ${goOn} ]; do sleep 0.05; done; touch ${ended}`;
  await queue.submit([await taskOfTest(DONE, { repo: origin.url, settings: { onEnd } })]);
  const worker = await workerOfTest(queue);
  const run = worker.run();
  const why = () => worker.said.join('\n');
  await until(() => existsSync(begun ?? ''), why);
  const realNow = Date.now;
  vi.spyOn(Date, 'now').mockImplementation(() => realNow() + 3_600_000);
  const seen = beats;
  await until(() => beats >= seen + 2, why).finally(() => vi.restoreAllMocks());
  writeFileSync(goOn ?? '', '');
  await run;
  expect(existsSync(ended ?? ''), why()).toBe(true);
});

test('a share of the usage limit that a task may use pauses its account, and the task goes on later', async () => {
  const queue = memoryFleet();
  const origin = await originOfTest();
  const stub = makeFleetStub(await tempFolder(), { seconds: 0, iterations: 2 });
  const resetsAt = Math.floor(Date.now() / 1_000) + 3_600;
  const facts = `"status":"allowed_warning","resetsAt":${resetsAt},"rateLimitType":"five_hour","utilization":0.9`;
  stub.does({
    seconds: 0,
    iterations: 2,
    before: `say rate_limit_event '"rate_limit_info":{${facts}}'`,
  });
  const settings = { agent: 'claude', agentCommand: null, maxUsage: '80' };
  const tasks = ['t', 'other'].map((id) => taskOfTest('', { id, repo: origin.url, settings }));
  await queue.submit(await Promise.all(tasks));
  const worker = await workerOfTest(queue, {
    policy: { ...TEST_POLICY, agents: ['claude'] },
    env: { ...stub.env('host1'), PATH: `${stub.bin}:${process.env.PATH}`, HOME: stub.folder },
  });
  await worker.run();
  expect(await queue.task('t'), worker.said.join('\n')).toMatchObject({
    ...{ status: 'running', iterations: 1, exit_reason: null },
    parked: { kind: 'wait', account: true },
  });
  const until = new Date(resetsAt * 1_000).toISOString().slice(0, 16);
  const [account] = await queue.accounts();
  expect(account?.paused_until?.slice(0, 16)).toBe(until);
  // Nobody claims for the account meanwhile.
  expect(await queue.task('other')).toMatchObject({ fence: 0 });
});

test('a usage limit without a reset pauses its account for half an hour, and its task goes on then', async () => {
  let nowMs = Date.parse('2026-03-01T12:00:00.000Z');
  const queue = memoryFleet({ now: () => nowMs });
  const origin = await originOfTest();
  const hit = join(await tempFolder(), 'hit');
  const agent = `if [ -e ${hit} ]; then ${DONE}; else touch ${hit}; echo "You've hit your usage limit." >&2; exit 1; fi`;
  await queue.submit([await taskOfTest(agent, { repo: origin.url })]);
  const worker = await workerOfTest(queue);
  await worker.run();
  expect(await queue.task('t'), worker.said.join('\n')).toMatchObject({
    ...{ status: 'running', fence: 1, iterations: 0 },
    parked: { kind: 'wait', until: '2026-03-01T12:30:00.000Z', account: true },
  });
  expect((await queue.accounts())[0]?.paused_until).toBe('2026-03-01T12:30:00.000Z');
  nowMs += 31 * 60_000;
  await (await workerOfTest(queue, { id: 'w2' })).run();
  expect(await queue.task('t')).toMatchObject({ status: 'completed', fence: 2, iterations: 1 });
});

test('a task that is out of iterations goes on with its work once it gets more of them', async () => {
  const queue = memoryFleet();
  const origin = await originOfTest();
  const agent = `[ ! -e work.txt ] || ${DONE}; echo mine >work.txt`;
  const settings = { maxIterations: '1' };
  await queue.submit([await taskOfTest(agent, { repo: origin.url, settings })]);
  await (await workerOfTest(queue)).run();
  const spent = await queue.task('t');
  expect(spent).toMatchObject({ status: 'max_iterations_reached', iterations: 1 });
  if (spent === null) return;
  const source = { kind: 'flag', where: '--max-iterations' } as const;
  const more = { maxIterations: { value: '+1', source } };
  await expect(
    planFleetResume(queue, spent, { iterationTimeout: { value: '30h', source } }),
  ).rejects.toThrow('22h');
  await queue.resume('t', await planFleetResume(queue, spent, more));
  await (await workerOfTest(queue, { id: 'w2' })).run();
  expect(await queue.task('t')).toMatchObject({ status: 'completed', iterations: 2 });
  expect(origin.show('ralph/t', 'work.txt')).toBe('mine');
});

test('a request that cannot be left for one task reaches the others', async () => {
  const queue = memoryFleet();
  const origin = await originOfTest();
  const folder = await tempFolder();
  const breaks = `d=$(dirname "$RALPH_STATE_FILE")/requests; rm -rf "$d"; ln -s /nowhere "$d"`;
  const agent = `[ "$RALPH_TASK_ID" = b ] || { ${breaks}; }; touch ${folder}/$RALPH_TASK_ID; sleep 600`;
  for (const id of ['a', 'b'])
    await queue.submit([await taskOfTest(agent, { id, repo: origin.url })]);
  const worker = await workerOfTest(queue, { slots: 2 });
  const run = worker.run();
  await until(
    () => ['a', 'b'].every((id) => existsSync(join(folder, id))),
    () => worker.said.join('\n'),
  );
  await queue.request('a', { kind: 'tell', text: 'hello', by: 'ann' });
  await queue.request('b', { kind: 'stop', by: 'ann' });
  await expect.poll(() => queue.task('b')).toMatchObject({ status: 'stopped' });
  worker.stops.stop();
  worker.stops.askAgain();
  await run;
  expect(await queue.task('a')).toMatchObject({ status: 'running', worker: null });
});

test('what a failed task says holds no credential', async () => {
  const queue = memoryFleet();
  const { url: repo } = await originOfTest();
  const key = `sk-ant-api03-${'aB3'.repeat(30)}`;
  const settings = { verify: `curl -H "x-api-key: ${key}" https://example.org` };
  await queue.submit([await taskOfTest(DONE, { repo, settings })]);
  const worker = await workerOfTest(queue, { policy: { ...TEST_POLICY, commands: 'none' } });
  await worker.run();
  const task = await queue.task('t');
  expect(task).toMatchObject({ exit_reason: 'failed:policy' });
  const told = [task?.warning, worker.said, await queue.events('t', 0)];
  expect(JSON.stringify(told)).not.toContain(key);
  expect(task?.warning).toContain('[masked]');
});

test('a task whose run has failed names its work tree and its logs, which are kept', async () => {
  const queue = memoryFleet();
  const { url: repo } = await originOfTest();
  const agent = 'echo b >b.txt; echo "usage: agent [--help]" >&2; exit 2';
  await queue.submit([await taskOfTest(agent, { repo })]);
  const worker = await workerOfTest(queue);
  await worker.run();
  const task = await queue.task('t');
  expect(task, worker.said.join('\n')).toMatchObject({ status: 'failed' });
  const [, tree = '', logs = ''] =
    /its work tree is (\S+) on host1, and its logs are in (\S+)\.$/.exec(task?.warning ?? '') ?? [];
  expect(readFileSync(join(tree, 'b.txt'), 'utf8')).toBe('b\n');
  expect(existsSync(join(logs, 't', 'iteration-0001.stderr.log'))).toBe(true);
  const [log] = await queue.logs('t', 0);
  expect(gunzipSync(log?.packed ?? '').toString()).toContain('usage: agent');
});

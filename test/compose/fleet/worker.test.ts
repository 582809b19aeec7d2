import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { CLAIMS_AT_MOST } from '../../../src/core/supervisor/lease.ts';
import { claimed } from '../../helpers/fleet-tasks.ts';
import {
  originOfTest,
  queueWith,
  TEST_POLICY,
  taskOfTest,
  workerOfTest,
} from '../../helpers/fleet-worker.ts';
import { refusePushes } from '../../helpers/leg.ts';
import { type MemoryFleet, memoryFleet } from '../../helpers/memory-fleet.ts';
import { until } from '../../helpers/processes.ts';
import { gitIn } from '../../helpers/repository.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const DONE = 'echo "<promise>TASK_COMPLETE</promise>"';

test('a task is cloned, worked on, and its result is on its branch', async () => {
  const queue = memoryFleet();
  const origin = await originOfTest();
  await queue.submit([await taskOfTest(`echo b > b.txt; ${DONE}`, { repo: origin.url })]);
  const worker = await workerOfTest(queue, { isVerbose: true });
  await worker.run();
  expect(worker.said).toContain('took t (fence 1)');
  const task = await queue.task('t');
  expect(task, worker.said.join('\n')).toMatchObject({
    ...{ status: 'completed', exit_code: 0, iterations: 1, base_commit: origin.first },
    ...{ result_ref: 'refs/heads/ralph/t', warning: null },
  });
  expect(origin.show('ralph/t', 'b.txt')).toBe('b');
  expect(origin.refs()).toContain('refs/ralph/t/1.1.2');
  expect(task?.branch_commit).toBe(origin.git('rev-parse', 'ralph/t'));
});

test('a worker that polls in vain keeps nothing of its polls, and stops within one', async () => {
  // Node keeps each signal of `any` for as long as the worker runs.
  const any = vi.spyOn(AbortSignal, 'any');
  onTestFinished(() => any.mockRestore());
  let polls = 0;
  const queue = queueWith(memoryFleet(), {
    async claim() {
      polls += 1;
      if (polls === 20) worker.stops.stop();
      return null;
    },
  });
  const worker = await workerOfTest(queue, { pollMs: 1, untilEmpty: false });
  await worker.run();
  expect([polls, any.mock.calls.length < polls]).toEqual([20, true]);
});

/** Loses claims of the only task that waits, until one more would fail it. */
async function loseClaims(queue: MemoryFleet, pass: (ms: number) => void): Promise<void> {
  for (let lost = 1; lost < CLAIMS_AT_MOST; lost += 1) {
    await claimed(queue);
    pass(queue.leaseMs + 1_000);
    await queue.sweep();
  }
}

test('a task that fails if its worker is lost once more runs alone', async () => {
  let now = Date.now();
  const queue = memoryFleet({ now: () => now });
  const { url: repo } = await originOfTest();
  const folder = await tempFolder();
  const [trace, goOn] = [join(folder, 'trace'), join(folder, 'go-on')];
  const traced = (name: string, work: string): string =>
    `echo ${name} begins >> ${trace}; ${work}; echo ${name} ends >> ${trace}`;
  const place = { account: 'held' };
  await queue.submit([await taskOfTest(traced('last', DONE), { id: 'last', repo, place })]);
  await loseClaims(queue, (ms) => {
    now += ms;
  });
  await queue.setAccount('held', { pause: 3_600_000 });
  const waits = `until [ -e ${goOn} ]; do sleep 0.02; done; [ "$RALPH_ITERATION" = 1 ] || ${DONE}`;
  await queue.submit([await taskOfTest(traced('other', waits), { id: 'other', repo })]);
  const worker = await workerOfTest(queue, { slots: 2 });
  const over = worker.run();
  await until(
    () => existsSync(trace),
    () => 'the first iteration of the other task',
  );
  await queue.setAccount('held', { resume: true });
  await until(
    () => worker.said.includes('took last'),
    () => 'the claim of the last task',
  );
  writeFileSync(goOn, '');
  await over;
  const lines = readFileSync(trace, 'utf8').trim().split('\n');
  const begins = lines.indexOf('last begins');
  expect(lines.slice(begins - 1, begins + 2)).toEqual(['other ends', 'last begins', 'last ends']);
  for (const id of ['other', 'last']) {
    expect(await queue.task(id), worker.said.join('\n')).toMatchObject({ status: 'completed' });
  }
  expect((await queue.task('other'))?.iterations).toBe(2);
});

test.for([
  { name: 'a command', policy: { ...TEST_POLICY, commands: 'none' as const }, says: 'commands' },
  { name: 'an agent', policy: { ...TEST_POLICY, agents: ['claude' as const] }, says: 'agents' },
  { name: 'a repository', policy: { ...TEST_POLICY, repos: ['https://*'] }, says: 'repos' },
])(
  'a task that asks for more than the policy allows is not run: $name',
  async ({ policy, says }) => {
    const queue = memoryFleet();
    const origin = await originOfTest();
    const trace = join(await tempFolder(), 'trace');
    await queue.submit([await taskOfTest(`touch ${trace}; ${DONE}`, { repo: origin.url })]);
    await (await workerOfTest(queue, { policy })).run();
    const task = await queue.task('t');
    expect(task).toMatchObject({ status: 'failed', exit_reason: 'failed:policy', exit_code: 1 });
    expect(task?.warning).toContain(says);
    const events = (await queue.events('t', 0)).map(({ event }) => event);
    expect(events).toMatchObject([
      { event: 'task_failed', exit_reason: 'failed:policy', exit_code: 1 },
    ]);
    expect(() => readFileSync(trace)).toThrow('ENOENT');
  },
);

test('a worker that stops hands its task over to another one, on another path', async () => {
  const queue = memoryFleet();
  const origin = await originOfTest({ 'README.md': 'as it was\n' });
  const gate = join(await tempFolder(), 'gate');
  const agent = `printf '%s\\n' "$RALPH_ITERATION" >> lines; [ "$RALPH_ITERATION" = 1 ] && echo x > ${gate}; [ "$RALPH_ITERATION" -lt 3 ] || ${DONE}`;
  await queue.submit([
    await taskOfTest(agent, { repo: origin.url, settings: { maxIterations: 5 } }),
  ]);
  const first = await workerOfTest(queue, {
    say: (line) => {
      if (line.includes('iteration 1 answered')) first.stops.stop();
    },
  });
  await first.run();
  expect(readFileSync(gate, 'utf8')).toBe('x\n');
  const between = await queue.task('t');
  expect(between).toMatchObject({ status: 'running', worker: null, parked: { kind: 'handover' } });
  expect(between?.iterations).toBeLessThan(3);
  const second = await workerOfTest(queue, { id: 'w2' });
  await second.run();
  const task = await queue.task('t');
  expect(task, second.said.join('\n')).toMatchObject({
    status: 'completed',
    iterations: 3,
    fence: 2,
  });
  expect(origin.show('ralph/t', 'lines')).toBe('1\n2\n3');
});

test('an origin that refuses the first snapshot costs no agent', async () => {
  const queue = memoryFleet();
  const origin = await originOfTest();
  refusePushes(origin.url, 'nobody pushes here');
  const trace = join(await tempFolder(), 'trace');
  await queue.submit([await taskOfTest(`touch ${trace}; ${DONE}`, { repo: origin.url })]);
  await (await workerOfTest(queue)).run();
  const task = await queue.task('t');
  expect(task).toMatchObject({ status: 'failed', exit_reason: 'failed:origin', iterations: 0 });
  expect(task?.warning).toContain('nobody pushes here');
  expect(() => readFileSync(trace)).toThrow('ENOENT');
});

test('what needs an approval is parked, and goes on with the answer', async () => {
  const queue = memoryFleet();
  const origin = await originOfTest();
  const agent = `if grep -q approved; then echo b > b.txt; ${DONE}; else echo '<approval id="deploy">may I deploy?</approval>'; fi`;
  await queue.submit([await taskOfTest(agent, { repo: origin.url })]);
  const worker = await workerOfTest(queue);
  await worker.run();
  expect(await queue.task('t'), worker.said.join('\n')).toMatchObject({
    ...{ status: 'paused_awaiting_approval', worker: null, parked: { kind: 'approval' } },
  });
  await queue.answer('t', { verdict: 'approved', by: 'ann@desk', comment: null });
  const second = await workerOfTest(queue, { id: 'w2' });
  await second.run();
  expect(await queue.task('t'), second.said.join('\n')).toMatchObject({
    status: 'completed',
    iterations: 2,
  });
  expect(origin.show('ralph/t', 'b.txt')).toBe('b');
});

test('a worker whose disk is full hands its task over, and takes nothing', async () => {
  const queue = memoryFleet();
  const origin = await originOfTest();
  const agent = `echo "$RALPH_ITERATION" >> lines; [ "$RALPH_ITERATION" -lt 3 ] || ${DONE}`;
  await queue.submit([await taskOfTest(agent, { repo: origin.url })]);
  let room = 2 * 1024 ** 3;
  const full = await workerOfTest(queue, {
    roomLeft: () => room,
    untilEmpty: false,
    say: (line) => {
      if (line.includes('iteration 1 answered')) room = 1024;
      if (line.includes('handed over')) full.stops.stop();
    },
  });
  await full.run();
  expect(await queue.task('t')).toMatchObject({
    ...{ status: 'running', worker: null },
    parked: { kind: 'handover', why: 'less than 64 MB is free in the home of this worker' },
  });
  await (await workerOfTest(queue, { id: 'w2' })).run();
  expect(await queue.task('t')).toMatchObject({ status: 'completed', iterations: 3 });
  expect(origin.show('ralph/t', 'lines')).toBe('1\n2\n3');
});

test('the set-up runs once in each new work tree, and its failure is the end', async () => {
  const queue = memoryFleet();
  const origin = await originOfTest();
  const settings = { setup: 'echo "no compiler here" >&2; exit 3' };
  const task = await taskOfTest(DONE, { repo: origin.url, settings });
  await queue.submit([task]);
  await (await workerOfTest(queue)).run();
  const end = await queue.task('t');
  expect(end).toMatchObject({ status: 'failed', exit_reason: 'failed:setup', iterations: 0 });
  expect(end?.warning).toContain('no compiler here');
});

test('an agent sees nothing that leads to the database, and what its account gives it', async () => {
  const queue = memoryFleet();
  const origin = await originOfTest();
  const agent = `env > seen; ${DONE}`;
  await queue.submit([await taskOfTest(agent, { repo: origin.url, place: { account: 'team' } })]);
  const accounts = new Map([['team', { TEAM_KEY: 'team-key' }]]);
  const secrets = { PGPASSWORD: 'pg-secret', PGHOST: 'db', RALPH_FLEET: 'postgres://db/fleet' };
  const worker = await workerOfTest(queue, {
    accounts,
    env: { PATH: process.env.PATH, ...secrets },
  });
  await worker.run();
  expect(await queue.task('t'), worker.said.join('\n')).toMatchObject({ status: 'completed' });
  const seen = origin.show('ralph/t', 'seen');
  expect(seen).toContain('TEAM_KEY=team-key');
  expect(seen).not.toMatch(/pg-secret|^PG|RALPH_FLEET/m);
});

test('a request reaches the run: what a person tells is in the next prompt', async () => {
  const queue = memoryFleet();
  const origin = await originOfTest();
  const ready = join(await tempFolder(), 'ready');
  writeFileSync(ready, '');
  const agent = `cat > prompt; if grep -q 'use tabs' prompt; then ${DONE}; else echo "$RALPH_ITERATION" > ${ready}; fi`;
  await queue.submit([
    await taskOfTest(agent, {
      repo: origin.url,
      settings: { maxIterations: 200, noProgressLimit: 0 },
    }),
  ]);
  let isTold = false;
  const worker = await workerOfTest(queue, {
    say: (line) => {
      if (isTold || !line.includes('iteration 1 answered')) return;
      isTold = true;
      void queue.request('t', { kind: 'tell', text: 'use tabs', by: 'ann' });
    },
  });
  await worker.run();
  expect(await queue.task('t')).toMatchObject({ status: 'completed' });
  expect(isTold).toBe(true);
});

test('a link in place of --subdir does not lead the agent out of the clone', async () => {
  const queue = memoryFleet();
  const origin = await originOfTest();
  const elsewhere = await originOfTest();
  symlinkSync(elsewhere.source, join(origin.source, 'sub'));
  const inSource = gitIn(origin.source);
  inSource('add', 'sub');
  inSource('commit', '-qm', 'a link');
  inSource('push', '-q', origin.url, 'HEAD:main');
  const trace = join(await tempFolder(), 'trace');
  const settings = { setup: `touch ${trace}` };
  const task = { repo: origin.url, place: { subdir: 'sub' }, settings };
  await queue.submit([await taskOfTest(`touch ${trace}; ${DONE}`, task)]);
  await (await workerOfTest(queue)).run();
  const end = await queue.task('t');
  expect(end).toMatchObject({ status: 'failed', exit_reason: 'failed:repository' });
  expect(end?.warning).toContain("'sub' is a link that leads out of it");
  expect(() => readFileSync(trace)).toThrow('ENOENT');
});

test('a repository inside of --subdir is not taken for that of the task', async () => {
  const queue = memoryFleet();
  const origin = await originOfTest({ 'sub/a.txt': 'a\n' });
  const trace = join(await tempFolder(), 'trace');
  const settings = { setup: 'git init -q .' };
  const task = { repo: origin.url, place: { subdir: 'sub' }, settings };
  await queue.submit([await taskOfTest(`touch ${trace}; ${DONE}`, task)]);
  await (await workerOfTest(queue)).run();
  const end = await queue.task('t');
  expect(end).toMatchObject({ status: 'failed', exit_reason: 'failed:repository' });
  expect(end?.warning).toContain('belongs to a repository other than that of --repo');
  expect(() => readFileSync(trace)).toThrow('ENOENT');
});

test('an open approval does not expire because the task was stopped and resumed', async () => {
  let now = Date.now();
  const queue = memoryFleet({ now: () => now });
  const origin = await originOfTest();
  const agent = `if grep -q approved; then ${DONE}; else echo '<approval id="deploy">may I deploy?</approval>'; fi`;
  await queue.submit([await taskOfTest(agent, { repo: origin.url })]);
  await (await workerOfTest(queue)).run();
  await queue.request('t', { kind: 'stop', by: 'ann' });
  await queue.resume('t');
  const second = await workerOfTest(queue, { id: 'w2' });
  await second.run();
  const parked = await queue.task('t');
  expect(parked, second.said.join('\n')).toMatchObject({
    ...{ status: 'paused_awaiting_approval', ended_at: null, parked: { kind: 'approval' } },
  });
  const [asked] = await queue.approvals();
  expect(parked?.parked).toMatchObject({ until: asked?.expiresAt });
  now = Date.parse(asked?.expiresAt ?? '') + 1;
  const third = await workerOfTest(queue, { id: 'w3' });
  await third.run();
  expect(await queue.task('t'), third.said.join('\n')).toMatchObject({
    ...{ status: 'paused_awaiting_approval', exit_reason: 'approval-expired' },
  });

  // After a resume there is time for an answer again.
  now += 1_000;
  expect(await queue.resume('t')).toEqual({ kind: 'done' });
  const fourth = await workerOfTest(queue, { id: 'w4' });
  await fourth.run();
  expect(await queue.task('t'), fourth.said.join('\n')).toMatchObject({
    ...{ status: 'paused_awaiting_approval', ended_at: null, parked: { kind: 'approval' } },
  });
  const yes = { verdict: 'approved', by: 'ann', comment: null } as const;
  expect(await queue.answer('t', yes)).toEqual({ kind: 'done' });
  const last = await workerOfTest(queue, { id: 'w5' });
  await last.run();
  expect(await queue.task('t'), last.said.join('\n')).toMatchObject({ status: 'completed' });
});

test('a worker says once of each kind what a sweep could not do', async () => {
  const queue = memoryFleet();
  const troubles = [
    { what: 'task a got no job', why: 'out of range' },
    { what: 'task b got no job', why: 'out of range' },
    { what: 'the tasks of ralph-s1-x got no jobs', why: 'refused.' },
  ];
  const troubled = new Proxy(queue, {
    get: (target, name) => (name === 'sweep' ? async () => troubles : Reflect.get(target, name)),
  });
  const worker = await workerOfTest(troubled, { untilEmpty: false });
  const run = worker.run();
  await until(
    () => worker.said.length === 2,
    () => worker.said.join('\n'),
  );
  worker.stops.stop();
  await run;
  expect(worker.said).toEqual([
    'task a got no job: out of range; retried with each sweep, and not reported again',
    'the tasks of ralph-s1-x got no jobs: refused; retried with each sweep, and not reported again',
  ]);
});

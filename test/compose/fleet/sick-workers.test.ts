import { chmodSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { CLAIMS_AT_MOST } from '../../../src/core/supervisor/lease.ts';
import { FleetError } from '../../../src/errors.ts';
import { originOfTest, queueWith, taskOfTest, workerOfTest } from '../../helpers/fleet-worker.ts';
import { memoryFleet } from '../../helpers/memory-fleet.ts';
import { GIT_ENV } from '../../helpers/repository.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

// Workers that cannot work: their tasks go to others, and they claim nothing for a while.

const DONE = 'echo "<promise>TASK_COMPLETE</promise>"';
const WAITS = { status: 'pending', worker: null, claims_without_iteration: 0, ended_at: null };

/** Returns a PATH whose git is a script; without one, a PATH without git. */
async function pathWith(script: string | null): Promise<string> {
  const folder = await tempFolder();
  if (script === null) return folder;
  writeFileSync(join(folder, 'git'), `#!/bin/sh\n${script}\nexec ${await realGit()} "$@"\n`);
  chmodSync(join(folder, 'git'), 0o755);
  return `${folder}:${process.env.PATH}`;
}

async function realGit(): Promise<string> {
  const { findProgram } = await import('../../../src/effects/processes/find-program.ts');
  const found = findProgram({ name: 'git', env: process.env, cwd: '/', further: [] });
  if (!('file' in found)) throw new Error(found.missing);
  return found.file;
}

/** What git has made is removed by then, so that there is room for a file again. */
const NO_INODES = `case "$*" in *'reset --hard'*) echo "error: unable to create file a: No space left on device" >&2; exit 128;; esac`;
const FULL = `case "$*" in *init*) echo "fatal: cannot mkdir: No space left on device" >&2; exit 128;; esac`;

test.for([
  { name: 'no git', script: null, says: 'there is no git on its PATH' },
  { name: 'no inodes', script: NO_INODES, says: 'unable to create file' },
  { name: 'a full disk', script: FULL, says: 'No space left on device' },
])('a worker with $name takes one task at most, and fails none', async ({ script, says }) => {
  const queue = memoryFleet();
  const { url: repo } = await originOfTest();
  for (const id of ['a', 'b']) await queue.submit([await taskOfTest(DONE, { id, repo })]);
  const sick = await workerOfTest(queue, {
    env: { ...GIT_ENV, PATH: await pathWith(script) },
    say(line) {
      sick.said.push(line);
      if (line.startsWith('claims no tasks')) sick.stops.stop();
    },
  });
  await sick.run();
  expect(sick.said.join('\n')).toMatch(/^a: handed over, since /m);
  expect(sick.said.join('\n')).toMatch(/^claims no tasks: it rests for 5m, since /m);
  expect(sick.said.join('\n')).toContain(says);
  expect(await queue.task('a')).toMatchObject({ ...WAITS, parked: { kind: 'handover' } });
  expect(await queue.task('b')).toMatchObject({ ...WAITS, fence: 0 });
  await (await workerOfTest(queue, { id: 'w2' })).run();
  for (const id of ['a', 'b']) expect(await queue.task(id)).toMatchObject({ status: 'completed' });
});

test('a worker whose TMPDIR can hold no checkout leaves a task that may need one', async () => {
  const queue = memoryFleet();
  const { url: repo } = await originOfTest();
  const settings = { verify: ['true'], verifyClean: true };
  await queue.submit([await taskOfTest(DONE, { repo, settings })]);
  const sick = await workerOfTest(queue, {
    say(line) {
      sick.said.push(line);
      if (line.startsWith('claims no tasks')) sick.stops.stop();
    },
  });
  vi.stubEnv('TMPDIR', '/dev/null/none');
  try {
    await sick.run();
  } finally {
    vi.unstubAllEnvs();
  }
  expect(sick.said.join('\n')).toMatch(/^t: handed over, since TMPDIR expects /m);
  expect(await queue.task('t')).toMatchObject({ ...WAITS, parked: { kind: 'handover' } });
});

test('a task that makes every worker sick fails in the end, though no agent ever ran', async () => {
  let now = Date.now();
  const queue = memoryFleet({ now: () => now });
  const { url: repo } = await originOfTest();
  await queue.submit([await taskOfTest(DONE, { repo })]);
  const env = { ...GIT_ENV, PATH: await pathWith(NO_INODES) };
  for (let tries = 0; tries < 20; tries += 1) {
    const worker = await workerOfTest(queue, {
      env,
      say(line) {
        worker.said.push(line);
        if (line.startsWith('claims no tasks')) worker.stops.stop();
      },
    });
    await worker.run();
    now += queue.leaseMs + 1_000;
    await queue.sweep();
    if ((await queue.task('t'))?.ended_at !== null) break;
  }
  expect(await queue.task('t')).toMatchObject({
    ...{ status: 'failed', exit_reason: 'failed:worker-died', fence: 2 * CLAIMS_AT_MOST + 1 },
  });
});

test('a worker that could not work claims again after its rest', async () => {
  const queue = memoryFleet();
  const { url: repo } = await originOfTest();
  const once = join(await tempFolder(), 'once');
  const script = `if mkdir ${once} 2>/dev/null; then :; else exec ${await realGit()} "$@"; fi; echo 'fatal: Disk quota exceeded' >&2; exit 128`;
  await queue.submit([await taskOfTest(DONE, { repo })]);
  const worker = await workerOfTest(queue, {
    env: { ...GIT_ENV, PATH: await pathWith(script) },
    restMs: 1,
  });
  await worker.run();
  expect(await queue.task('t'), worker.said.join('\n')).toMatchObject({
    ...{ status: 'completed', fence: 2 },
  });
});

test('work that a sick worker cannot keep counts as a lost claim, so that it is not paid for without end', async () => {
  let now = Date.now();
  const queue = memoryFleet({ now: () => now });
  const { url: repo } = await originOfTest();
  const folder = await tempFolder();
  const git = join(folder, 'git');
  // Git is gone by the time that the work has to be kept.
  const agent = `/bin/rm ${git}; ${DONE}`;
  await queue.submit([await taskOfTest(agent, { repo })]);
  for (let claims = 1; claims <= CLAIMS_AT_MOST; claims += 1) {
    symlinkSync(await realGit(), git);
    const worker = await workerOfTest(queue, {
      env: { ...GIT_ENV, PATH: folder },
      say(line) {
        worker.said.push(line);
        if (line.startsWith('claims no tasks')) worker.stops.stop();
      },
    });
    await worker.run();
    expect(worker.said.join('\n')).toContain('t: goes to another worker once its lease is over');
    expect(await queue.task('t')).toMatchObject({ claims_without_iteration: claims });
    now += queue.leaseMs + 1_000;
    await queue.sweep();
  }
  await (await workerOfTest(queue)).run();
  expect(await queue.task('t')).toMatchObject({ exit_reason: 'failed:worker-died' });
});

test('a worker with too little room says so once, and goes on when there is room', async () => {
  const queue = memoryFleet();
  const { url: repo } = await originOfTest();
  await queue.submit([await taskOfTest(DONE, { repo })]);
  let looks = 0;
  const worker = await workerOfTest(queue, {
    roomLeft() {
      looks += 1;
      return looks < 20 ? 1024 : 2 * 1024 ** 3;
    },
  });
  await worker.run();
  expect(worker.said.slice(0, 3)).toEqual([
    'claims no tasks: less than 1 GiB is free in its home',
    'claims tasks again',
    'took t',
  ]);
  expect(await queue.task('t')).toMatchObject({ status: 'completed' });
});

test('--until-empty ends where nothing is left, also with too little room', async () => {
  const worker = await workerOfTest(memoryFleet(), { roomLeft: () => 1024 });
  await worker.run();
  expect(worker.said).toEqual(['claims no tasks: less than 1 GiB is free in its home']);
});

test('--until-empty ends with the refusal of a fleet that this ralph may not claim from', async () => {
  const queue = queueWith(memoryFleet(), {
    async claim() {
      throw new FleetError('the fleet has tables of a newer ralph');
    },
  });
  await expect((await workerOfTest(queue)).run()).rejects.toThrow('tables of a newer ralph');
});

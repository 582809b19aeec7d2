import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import type { LoopState } from '../../../src/core/machine/loop-state.ts';
import { SCHEMA_VERSION } from '../../../src/core/task/task-state.ts';
import type { DecidersAtStart } from '../../../src/effects/proof/deciders-at-start.ts';
import { decidersJson, storedDeciders } from '../../../src/effects/proof/deciders-at-start.ts';
import { foreignFiles } from '../../../src/effects/state/foreign-files.ts';
import { packStep, unpackState } from '../../../src/effects/state/packed-state.ts';
import { memoryOf } from '../../../src/effects/state/saved-step.ts';
import { readNewestStep, readStateFile } from '../../../src/effects/state/state-file.ts';
import { createStateStore } from '../../../src/effects/state/state-store.ts';
import { taskPaths } from '../../../src/effects/state/task-folder.ts';
import { StateTooNewError } from '../../../src/errors.ts';
import { StateCorruptedError } from '../../../src/task-errors.ts';
import { answered } from '../../helpers/attempt-facts.ts';
import { loopInHand } from '../../helpers/loop-in-hand.ts';
import { packState } from '../../helpers/packed-task.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';
import { testSeal } from '../../helpers/test-seal.ts';

const PROMPT = Buffer.from('Do \0it\r\n\xff', 'latin1');
const BASELINE = { taken: null, watched: { 'a.md': { size: 1, changedAt: '2', sha256: 'ab' } } };
const JUDGES: DecidersAtStart = {
  checks: ['npm test'],
  folder: { files: { 'package.json': 'ab' }, scripts: [], programs: ['npm'] },
  path: '/usr/bin',
  programs: { npm: '/usr/bin/npm' },
  ignored: { '.env': 'cd' },
};

/** A state folder of another machine, with nothing in it. */
async function elsewhere(taskId = 'task-1') {
  const stateDir = join(await tempFolder(), 'state');
  return { paths: taskPaths(stateDir, taskId), seal: testSeal(stateDir) };
}

/** A loop that works, and what it remembers of its last answer. */
function workingLoop(text = 'I wrote "a.md".\u0007'): LoopState {
  const loop = loopInHand();
  loop.start();
  loop.hint('Be brief.');
  loop.iterate(answered(text));
  return loop.state();
}

/** A task as its driver has saved it. */
async function saved(state = workingLoop()) {
  const place = await elsewhere(state.task.task_id);
  const store = await createStateStore({
    ...place,
    clock: { monotonicMs: () => 0, heldUpMs: () => 0 },
    task: state.task,
    files: {
      prompt: PROMPT,
      settings: '{"settings":{}}\n',
      baseline: `${JSON.stringify(BASELINE)}\n`,
      gitSetup: '{"setup":{}}\n',
      deciders: decidersJson(JUDGES),
    },
    onFailure(error) {
      throw error;
    },
    warn: (sentence) => expect.unreachable(sentence),
  });
  await store.save(state, []);
  await store.durable();
  return { ...place, state };
}

test('a task that is laid out elsewhere is this machine’s own, as it was saved, and has no driver', async () => {
  const { paths, seal, state } = await saved();
  expect(state.task.driver).not.toBeNull();
  const there = await elsewhere(state.task.task_id);
  const task = unpackState(there.paths, packState(paths, seal), there.seal);
  const file = readStateFile(there.paths.stateFile, there.seal);
  expect(file).toMatchObject({ kind: 'task', isOwn: true });
  const { state: read, step } = readNewestStep(there.paths, task, there.seal);
  expect(read).toEqual(task);
  expect(task).toEqual({ ...state.task, save: 1, memory: 'memory-1.json', driver: null });
  expect(step?.memory).toEqual(JSON.parse(JSON.stringify(memoryOf(state))));
  expect(step).toMatchObject({ events: [], logBytes: 0 });
  expect(foreignFiles(there.paths.folder, task, there.seal)).toEqual([]);
  expect(readFileSync(join(there.paths.folder, 'prompt.md'))).toEqual(PROMPT);
  const { sum, ...baseline } = JSON.parse(
    readFileSync(join(there.paths.folder, 'baseline.json'), 'utf8'),
  );
  expect(baseline).toEqual(BASELINE);
  expect(storedDeciders(there.paths.folder)).toEqual({
    ...JUDGES,
    path: '',
    programs: {},
    ignored: null,
  });
});

test('a step is packed as the loop has it, even if the disk has an older one', async () => {
  const { paths, seal } = await saved();
  const newer = workingLoop('Something newer.');
  const there = await elsewhere();
  const task = unpackState(there.paths, packStep(paths, seal, newer), there.seal);
  const { step } = readNewestStep(there.paths, task, there.seal);
  expect(step?.memory).toEqual(JSON.parse(JSON.stringify(memoryOf(newer))));
});

test.for(['task-1/baseline.json', 'task-1/deciders.json'])(
  'what another hand has written into %s is not packed',
  async (name) => {
    const { paths, seal } = await saved();
    const file = join(paths.stateDir, name);
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.replace(/\d(?=\D*"sum")|ab/, '7'));
    expect(readFileSync(file, 'utf8')).not.toBe(text);
    expect(() => packState(paths, seal)).toThrow(StateCorruptedError);
  },
);

test('a thousand iterations with an output of 1 MB take less than 4 MB', async () => {
  // What no packing makes smaller than six bits a character.
  let seed = 1;
  const noise = (length: number) =>
    Array.from({ length }, () => {
      seed = (seed * 48_271) % 2_147_483_647;
      return String.fromCharCode(48 + (seed % 64));
    }).join('');
  const loop = loopInHand({ maxIterations: 2_000, maxCostUsd: null }, 2_000 * 3_600_000);
  loop.start();
  const text = noise(1_000_000);
  for (let number = 1; number <= 1_000; number += 1) {
    // Only the last ones are remembered; the others would only take time.
    loop.iterate(answered(number > 990 ? `${number} ${text.slice(number)}` : `${number}`));
    loop.wait();
  }
  const state = loop.state();
  expect(state.task.metrics.iterations).toBe(1_000);
  const { paths, seal } = await saved(state);
  expect(packState(paths, seal).length).toBeLessThan(4 * 1024 * 1024);
});

/** What `packState` makes, with some fields changed. */
async function changed(change: Record<string, unknown>) {
  const { paths, seal } = await saved();
  const fields = JSON.parse(gunzipSync(packState(paths, seal)).toString());
  return gzipSync(JSON.stringify({ ...fields, ...change }));
}

test('a task that a newer ralph has packed is refused by name', async () => {
  const { paths, seal } = await elsewhere();
  const packed = await changed({ schema_version: SCHEMA_VERSION + 1 });
  const unpack = () => unpackState(paths, packed, seal);
  expect(unpack).toThrow(StateTooNewError);
  expect(unpack).toThrow(/'task-1' was written by a newer ralph \(schema 2\)/);
});

test.for([
  ['text', async () => Buffer.from('no gzip'), /cannot be unpacked/],
  ['a list', async () => gzipSync('[]'), /not JSON/],
  ['a task without a state', () => changed({ state: {} }), /fields are missing/],
  ['a task without a prompt', () => changed({ prompt: 7 }), /fields are missing/],
  ['more than 128 MB', async () => gzipSync(Buffer.alloc(129 * 1024 * 1024, ' ')), /unpacked/],
] as const)('%s is refused, and nothing is written', async ([, make, why]) => {
  const { paths, seal } = await elsewhere();
  const packed = await make();
  expect(() => unpackState(paths, packed, seal)).toThrow(StateCorruptedError);
  expect(() => unpackState(paths, packed, seal)).toThrow(why);
  expect(() => readFileSync(join(paths.folder, 'prompt.md'))).toThrow('ENOENT');
});

test('a task of another id is refused', async () => {
  const { paths, seal } = await elsewhere('task-2');
  const packed = await changed({});
  expect(() => unpackState(paths, packed, seal)).toThrow("it is of the task 'task-1'");
});

test('a task that is there is not overwritten', async () => {
  const { paths, seal } = await elsewhere();
  mkdirSync(paths.folder, { recursive: true, mode: 0o700 });
  writeFileSync(paths.stateFile, 'mine');
  const packed = await changed({});
  expect(() => unpackState(paths, packed, seal)).toThrow('EEXIST');
  expect(readFileSync(paths.stateFile, 'utf8')).toBe('mine');
});

import { appendFileSync, chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { CLAIMS_AT_MOST } from '../../../src/core/supervisor/lease.ts';
import { FleetAwayError } from '../../../src/errors.ts';
import type { Parking } from '../../../src/fleet/core/fleet-task.ts';
import type { FleetQueue } from '../../../src/fleet/database/fleet-queue.ts';
import { ANY } from '../../helpers/fleet-tasks.ts';
import { originOfTest, queueWith, taskOfTest, workerOfTest } from '../../helpers/fleet-worker.ts';
import { type MemoryFleet, memoryFleet } from '../../helpers/memory-fleet.ts';
import { PATIENCE_MS } from '../../helpers/patience.ts';
import { isDead, until } from '../../helpers/processes.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

// Claims that are lost, and legs that a living worker drops: what counts, what is pushed, and what is kept.

const DONE = 'echo "<promise>TASK_COMPLETE</promise>"';
const NO_BEAT: Parking = { kind: 'handover', why: 'no heartbeat has reached the database' };

/** A fleet whose leases run out when the test says so. */
function fleetInHand(leaseMs?: number) {
  let now = Date.now();
  const queue = memoryFleet({ now: () => now, ...(leaseMs === undefined ? {} : { leaseMs }) });
  return {
    queue,
    /** Lets the leases of all claims run out. */
    async lose(): Promise<void> {
      now += queue.leaseMs + 1_000;
      await queue.sweep();
    },
  };
}

/** Notes each parking, and whether the claim still held. */
function notingParks(queue: FleetQueue, more: Partial<FleetQueue> = {}) {
  const parked: (readonly [Parking, boolean])[] = [];
  const noting = queueWith(queue, {
    ...more,
    async park(claim, checkpoint, written, parking) {
      const isHeld = await queue.park(claim, checkpoint, written, parking);
      parked.push([parking, isHeld]);
      return isHeld;
    },
  });
  return { parked, queue: noting };
}

test('a task whose result was pushed by a worker that was then lost is completed by the next one', async () => {
  const { queue: memory, lose } = fleetInHand();
  const origin = await originOfTest();
  const trace = join(await tempFolder(), 'trace');
  await memory.submit([
    await taskOfTest(`echo x >> ${trace}; echo b > b.txt; ${DONE}`, { repo: origin.url }),
  ]);
  for (let claims = 1; claims < CLAIMS_AT_MOST; claims += 1) {
    await memory.claim({ ...ANY, workerId: 'lost' });
    await lose();
  }
  let isLost = false;
  const queue = queueWith(memory, {
    async settle(...given) {
      if (!isLost) await lose();
      isLost = true;
      return memory.settle(...given);
    },
  });
  const worker = await workerOfTest(queue);
  await worker.run();
  expect(await queue.task('t'), worker.said.join('\n')).toMatchObject({
    ...{ status: 'completed', fence: CLAIMS_AT_MOST + 1, iterations: 1, warning: null },
    ...{ result_ref: 'refs/heads/ralph/t', branch_commit: origin.git('rev-parse', 'ralph/t') },
  });
  expect(readFileSync(trace, 'utf8')).toBe('x\n');
});

test('a leg that its worker drops for want of a beat is given back, and does not count as lost', async () => {
  const { queue: memory } = fleetInHand(2_500);
  const origin = await originOfTest();
  const ready = join(await tempFolder(), 'ready');
  const agent = `if [ -e ${ready} ]; then ${DONE}; else touch ${ready}; sleep 600; fi`;
  await memory.submit([await taskOfTest(agent, { repo: origin.url })]);
  const said: string[] = [];
  const { parked, queue } = notingParks(memory, {
    async beat(claims) {
      const isAway = existsSync(ready) && !said.some((line) => line.includes('no heartbeat'));
      if (isAway) throw new FleetAwayError('fleet memory/test', 'the test says so');
      return memory.beat(claims);
    },
  });
  const worker = await workerOfTest(queue, { say: (line) => void said.push(line) });
  await worker.run();
  expect(await queue.task('t'), said.join('\n')).toMatchObject({ status: 'completed' });
  expect(parked).toContainEqual([NO_BEAT, true]);
});

test('an answer that comes when the last beat is too old is not kept', async () => {
  const { queue: memory } = fleetInHand();
  const origin = await originOfTest();
  const folder = await tempFolder();
  const [ready, go, trace] = ['ready', 'go', 'trace'].map((name) => join(folder, name));
  const agent = `echo x >> ${trace}; touch ${ready}; while [ ! -e ${go} ]; do sleep 0.1; done; ${DONE}`;
  await memory.submit([await taskOfTest(agent, { repo: origin.url })]);
  const { parked, queue } = notingParks(memory);
  const realNow = Date.now;
  const said: string[] = [];
  const worker = await workerOfTest(queue, {
    say(line) {
      said.push(line);
      if (line.includes('no heartbeat has reached the database')) vi.restoreAllMocks();
    },
  });
  const run = worker.run();
  await until(
    () => existsSync(ready ?? ''),
    () => said.join(' '),
    PATIENCE_MS,
  );
  // The machine has slept; the next beat is due in twenty seconds.
  vi.spyOn(Date, 'now').mockImplementation(() => realNow() + queue.leaseMs * 0.9);
  writeFileSync(go ?? '', '');
  await run.finally(() => vi.restoreAllMocks());
  expect(parked, said.join('\n')).toEqual([[NO_BEAT, true]]);
  expect(readFileSync(trace ?? '', 'utf8')).toBe('x\nx\n');
  expect(await queue.task('t')).toMatchObject({ status: 'completed', iterations: 1, fence: 2 });
});

/** Loses the claim of the running leg to another worker. */
async function loseToAnother(queue: MemoryFleet, lose: () => Promise<void>): Promise<void> {
  await lose();
  await queue.claim({ ...ANY, workerId: 'w2', host: 'host2' });
}

test.for(['the first', 'a further'])(
  'a result is not pushed after the claim is lost: %s try',
  async (which) => {
    const { queue, lose } = fleetInHand();
    const origin = await originOfTest();
    const folder = await tempFolder();
    const [tried, go] = [join(folder, 'tried'), join(folder, 'go')];
    // Refuses branches until the test says so.
    const refuse = `[ -e ${go} ] || { touch ${tried}; exit 1; }`;
    const hook = join(origin.url, 'hooks', 'update');
    writeFileSync(hook, `#!/bin/sh\ncase $1 in refs/heads/*) ${refuse};; esac\n`);
    chmodSync(hook, 0o755);
    await queue.submit([await taskOfTest(`echo b > b.txt; ${DONE}`, { repo: origin.url })]);
    const worker = await workerOfTest(queue, {
      originPatienceMs: 600_000,
      say(line) {
        appendFileSync(join(folder, 'said'), `${line}\n`);
        // The last checkpoint is written by then, and the result is made next.
        const isAnswered = line.includes('iteration 1 answered');
        if (which === 'the first' && isAnswered) void loseToAnother(queue, lose);
        if (line.includes('the claim is lost')) worker.stops.stop();
      },
    });
    const run = worker.run();
    if (which === 'a further') {
      await until(
        () => existsSync(tried),
        () => readFileSync(join(folder, 'said'), 'utf8'),
        PATIENCE_MS,
      );
      await loseToAnother(queue, lose);
    }
    writeFileSync(go, '');
    await run;
    expect(origin.refs()).not.toContain('refs/heads/ralph/t');
    expect(await queue.task('t')).toMatchObject({ worker: 'w2', fence: 2, ended_at: null });
  },
);

test('a worker that claims a task again which it has lost ends the earlier leg first', async () => {
  const { queue, lose } = fleetInHand();
  const origin = await originOfTest();
  const folder = await tempFolder();
  const [first, second] = [join(folder, 'first'), join(folder, 'second')];
  // The second agent looks whether the first one is still there.
  const agent = `if [ -e ${first} ]; then kill -0 $(cat ${first}) 2>/dev/null && touch ${second}; ${DONE}; else echo $$ >${first}.new; mv ${first}.new ${first}; exec sleep 600; fi`;
  await queue.submit([await taskOfTest(agent, { repo: origin.url })]);
  const worker = await workerOfTest(queue, { slots: 2 });
  const run = worker.run();
  await until(
    () => existsSync(first),
    () => worker.said.join(' '),
    PATIENCE_MS,
  );
  await lose();
  await run;
  expect(await queue.task('t'), worker.said.join('\n')).toMatchObject({
    ...{ status: 'completed', fence: 2, iterations: 1 },
  });
  expect(existsSync(second)).toBe(false);
  expect(isDead(Number(readFileSync(first, 'utf8')))).toBe(true);
});

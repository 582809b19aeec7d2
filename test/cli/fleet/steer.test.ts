import { describe, expect, test } from 'vitest';
import { readResumeFlags } from '../../../src/cli/flags/resume-flags.ts';
import type { TaskState } from '../../../src/core/task/task-state.ts';
import { packedTask } from '../../../src/effects/state/packed-state.ts';
import { taskPaths } from '../../../src/effects/state/task-folder.ts';
import { fleetAnswer, fleetApprovals } from '../../../src/fleet/cli/approvals.ts';
import {
  fleetPause,
  fleetResume,
  fleetStop,
  fleetTell,
  wordsToResume,
} from '../../../src/fleet/cli/steer.ts';
import { renderRequest } from '../../../src/report/notes/approval-request.ts';
import { captureOutput } from '../../helpers/captured-output.ts';
import { checkpointOf, type FleetOnHand, fleetOnHand } from '../../helpers/fleet-on-hand.ts';
import { NOTHING } from '../../helpers/fleet-tasks.ts';
import { newTask } from '../../helpers/new-task.ts';

const resume = async (fleet: FleetOnHand, ...argv: readonly string[]): Promise<number> =>
  fleetResume(fleet, wordsToResume(readResumeFlags(argv)));

describe('a task that a worker runs', () => {
  async function running(): Promise<FleetOnHand> {
    const fleet = fleetOnHand();
    await fleet.submit({});
    await fleet.claim();
    return fleet;
  }

  test('gets a hint through its worker, which is named with its host', async () => {
    const fleet = await running();
    const said = captureOutput();
    expect(await fleetTell(fleet, 'nightly', 'Look in src.')).toBe(0);
    expect(said.err()).toBe(
      'ralph: fleet memory/test: the next iteration of nightly gets the hint; worker w1 on host1 runs it\n',
    );
    const claim = { taskId: 'nightly', fence: 1, job: 'job-1' };
    expect(await fleet.queue.requestsTo([claim])).toMatchObject([
      { kind: 'tell', text: 'Look in src.', by: expect.stringMatching(/^.+@.+$/) },
    ]);
  });

  test('pauses after its iteration', async () => {
    const fleet = await running();
    const said = captureOutput();
    expect(await fleetPause(fleet, 'nightly')).toBe(0);
    expect(said.err()).toContain('nightly pauses after its current iteration; worker w1 on host1');
    expect(said.err()).toContain(
      'to continue: ralph resume nightly --fleet postgres://db.example.org/fleet\n',
    );
  });

  test.for([
    ['stopped', 'nightly is stopped\nralph: to continue: ralph resume nightly'],
    ['completed', 'nightly was completed before the request reached it'],
    [
      'max_iterations_reached',
      'and is max iterations reached\nralph: to continue: ralph resume nightly',
    ],
  ] as const)('is stopped by its worker: it ends as %s', async ([status, words]) => {
    const fleet = await running();
    const said = captureOutput();
    const stopped = fleetStop(fleet, 'nightly');
    const claim = { taskId: 'nightly', fence: 1, job: 'job-1' };
    await expect.poll(() => fleet.queue.requestsTo([claim])).toHaveLength(1);
    await fleet.queue.settle(claim, null, NOTHING, {
      ...{ status, exitReason: status, exitCode: 0, warning: null, note: null },
      ...{ resultCommit: null, resultRef: null, branchCommit: null },
    });
    expect(await stopped).toBe(0);
    expect(said.err()).toContain('worker w1 on host1 was asked to stop nightly');
    expect(said.err()).toContain(words);
  });

  test('is reported if its worker does not stop it in time', async () => {
    const fleet = await running();
    const said = captureOutput();
    expect(await fleetStop(fleet, 'nightly', 1)).toBe(1);
    expect(said.err()).toContain(
      'worker w1 has not stopped nightly within 0.001s; the request stays',
    );
  });

  test('is not resumed', async () => {
    await expect(resume(await running(), 'nightly')).rejects.toMatchObject({
      exitCode: 1,
      message: "fleet memory/test: task 'nightly' was not changed: a worker runs it.",
    });
  });
});

describe('a task that nobody runs', () => {
  test('is paused and resumed at once', async () => {
    const fleet = fleetOnHand();
    await fleet.submit({});
    const said = captureOutput();
    expect(await fleetPause(fleet, 'nightly')).toBe(0);
    expect((await fleet.queue.task('nightly'))?.paused).toBe(true);
    expect(await resume(fleet, 'nightly')).toBe(0);
    expect((await fleet.queue.task('nightly'))?.paused).toBe(false);
    expect(said.err()).toMatch(
      /: nightly is paused\n.*: ralph resume .*\n.*: nightly is queued again\n$/,
    );
  });

  test('is stopped at once', async () => {
    const fleet = fleetOnHand();
    await fleet.submit({});
    const said = captureOutput();
    expect(await fleetStop(fleet, 'nightly')).toBe(0);
    expect((await fleet.queue.task('nightly'))?.status).toBe('stopped');
    expect(said.err()).toContain('nightly is stopped\nralph: to continue: ralph resume nightly');
  });

  test('that has ended cannot be steered any more', async () => {
    const fleet = fleetOnHand();
    await fleet.submit({});
    captureOutput();
    await fleetStop(fleet, 'nightly');
    const refused = { exitCode: 1, message: expect.stringContaining('it has ended (stopped).') };
    await expect(fleetTell(fleet, 'nightly', 'x')).rejects.toMatchObject(refused);
    await expect(fleetPause(fleet, 'nightly')).rejects.toMatchObject(refused);
  });
});

test('an unknown task ends with 1, and the id that was probably meant', async () => {
  const fleet = fleetOnHand();
  await fleet.submit({});
  const unknown = {
    exitCode: 1,
    message: expect.stringContaining(
      "there is no task 'nigthly' in fleet memory/test; did you mean nightly?",
    ),
  };
  await expect(fleetTell(fleet, 'nigthly', 'x')).rejects.toMatchObject(unknown);
  await expect(fleetStop(fleet, 'nigthly')).rejects.toMatchObject(unknown);
  await expect(resume(fleet, 'nigthly')).rejects.toMatchObject(unknown);
  await expect(fleetAnswer(fleet, 'approved', 'nigthly', {})).rejects.toMatchObject(unknown);
});

describe('ralph resume on a fleet', () => {
  const limit = (value: unknown, source: string) => ({ value, source, from: 'flag' }) as const;
  const spent: TaskState = {
    ...newTask(),
    task_id: 'nightly',
    driver: null,
    ...{ status: 'max_iterations_reached', exit_reason: 'max_iterations', current_iteration: 3 },
    ...{ finished_at: '2026-01-05T12:20:00.000Z', timeout_at: '2026-01-05T12:30:00.000Z' },
    metrics: { ...newTask().metrics, iterations: 3 },
    usage: { ...newTask().usage, cost_usd: 1.5 },
  };

  /** A task that is out of iterations after 20 of its 30 minutes. */
  async function exhausted(): Promise<FleetOnHand> {
    const fleet = fleetOnHand();
    const settings = {
      maxIterations: limit(3, '--max-iterations'),
      timeout: limit(1_800_000, '--timeout'),
    };
    await fleet.submit({ settings });
    await fleet.queue.settle(await fleet.claim(), await checkpointOf(spent), NOTHING, {
      ...{ status: 'max_iterations_reached', exitReason: 'max_iterations', exitCode: 3 },
      ...{ warning: null, note: null, resultCommit: null, resultRef: null, branchCommit: null },
    });
    return fleet;
  }

  test('adds to the limits of a task, from what it has used', async () => {
    const fleet = await exhausted();
    captureOutput();
    const words = ['--max-iterations', '+5', '--timeout', '+30m', '--max-cost', '+2'];
    expect(await resume(fleet, 'nightly', ...words)).toBe(0);
    const { task, checkpoint } = await fleet.claim();
    expect(task.spec.settings).toMatchObject({
      maxIterations: limit(8, '--max-iterations'),
      timeout: limit(3_000_000, '--timeout'),
      maxCost: limit(3.5, '--max-cost'),
    });
    const paths = taskPaths('/none', 'nightly');
    const packed = packedTask(paths, checkpoint?.packed ?? new Uint8Array());
    expect(packed).toEqual({ ...spent, timeout_at: '2026-01-05T12:50:00.000Z' });
  });

  test('sets limits of a task that nobody has begun, and only these', async () => {
    const fleet = fleetOnHand();
    await fleet.submit({});
    captureOutput();
    await fleetPause(fleet, 'nightly');
    const { spec: before } = (await fleet.queue.task('nightly')) ?? {};
    expect(await resume(fleet, 'nightly', '-n', '+2', '--max-wait', '1h')).toBe(0);
    const { spec } = (await fleet.queue.task('nightly')) ?? {};
    expect(spec).toEqual({
      ...before,
      settings: {
        ...before?.settings,
        maxIterations: limit(2, '--max-iterations'),
        maxWait: limit(3_600_000, '--max-wait'),
      },
    });
  });

  test('refuses limits that are wrong, or that contradict those of the task', async () => {
    const fleet = await exhausted();
    for (const words of [
      ['--max-iterations', 'many'],
      ['--iteration-timeout', '2h'],
      ['--max-wait', '+1h'],
    ]) {
      await expect(resume(fleet, 'nightly', ...words)).rejects.toMatchObject({ exitCode: 2 });
    }
    expect((await fleet.queue.task('nightly'))?.ended_at).not.toBeNull();
  });

  test('does not resume a task with limits if somebody else has changed it meanwhile', async () => {
    const fleet = await exhausted();
    const read = async (id: string) => {
      const facts = await fleet.queue.task(id);
      fleet.wait(1_000);
      await fleet.queue.resume(id);
      await fleet.queue.request(id, { kind: 'pause', by: 'ann' });
      return facts;
    };
    const queue = new Proxy(fleet.queue, {
      get: (target, name) => (name === 'task' ? read : Reflect.get(target, name)),
    });
    const raced = { ...fleet, queue };
    await expect(resume(raced, 'nightly', '-n', '+2')).rejects.toMatchObject({
      exitCode: 1,
      message: expect.stringContaining('somebody else has just changed it'),
    });
  });

  test('takes no other setting, and names those that it got', async () => {
    const fleet = fleetOnHand();
    await fleet.submit({});
    const words = ['nightly', '--max-iterations', '+5', '--model', 'x', '--task-type', 'coding'];
    await expect(resume(fleet, ...words)).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringContaining('takes no --task-type, --model for a task of a fleet'),
    });
    await expect(resume(fleet, 'nightly', '--', '--model', 'x')).rejects.toMatchObject({
      exitCode: 2,
    });
  });

  test('needs an id', async () => {
    await expect(resume(fleetOnHand())).rejects.toMatchObject({ exitCode: 2 });
  });
});

describe('an approval', () => {
  const EXPIRES = '2026-01-05T13:00:00.000Z';

  async function asking(): Promise<FleetOnHand> {
    const fleet = fleetOnHand();
    await fleet.submit({});
    const claim = await fleet.claim();
    const approval = { id: 'a1', what: 'Deploy "it"\u001b[2J', file: 'x.md', by_agent: false };
    const unanswered = {
      there_before: null,
      decision: null,
      answered_at: null,
      answer_file: null,
      reason: null,
    };
    const at = { requested_at: '2026-01-05T12:00:00.000Z', expires_at: EXPIRES };
    const text = renderRequest({
      ...{ taskId: 'nightly', asked: 'Fix the tests.', logDir: '/w' },
      approval: { ...approval, ...unanswered, ...at },
    });
    await fleet.queue.askApproval(claim, { id: 'a1', text, expiresInMs: 3_600_000 });
    await fleet.queue.park(claim, null, NOTHING, { kind: 'approval', until: EXPIRES });
    fleet.wait(10 * 60_000);
    return fleet;
  }

  test('is listed below the name of the fleet with what is asked', async () => {
    const fleet = await asking();
    const said = captureOutput();
    expect(await fleetApprovals(fleet, {})).toBe(0);
    expect(said.out()).toBe(
      'fleet memory/test\nnightly  Deploy "it"\n  waiting for 10m, expires in 50m\n',
    );
  });

  test('is listed as JSON', async () => {
    const fleet = await asking();
    fleet.wait(60 * 60_000);
    const said = captureOutput();
    expect(await fleetApprovals(fleet, { json: true })).toBe(0);
    expect(JSON.parse(said.out())).toEqual([
      {
        task_id: 'nightly',
        approval_id: 'a1',
        what: 'Deploy "it"',
        file: null,
        requested_at: '2026-01-05T12:00:00.000Z',
        expires_at: EXPIRES,
        overdue: true,
        fleet: 'memory/test',
      },
    ]);
  });

  test('is answered once, by a name, and is then no longer listed', async () => {
    const fleet = await asking();
    const said = captureOutput();
    expect(
      await fleetAnswer(fleet, 'rejected', 'nightly', { as: 'Ann', reason: 'Not today' }),
    ).toBe(0);
    expect(said.err()).toBe(
      'ralph: fleet memory/test: rejected: the next free worker continues nightly\n',
    );
    expect((await fleet.claim()).answer).toMatchObject({
      verdict: 'rejected',
      by: 'Ann',
      comment: 'Not today',
    });
    await expect(fleetAnswer(fleet, 'approved', 'nightly', {})).rejects.toMatchObject({
      exitCode: 1,
    });
    await fleetApprovals(fleet, {});
    expect(said.err()).toContain('fleet memory/test: no task waits for an approval');
  });

  test('is not answered by an empty, long or broken name', async () => {
    const fleet = await asking();
    for (const as of ['', ' ', 'a\nb', 'x'.repeat(129)]) {
      await expect(fleetAnswer(fleet, 'approved', 'nightly', { as })).rejects.toMatchObject({
        exitCode: 2,
      });
    }
  });

  test('of a task that asks for nothing is refused', async () => {
    const fleet = fleetOnHand();
    await fleet.submit({});
    await expect(fleetAnswer(fleet, 'approved', 'nightly', {})).rejects.toMatchObject({
      exitCode: 1,
      message: expect.stringContaining('it waits for no approval'),
    });
  });
});

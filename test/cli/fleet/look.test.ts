import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { logs } from '../../../src/cli/commands/logs.ts';
import { type LogsWanted, printLogs } from '../../../src/cli/tasks/show-logs.ts';
import { stamped } from '../../../src/core/machine/events.ts';
import { SCHEMA_VERSION, type TaskState } from '../../../src/core/task/task-state.ts';
import { patient } from '../../../src/fleet/cli/frames.ts';
import { followFleetLogs } from '../../../src/fleet/cli/logs.ts';
import { showFleet } from '../../../src/fleet/cli/overview.ts';
import { readCopy } from '../../../src/fleet/cli/read-copy.ts';
import { fleetReport } from '../../../src/fleet/cli/report.ts';
import { fleetTasks } from '../../../src/fleet/cli/status.ts';
import { captureOutput } from '../../helpers/captured-output.ts';
import { minutesAgo, NOW } from '../../helpers/fleet-facts.ts';
import {
  checkpointOf,
  type FleetOnHand,
  fleetOnHand,
  packedLog,
} from '../../helpers/fleet-on-hand.ts';
import { COMPLETED, NOTHING } from '../../helpers/fleet-tasks.ts';
import { newTask } from '../../helpers/new-task.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const SNAPSHOT = {
  commit: 'c'.repeat(40),
  ref: 'refs/ralph/nightly/1.1.1',
  head: 'd'.repeat(40),
  before: null,
};

/** What a worker has saved of the task after one iteration. */
function savedState(changes: Partial<TaskState> = {}): TaskState {
  const task = newTask();
  return {
    ...task,
    task_id: 'nightly',
    started_at: minutesAgo(10),
    updated_at: minutesAgo(5),
    status: 'running',
    current_iteration: 1,
    metrics: { ...task.metrics, iterations: 1 },
    usage: { ...task.usage, cost_usd: 0.25 },
    git: { snapshots: 'refs/ralph/nightly', work_tree: null },
    iterations: [
      {
        ...{ number: 1, started_at: minutesAgo(9), duration_ms: 60_000, outcome: 'answered' },
        ...{ exit_code: 0, completed: false, near_miss: false, cost_usd: 0.25, input_tokens: 1 },
        ...{ output_tokens: 1, turns: 1, tools: 0, refused: [], files_changed: 2 },
        output_preview: 'I have read the parser.',
      },
    ],
    ...changes,
  };
}

/** A fleet with `nightly`, which worker `w1` runs and has saved once, and `docs`, which waits. */
async function atWork(): Promise<FleetOnHand> {
  const fleet = fleetOnHand();
  await fleet.submit({}, { task_id: 'docs', account: 'work' });
  const claim = await fleet.claim();
  const event = stamped(
    { event: 'near_miss', iteration: 1, line: 'almost DONE', why: 'in a quotation' },
    minutesAgo(8),
    'nightly',
  );
  await fleet.queue.save(claim, await checkpointOf(savedState(), SNAPSHOT), {
    events: [event],
    requestsDone: [],
  });
  await fleet.queue.keepLog(claim, packedLog(1, 'I have read the parser.\n'));
  return fleet;
}

const END = {
  status: 'completed',
  exitReason: 'completed',
  exitCode: 0,
  warning: null,
  note: null,
  resultCommit: 'e'.repeat(40),
  resultRef: 'refs/heads/ralph/nightly',
  branchCommit: 'e'.repeat(40),
} as const;

/** Prints the logs of a task, as `ralph logs` does on a fleet. */
function fleetLogs(fleet: FleetOnHand, taskId: string, wanted: LogsWanted): Promise<number> {
  return readCopy(fleet, { taskId, isData: wanted.raw }, ({ stateDir }) =>
    printLogs(stateDir, taskId, wanted),
  );
}

const CLAIM = { taskId: 'nightly', fence: 1, job: 'job-1' };

describe('ralph status on a fleet', () => {
  test('lists tasks below the name of the fleet', async () => {
    const fleet = await atWork();
    const said = captureOutput();
    expect(await fleetTasks(fleet, undefined, {})).toBe(0);
    const [name, heading, ...lines] = said.out().trimEnd().split('\n');
    expect(name).toBe('fleet memory/test');
    expect(heading).toMatch(/^TASK +STATE +ITERATION +ELAPSED +COST +RUN BY$/);
    expect(lines).toContainEqual(
      expect.stringMatching(/^nightly +running +iteration 2\/10 +\S+ +\$0\.25 +w1 on host1$/),
    );
    expect(lines).toContainEqual(expect.stringMatching(/^docs +pending +iteration 0\/10 /));
    expect(lines).toContain('  waits for a worker of the queue default · account work');
  });

  test('lists tasks as JSON, with what only a fleet knows', async () => {
    const fleet = await atWork();
    const said = captureOutput();
    await fleetTasks(fleet, undefined, { json: true });
    const tasks = JSON.parse(said.out());
    expect(tasks).toHaveLength(2);
    expect(tasks.find((task: { task_id: string }) => task.task_id === 'nightly')).toMatchObject({
      state: 'running',
      state_file: null,
      log_dir: null,
      fleet: {
        ...{ name: 'memory/test', worker: 'w1', host: 'host1', fence: 1, queue: 'default' },
        ...{ account: 'default', waits_for: null, parked_until: null, not_before: null },
        ...{ branch: 'ralph/nightly', commit: null, result_ref: null, warning: null },
      },
    });
  });

  test('warns of what keeps its open tasks from going on, below the list and as JSON', async () => {
    const fleet = await atWork();
    await fleet.queue.setAccount('work', { pause: 3_600_000 });
    await fleet.queue.setAccount('nobody', { pause: 3_600_000 });
    const said = captureOutput();
    await fleetTasks(fleet, undefined, {});
    expect(said.out()).toMatch(/\n\nwarning: .*the queue default/);
    expect(said.out()).toContain('\nwarning: the account work is paused until');
    expect(said.out()).not.toContain('the account nobody');
    const before = said.out().length;
    await fleetTasks(fleet, undefined, { json: true });
    const tasks = JSON.parse(said.out().slice(before));
    const warnings = (id: string) =>
      tasks.find((task: { task_id: string }) => task.task_id === id).fleet.warnings;
    expect(warnings('nightly')).toEqual([]);
    expect(warnings('docs')).toMatchObject([
      { kind: 'no-worker', text: expect.any(String) },
      { kind: 'account-paused', text: expect.stringContaining('work is paused until') },
    ]);
    const listed = said.out().length;
    await fleetTasks(fleet, 'docs', {});
    expect(said.out().slice(listed)).toMatch(/^warning +the account work is paused/m);
  });

  test('lists what runs even if a hundred tasks were submitted later', async () => {
    const fleet = await atWork();
    const facts = { id: 'w1', host: 'host1', pid: 1, version: '0.1.0', schema: 1, slots: 1 };
    await fleet.queue.present({ ...facts, queues: ['default'], idle: null, accounts: null });
    await fleet.submit(...Array.from({ length: 100 }, (_, at) => ({ task_id: `later-${at}` })));
    const said = captureOutput();
    await fleetTasks(fleet, undefined, {});
    expect(said.out()).toMatch(/^nightly +running /m);
    expect(said.out()).not.toMatch(/^docs /m);
  });

  test('shows one task from its checkpoint, with what the fleet knows above', async () => {
    const fleet = await atWork();
    const said = captureOutput();
    expect(await fleetTasks(fleet, 'nightly', {})).toBe(0);
    const text = said.out();
    expect(text).toMatch(/^fleet memory\/test\n/);
    for (const line of [
      /^queue +default, account default$/m,
      /^worker +w1 on host1$/m,
      /^claims +1$/m,
      /^repository +https:\/\/git\.example\.org\/app\.git$/m,
      /^branch +ralph\/nightly \(not moved\)$/m,
      /^snapshot +refs\/ralph\/nightly\/1\.1\.1 at cccccccccccc$/m,
      /^state +running$/m,
      /^asked +Fix the tests\.$/m,
      /^iterations +1 of \d+ used/m,
      /^1 +\S+ \S+ +1m +answered +\$0\.25 +2 +I have read the parser\.$/m,
    ]) {
      expect(text).toMatch(line);
    }
    // Nothing of this machine: the task works elsewhere.
    expect(text).not.toMatch(/state file|^logs|ralph diff|ralph undo|ralph-fleet-/m);
    expect(text.indexOf('worker')).toBeLessThan(text.indexOf('asked'));
  });

  test('shows a task without a checkpoint from its row', async () => {
    const fleet = await atWork();
    const said = captureOutput();
    expect(await fleetTasks(fleet, 'docs', {})).toBe(0);
    expect(said.out()).toMatch(/^worker +none$/m);
    expect(said.out()).toMatch(/^claims +none yet$/m);
    expect(said.out()).toMatch(/^waiting +for a worker of the queue default$/m);
    expect(said.out()).toMatch(/^state +pending$/m);
    expect(said.out()).toMatch(/^asked +Fix the tests\.$/m);
    expect(said.out()).toMatch(/^iterations +0 of 10 used/m);
  });

  test('says of a parked task what it waits for, and until when', async () => {
    const fleet = await atWork();
    const until = '2026-01-05T13:00:00.000Z';
    await fleet.queue.park(CLAIM, null, NOTHING, { kind: 'wait', until, account: true });
    const said = captureOutput();
    await fleetTasks(fleet, 'nightly', {});
    expect(said.out()).toMatch(
      /^waiting +for the usage limit of the account default, until\n +2026-01-05T13:00:00Z$/m,
    );
    expect(said.out()).toMatch(/^state +running$/m);
  });

  test('shows the end of a task, its result and its note', async () => {
    const fleet = await atWork();
    const end = {
      ...END,
      warning: 'somebody else has moved the branch',
      note: '# All done\n\nRead me.',
    };
    await fleet.queue.settle(CLAIM, null, NOTHING, end);
    const said = captureOutput();
    await fleetTasks(fleet, 'nightly', {});
    expect(said.out()).toMatch(/^state +completed$/m);
    expect(said.out()).toMatch(/^result +refs\/heads\/ralph\/nightly at eeeeeeeeeeee$/m);
    expect(said.out()).toMatch(/^warning +somebody else has moved the branch$/m);
    expect(said.out()).toMatch(/^note +# All done Read me\.$/m);
  });

  test('shows one task as JSON: its state, and what only a fleet knows', async () => {
    const fleet = await atWork();
    const said = captureOutput();
    await fleetTasks(fleet, 'nightly', { json: true });
    expect(JSON.parse(said.out())).toMatchObject({
      ...{ task_id: 'nightly', status: 'running', state: 'running', own: true, driver: null },
      ...{ state_file: null, log_dir: null },
      usage: { cost_usd: 0.25 },
      fleet: { worker: 'w1', host: 'host1', fence: 1 },
    });
    expect(JSON.parse(said.out())).not.toHaveProperty('sum');
  });

  test('ends with 1 for an unknown task', async () => {
    const fleet = await atWork();
    await expect(fleetTasks(fleet, 'nigthly', {})).rejects.toMatchObject({
      exitCode: 1,
      message: expect.stringContaining('did you mean nightly?'),
    });
  });

  test('says of a row that cannot be read why it is not shown', async () => {
    const fleet = await atWork();
    await fleet.submit({ task_id: 'odd', repo: 'ext::sh -c id' });
    const said = captureOutput();
    const refused = {
      exitCode: 1,
      message:
        "Task 'odd' in fleet memory/test was not written by this version of ralph submit, so it is not shown. Find out who wrote it, or update ralph; ralph prune removes it once it is held.\nto hold it: ralph stop odd",
    };
    await expect(fleetTasks(fleet, 'odd', {})).rejects.toMatchObject(refused);
    await expect(
      fleetLogs(fleet, 'odd', { iteration: null, follow: false, raw: false }),
    ).rejects.toMatchObject(refused);
    await fleet.queue.request('odd', { kind: 'stop', by: 'ann' });
    await expect(fleetTasks(fleet, 'odd', {})).rejects.toThrow(/ralph prune removes it\.$/);

    await showFleet(fleet, { json: true });
    expect(JSON.parse(said.out()).warnings).toContainEqual({
      kind: 'unreadable',
      text: '1 task is in a row that ralph submit does not write: odd; to see what to do: ralph status odd',
    });
  });

  test('leaves no copy of a task behind', async () => {
    const fleet = await atWork();
    captureOutput();
    // Other tests make such copies at the same time.
    const temporary = await tempFolder();
    vi.stubEnv('TMPDIR', temporary);
    onTestFinished(() => void vi.unstubAllEnvs());
    await fleetTasks(fleet, 'nightly', {});
    expect(readdirSync(temporary)).toEqual([]);
  });
});

describe('ralph logs on a fleet', () => {
  const ALL = { iteration: null, follow: false, raw: false };

  test('prints what workers have kept', async () => {
    const fleet = await atWork();
    const said = captureOutput();
    expect(await fleetLogs(fleet, 'nightly', ALL)).toBe(0);
    expect(said.out()).toBe('fleet memory/test\n── iteration 1 ──\nI have read the parser.\n');
  });

  test('prints the bytes alone with --raw', async () => {
    const fleet = await atWork();
    const said = captureOutput();
    await fleetLogs(fleet, 'nightly', { ...ALL, raw: true });
    expect(said.out()).toBe('I have read the parser.\n');
    expect(said.err()).toBe('ralph: fleet memory/test\n');
  });

  test('says that there is nothing yet, and which iterations there are', async () => {
    const fleet = await atWork();
    const said = captureOutput();
    expect(await fleetLogs(fleet, 'docs', ALL)).toBe(0);
    expect(said.err()).toBe('ralph: task docs has no output yet\n');
    expect(await fleetLogs(fleet, 'nightly', { ...ALL, iteration: 3 })).toBe(1);
    expect(said.err()).toContain(
      'Task nightly has no log of iteration 3; only iteration 1 has one.',
    );
  });

  test.for([false, true])(
    'needs an id, before a connection is opened (follow: %s)',
    async (follow) => {
      const nowhere = { fleet: 'postgres://me@localhost:1/none', follow };
      await expect(logs(undefined, nowhere)).rejects.toThrow('ralph logs expects the id of a task');
    },
  );

  test('gives the words with which printed commands name the fleet', async () => {
    const fleet = { ...(await atWork()), words: ['--fleet', 'postgres://host/fleet'] };
    captureOutput();
    const task = { taskId: 'nightly', isData: false };
    const place = await readCopy(fleet, task, async (copy) => copy);
    expect(place.fleetWords).toBe(fleet.words);
  });

  test('writes no file whose name leads out of the copy', async () => {
    const fleet = await atWork();
    const outside = path.join(await tempFolder(), 'planted');
    for (const name of [`../../../../../..${outside}`, outside, 'iteration-0001.x/../../key']) {
      await fleet.queue.keepLog(CLAIM, packedLog(1, 'planted', name));
    }
    captureOutput();
    expect(await fleetLogs(fleet, 'nightly', ALL)).toBe(0);
    expect(readdirSync(path.dirname(outside))).toEqual([]);
  });

  test('says with --follow, too, what a task that has ended does not have', async () => {
    const fleet = await atWork();
    await fleet.queue.settle(CLAIM, null, NOTHING, COMPLETED);
    const said = captureOutput();
    expect(await followFleetLogs(fleet, 'nightly', { ...ALL, follow: true, iteration: 3 })).toBe(1);
    expect(said.err()).toContain(
      'Task nightly has no log of iteration 3; only iteration 1 has one.',
    );
  });

  test('goes on with --follow until the task has ended, and through an outage', async () => {
    const fleet = await atWork();
    const said = captureOutput();
    const followed = followFleetLogs(fleet, 'nightly', { ...ALL, follow: true });
    await expect.poll(said.out).toContain('iteration 1');
    let refusals = 0;
    const refuse = (): boolean => {
      refusals += 1;
      return true;
    };
    Object.defineProperty(fleet.queue, 'isAway', { configurable: true, get: refuse });
    await expect.poll(() => refusals).toBeGreaterThan(0);
    Object.defineProperty(fleet.queue, 'isAway', { value: false });
    const asked: number[] = [];
    const logs = fleet.queue.logs.bind(fleet.queue);
    fleet.queue.logs = (taskId, after) => {
      asked.push(after);
      return logs(taskId, after);
    };
    await fleet.queue.keepLog(CLAIM, packedLog(2, 'Done.\n'));
    fleet.wait(1_000);
    await fleet.queue.settle(CLAIM, null, NOTHING, END);
    expect(await followed).toBe(0);
    // What was shown is not read again.
    expect(new Set(asked)).toEqual(new Set([1]));
    expect(said.out()).toBe(
      'fleet memory/test\n── iteration 1 ──\nI have read the parser.\n── iteration 2 ──\nDone.\n',
    );
  });
});

describe('ralph report on a fleet', () => {
  test('tells of what ran, what needs a person, and how to go on', async () => {
    const fleet = await atWork();
    const stopped = { ...END, status: 'stopped', exitReason: 'stopped:request' } as const;
    await fleet.queue.settle(CLAIM, null, NOTHING, { ...stopped, resultRef: null });
    const said = captureOutput();
    expect(await fleetReport(fleet, {})).toBe(0);
    const text = said.out();
    expect(text).toMatch(/^fleet memory\/test\n\n# What ralph did\n/);
    expect(text).toContain('0 tasks completed, 0 failed, 1 waiting, 1 running: 1 iteration');
    expect(text).toContain('ralph resume nightly --fleet postgres://db.example.org/fleet');
    expect(text).toMatch(/^\| docs \| about to start /m);
    expect(text).not.toMatch(/ralph diff|ralph undo|--vault|ralph-fleet-/);
  });

  test('names the command that shows the note of a task that ended badly', async () => {
    const fleet = await atWork();
    const failed = { ...END, status: 'failed', exitReason: 'failed:reported' } as const;
    const note = '# The task failed\n\nThe parser is gone.\n';
    await fleet.queue.settle(CLAIM, null, NOTHING, { ...failed, resultRef: null, note });
    const said = captureOutput();
    await fleetReport(fleet, {});
    const command = 'ralph status nightly --fleet postgres://db.example.org/fleet';
    expect(said.out()).toContain(`Note: \`${command}\``);
    const text = said.out().length;
    await fleetTasks(fleet, 'nightly', {});
    expect(said.out().slice(text)).toMatch(/^note +.*The parser is gone\./m);
    // A note is of its ending.
    await fleet.queue.resume('nightly');
    const before = said.out().length;
    await fleetReport(fleet, {});
    expect(said.out().slice(before)).not.toContain('Note:');
  });

  test('is written as a page and as JSON', async () => {
    const fleet = await atWork();
    const html = path.join(await tempFolder(), 'report.html');
    const said = captureOutput();
    expect(await fleetReport(fleet, { html, json: true })).toBe(0);
    const page = await readFile(html, 'utf8');
    expect(page).toContain('From <code>fleet memory/test</code>');
    expect(page).toContain('almost DONE');
    expect(page).not.toContain('ralph-fleet-');
    expect(JSON.parse(said.out())).toMatchObject({
      fleet: 'memory/test',
      vault: null,
      state_dir: null,
      until: NOW,
      totals: { running: 2, iterations: 1 },
    });
    expect(said.out()).not.toContain('ralph-fleet-');
  });

  test('leaves out and names a task whose checkpoint it cannot read', async () => {
    const fleet = await atWork();
    const newer = gzipSync(JSON.stringify({ schema_version: SCHEMA_VERSION + 1 }));
    for (const [packed, why] of [
      [newer, 'was written by a newer ralph; use that one'],
      [new Uint8Array([1]), 'cannot be read'],
    ] as const) {
      const kept = await fleet.queue.checkpoint('nightly');
      if (kept === null) throw new Error('there is no checkpoint');
      await fleet.queue.save(CLAIM, { ...kept, packed }, NOTHING);
      const said = captureOutput();
      expect(await fleetReport(fleet, {})).toBe(0);
      expect(said.err()).toBe(`ralph: task nightly is left out, since its checkpoint ${why}\n`);
      expect(said.out()).toMatch(/^\| docs \| about to start /m);
      expect(said.out()).not.toContain('nightly');
    }
  });

  test('leaves out what ended before its period', async () => {
    const fleet = await atWork();
    await fleet.queue.settle(CLAIM, null, NOTHING, END);
    fleet.wait(3 * 60 * 60_000);
    const said = captureOutput();
    await fleetReport(fleet, { since: '2h' });
    expect(said.out()).not.toContain('nightly');
  });
});

describe('ralph fleet status', () => {
  test('shows the fleet, and as JSON', async () => {
    const fleet = await atWork();
    const said = captureOutput();
    expect(await showFleet(fleet, {})).toBe(0);
    expect(said.out()).toMatch(/^fleet memory\/test, lease 2m\n/);
    expect(said.out()).toContain('no worker takes the queue default, which has 1 task');
    const json = captureOutput();
    await showFleet(fleet, { json: true });
    expect(JSON.parse(json.out())).toMatchObject({ fleet: 'memory/test', at: NOW, workers: [] });
  });

  test('is watched through an outage', async () => {
    const fleet = await atWork();
    fleet.queue.isAway = true;
    const frame = patient(async () => {
      await fleet.queue.workers();
      return { text: 'workers', key: '', isLast: true };
    });
    expect(await frame()).toMatchObject({
      text: expect.stringContaining('fleet memory/test cannot be reached'),
      isLast: false,
    });
    fleet.queue.isAway = false;
    expect(await frame()).toMatchObject({ text: 'workers' });
  });
});

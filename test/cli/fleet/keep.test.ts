import { describe, expect, test } from 'vitest';
import { accountFleet } from '../../../src/fleet/cli/account.ts';
import { fleetPrune } from '../../../src/fleet/cli/prune.ts';
import { captureOutput } from '../../helpers/captured-output.ts';
import { type FleetOnHand, fleetOnHand } from '../../helpers/fleet-on-hand.ts';
import { NOTHING, newFleetTask } from '../../helpers/fleet-tasks.ts';

const DAY_MS = 24 * 60 * 60_000;

describe('ralph fleet account', () => {
  test('pauses an account for some time, bounds it and ends its pause', async () => {
    const fleet = fleetOnHand();
    const said = captureOutput();
    expect(await accountFleet(fleet, 'work', { pause: '2h', slots: '3' })).toBe(0);
    expect(said.err()).toBe(
      'ralph: fleet memory/test: the account work is paused for 2h; at most 3 tasks at once, 0 running\n',
    );
    await accountFleet(fleet, 'work', { resume: true, slots: '0' });
    expect(said.err()).toContain('the account work is free; no limit on tasks at once');
    expect(await fleet.queue.accounts()).toMatchObject([
      { account: 'work', held: false, slots: 0 },
    ]);
  });

  test('pauses an account until somebody ends its pause', async () => {
    const fleet = fleetOnHand();
    const said = captureOutput();
    await accountFleet(fleet, 'work', { pause: true });
    expect(await fleet.queue.accounts()).toMatchObject([{ account: 'work', held: true }]);
    expect(said.err()).toContain('work is paused until ralph fleet account --resume');
  });

  test.for([
    ['work', {}, 'needs one of --pause TIME, --resume and --slots N'],
    ['work', { pause: '2h', resume: true }, '--pause and --resume exclude each other'],
    [
      'work',
      { pause: 'soon' },
      "--pause expects a duration such as 2h or 30m, or nothing to pause the account until --resume; found 'soon'.",
    ],
    ['work', { pause: '0' }, "found '0'."],
    ['work', { slots: '-1' }, "--slots expects a number from 0 (unbounded) to 9999; found '-1'."],
    ['a b', { resume: true }, "found 'a b'."],
  ] as const)('refuses %s with %o', async ([name, flags, words]) => {
    const fleet = fleetOnHand();
    await expect(accountFleet(fleet, name, flags)).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringContaining(words),
    });
    expect(await fleet.queue.accounts()).toEqual([]);
  });
});

describe('ralph prune on a fleet', () => {
  const MONTH = { ageMs: 30 * DAY_MS, olderThan: '30d', dryRun: false, keepRefs: false };

  /** A fleet with tasks that ended 31 days and 1 day ago, and an open task. */
  async function withEnded(): Promise<FleetOnHand> {
    const fleet = fleetOnHand();
    for (const task_id of ['old', 'stuck', 'fresh']) {
      await fleet.submit({ task_id });
      if (task_id === 'fresh') fleet.wait(30 * DAY_MS);
      const claim = await fleet.claim();
      await fleet.queue.settle(claim, null, NOTHING, {
        status: 'completed',
        exitReason: 'completed',
        exitCode: 0,
        warning: null,
        note: null,
        resultCommit: null,
        resultRef: null,
        branchCommit: null,
      });
    }
    fleet.wait(DAY_MS);
    await fleet.submit({ task_id: 'open' });
    return fleet;
  }

  const ids = async ({ queue }: FleetOnHand): Promise<readonly string[]> =>
    (await queue.tasks({})).map(({ spec }) => spec.task_id);

  test('removes what ended long ago, after its refs', async () => {
    const fleet = await withEnded();
    const said = captureOutput();
    const seen: string[] = [];
    const code = await fleetPrune(fleet, MONTH, async (tasks) => {
      expect(await ids(fleet)).toHaveLength(4);
      seen.push(...tasks.map(({ spec }) => spec.task_id));
      return [];
    });
    expect(code).toBe(0);
    expect(seen).toEqual(['old', 'stuck']);
    expect(await ids(fleet)).toEqual(['fresh', 'open']);
    expect(said.out()).toBe('fleet memory/test\nremoved 2 tasks\n');
  });

  test('keeps a task that somebody goes on with meanwhile', async () => {
    const fleet = await withEnded();
    captureOutput();
    const still: boolean[] = [];
    await fleetPrune(fleet, { ...MONTH, ageMs: 0 }, async (tasks, _, stillEnded) => {
      const [old, stuck] = tasks;
      if (old === undefined || stuck === undefined) throw new Error('there is no task');
      await fleet.queue.submit([newFleetTask('stuck', {}, { again: true })]);
      still.push(await stillEnded(old), await stillEnded(stuck));
      // It ends once more.
      fleet.wait(1_000);
      await fleet.queue.request('stuck', { kind: 'stop', by: 'ann' });
      return [];
    });
    expect(still).toEqual([true, false]);
    expect(await ids(fleet)).toEqual(['open', 'stuck']);
  });

  test('keeps a task whose refs cannot be removed, and names it', async () => {
    const fleet = await withEnded();
    const said = captureOutput();
    const why = 'https://git.example.org/app.git cannot be reached.';
    expect(await fleetPrune(fleet, MONTH, async () => [{ taskId: 'stuck', why }])).toBe(1);
    expect(await ids(fleet)).toEqual(['stuck', 'fresh', 'open']);
    expect(said.err()).toContain(`ralph: cannot remove stuck: ${why.slice(0, -1)}\n`);
    expect(said.err()).toContain('ralph prune --keep-refs removes the tasks and leaves the refs\n');
    expect(said.out()).toContain('removed 1 task\n');
  });

  test('leaves the repositories alone with --keep-refs', async () => {
    const fleet = await withEnded();
    captureOutput();
    const refuse = async (): Promise<never> => {
      throw new Error('no ref is to be removed');
    };
    expect(await fleetPrune(fleet, { ...MONTH, keepRefs: true }, refuse)).toBe(0);
    expect(await ids(fleet)).toEqual(['fresh', 'open']);
  });

  test('removes rows that cannot be read, and looks for no refs of them', async () => {
    const fleet = fleetOnHand();
    await fleet.submit(
      { task_id: 'odd', repo: 'ext::sh -c id' },
      { task_id: 'live', branch: '..' },
    );
    await fleet.queue.request('odd', { kind: 'stop', by: 'ann' });
    fleet.wait(31 * DAY_MS);
    const said = captureOutput();
    const seen: string[] = [];
    await fleetPrune(fleet, MONTH, async (tasks) => {
      seen.push(...tasks.map(({ spec }) => spec.task_id));
      return [];
    });
    expect(seen).toEqual([]);
    expect(said.out()).toContain('removed 1 task\n');
    expect(await fleet.queue.unreadable({})).toEqual([{ taskId: 'live', endedAt: null }]);
  });

  test('keeps what a person has paused', async () => {
    const fleet = fleetOnHand();
    await fleet.submit({});
    await fleet.queue.settle(await fleet.claim(), null, NOTHING, {
      ...{ status: 'paused', exitReason: 'paused', exitCode: 6, warning: null, note: null },
      ...{ resultCommit: null, resultRef: null, branchCommit: null },
    });
    fleet.wait(31 * DAY_MS);
    captureOutput();
    expect(await fleetPrune(fleet, MONTH, async () => [])).toBe(0);
    expect(await ids(fleet)).toEqual(['nightly']);
  });

  test('only says what it would remove with --dry-run', async () => {
    const fleet = await withEnded();
    const said = captureOutput();
    const refuse = async (): Promise<never> => {
      throw new Error('nothing is to be removed');
    };
    expect(await fleetPrune(fleet, { ...MONTH, dryRun: true }, refuse)).toBe(0);
    expect(await ids(fleet)).toHaveLength(4);
    expect(said.out()).toBe('fleet memory/test\nold\nstuck\nwould remove 2 tasks\n');
  });

  test('says that there is nothing that old', async () => {
    const fleet = fleetOnHand();
    const said = captureOutput();
    expect(await fleetPrune(fleet, MONTH, async () => [])).toBe(0);
    expect(said.out()).toContain('no task ended longer ago than 30d\n');
  });
});

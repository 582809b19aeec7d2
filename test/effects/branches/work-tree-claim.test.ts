import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Here } from '../../../src/core/task/driver.ts';
import type { Driver } from '../../../src/core/task/task-state.ts';
import { claimWorkTree } from '../../../src/effects/branches/work-tree-claim.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const AT = '2026-01-02T03:04:05.678Z';

/** Drivers of this host, by pid; those that have died. */
function stage(gitDir: string) {
  const dead = new Set<number>();
  const here = (): Here => ({
    ...{ host: 'here', bootId: 'boot', pidNamespace: '', at: AT },
    isAlive: ({ pid }) => !dead.has(pid),
  });
  const driver = (pid: number): Driver => ({
    ...{ pid, pid_started_at: '1', boot_id: 'boot', host: 'here', pid_namespace: '' },
    ...{ run_id: `run-${pid}`, beat_at: AT },
  });
  const claim = (
    pid: number,
    more: { isShared?: boolean; needsAlone?: boolean; vault?: string } = {},
  ) => {
    const { isShared = false, needsAlone = false, vault = `/vaults/${pid}` } = more;
    const user = { taskId: `task-${pid}`, vault, needsAlone };
    return claimWorkTree({ gitDir, user, driver: driver(pid), here, isShared });
  };
  const claimed = async (...args: Parameters<typeof claim>) => {
    const result = await claim(...args);
    if (result.kind !== 'held') throw new Error(`the claim is ${result.kind}`);
    return result.claim;
  };
  return { dead, here, claim, claimed, users: () => usersNotedIn(gitDir) };
}

/** The tasks that the claims on the work tree name. */
function usersNotedIn(gitDir: string): readonly unknown[] {
  const locks = join(gitDir, 'ralph', 'locks');
  if (!existsSync(locks)) return [];
  return readdirSync(locks, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.json'))
    .map((name) => JSON.parse(readFileSync(join(locks, name), 'utf8')).driver.user);
}

describe('a work tree', () => {
  test('has one driver, which is named to the second', async () => {
    const { claim, claimed, users } = stage(await tempFolder());
    const first = await claimed(1);
    const by = { taskId: 'task-1', vault: '/vaults/1', needsAlone: false };
    expect(await claim(2)).toMatchObject({ kind: 'taken', by, driver: { pid: 1 } });
    expect(first.isHeld()).toBe(true);
    expect(users()).toEqual([by]);
    first.release();
    (await claimed(2)).release();
  });

  test('is free after its driver has died', async () => {
    const gitDir = await tempFolder();
    const { dead, claimed, users } = stage(gitDir);
    await claimed(1);
    dead.add(1);
    const second = await claimed(2);
    expect(users()).toMatchObject([{ taskId: 'task-2' }]);
    expect(readdirSync(join(gitDir, 'ralph'))).toEqual(['locks']);
    second.release();
  });

  test('names its driver by the longest path of a vault, too', async () => {
    const { claim, claimed } = stage(await tempFolder());
    const vault = `/${'v'.repeat(4_094)}`;
    const first = await claimed(1, { vault });
    expect(await claim(2)).toMatchObject({ kind: 'taken', by: { vault } });
    first.release();
  });

  test('keeps nothing of a claim that was released or refused', async () => {
    const gitDir = await tempFolder();
    const { claim, claimed } = stage(gitDir);
    const first = await claimed(1);
    await claim(2);
    first.release();
    expect(readdirSync(gitDir)).toEqual([]);
  });

  test('is told from another one of the repository', async () => {
    const [one, other] = [stage(await tempFolder()), stage(await tempFolder())];
    const claims = [await one.claimed(1), await other.claimed(2)];
    for (const claim of claims) claim.release();
  });

  test('goes to exactly one of many at once', async () => {
    const { claim } = stage(await tempFolder());
    const results = await Promise.all(Array.from({ length: 10 }, (_, pid) => claim(pid + 1)));
    const held = results.flatMap((result) => (result.kind === 'held' ? [result.claim] : []));
    expect(held).toHaveLength(1);
    held[0]?.release();
  });

  test('cannot be claimed where nothing can be written', async () => {
    const { claim } = stage('/proc');
    expect(await claim(1)).toMatchObject({ kind: 'unwritable' });
  });
});

describe('a shared work tree', () => {
  test('takes those in that share it', async () => {
    const { claimed, users } = stage(await tempFolder());
    const claims = [await claimed(1)];
    claims.push(await claimed(2, { isShared: true }));
    claims.push(await claimed(3, { isShared: true }));
    expect(users()).toHaveLength(3);
    for (const claim of claims) claim.release();
    expect(users()).toEqual([]);
  });

  test('stays closed to one that does not share it', async () => {
    const { claim, claimed } = stage(await tempFolder());
    const first = await claimed(1);
    const second = await claimed(2, { isShared: true });
    first.release();
    expect(await claim(3)).toMatchObject({ kind: 'taken', by: { taskId: 'task-2' } });
    second.release();
    (await claimed(3)).release();
  });

  test('is not shared with one that needs it for itself', async () => {
    const { claim, claimed } = stage(await tempFolder());
    const first = await claimed(1, { needsAlone: true });
    const by = { taskId: 'task-1' };
    expect(await claim(2, { isShared: true })).toMatchObject({ kind: 'taken', by });
    first.release();
  });
});

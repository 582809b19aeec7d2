import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { noteOwner } from '../../../src/effects/branches/own-tree.ts';
import { readKey } from '../../../src/effects/trust/key.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

// A file system without hard links, such as that of a USB stick, a shared folder or a phone.

vi.mock('node:fs', async (original) => ({
  ...(await original<typeof import('node:fs')>()),
  linkSync() {
    throw Object.assign(new Error('EPERM: operation not permitted, link'), { code: 'EPERM' });
  },
}));

test('one task owns a work tree', async () => {
  const folder = join(await tempFolder(), 'git');
  mkdirSync(folder);
  const [one, other] = ['one', 'other'].map((task_id) => ({ task_id, started_at: '2026-01-05' }));
  expect(await noteOwner(folder, one ?? expect.fail())).toBe(true);
  expect(await noteOwner(folder, other ?? expect.fail())).toBe(false);
});

test('the key is made once', async () => {
  const home = await tempFolder();
  const key = readKey(null, { HOME: home }, { create: true });
  const folder = join(home, '.local/state/ralph');
  expect(readdirSync(folder)).toEqual(['key']);
  expect(readFileSync(join(folder, 'key'))).toHaveLength(32);
  expect(readKey(null, { HOME: home }, { create: true })).toEqual(key);
});

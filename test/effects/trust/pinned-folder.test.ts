import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { pinFolder } from '../../../src/effects/trust/pinned-folder.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

/** A task's folder two levels below a root, pinned before it is there. */
async function stage() {
  const root = await tempFolder();
  const folder = join(root, 'states/t');
  const pinned = pinFolder(folder);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return { root, folder, pinned };
}

test('a folder that is where it was may be written to, also once it is made anew', async () => {
  const { folder, pinned } = await stage();
  pinned.check();
  rmSync(folder, { recursive: true });
  pinned.check();
  mkdirSync(folder);
  pinned.check();
});

test.for(['states/t', 'states'])(
  '%s in whose place a link was put is not written through',
  async (name) => {
    const { root, folder, pinned } = await stage();
    mkdirSync(join(root, 'elsewhere/t'), { recursive: true });
    renameSync(join(root, name), join(root, 'away'));
    symlinkSync(join(root, name === 'states' ? 'elsewhere' : 'elsewhere/t'), join(root, name));
    expect(() => pinned.check()).toThrow(`${folder} leads to ${join(root, 'elsewhere/t')} now`);
  },
);

test('a folder that everybody can write to by now is not used', async () => {
  const { folder, pinned } = await stage();
  chmodSync(folder, 0o777);
  expect(() => pinned.check()).toThrow('everyone can write to it');
});

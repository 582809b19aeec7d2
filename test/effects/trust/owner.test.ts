import { chmodSync, chownSync, mkdirSync, statfsSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { distrustPath } from '../../../src/effects/trust/owner.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

/** The number of the file system that the next folders lie on; null: the true one. */
let fileSystem: number | null = null;
vi.mock('node:fs', async (original) => {
  const actual = await original<typeof import('node:fs')>();
  const statfs = (place: string): object => {
    const stats = actual.statfsSync(place);
    return fileSystem === null ? stats : { ...stats, type: fileSystem };
  };
  return { ...actual, statfsSync: statfs };
});
afterEach(() => {
  fileSystem = null;
});

async function folderOf(mode: number): Promise<string> {
  const folder = join(await tempFolder(), 'states');
  mkdirSync(folder);
  chmodSync(folder, mode);
  return folder;
}

test.for([
  [0o700, null],
  [0o755, null],
  [0o777, 'everyone can write to it; fix that with chmod o-w'],
  [0o702, 'everyone can write to it; fix that with chmod o-w'],
] as const)('a folder of mode %o: %s', async ([mode, why]) => {
  expect(distrustPath(await folderOf(mode))).toBe(why);
});

test('one that is not there is nobody’s, and a link says nothing by itself', async () => {
  const folder = await folderOf(0o777);
  const link = `${folder}-link`;
  symlinkSync(folder, link);
  expect(distrustPath(join(folder, 'nothing'))).toBeNull();
  expect(distrustPath(link)).toBeNull();
});

test.runIf(process.getuid?.() === 0)('one of another user is named with the number', async () => {
  const folder = await folderOf(0o700);
  chownSync(folder, 1234, 1234);
  expect(distrustPath(folder)).toBe('it belongs to another user (1234)');
});

test.runIf(process.platform === 'linux').for([
  ['vfat', 0x4d44],
  ['exfat', 0x2011bab0],
  ['9p', 0x01021997],
] as const)('on %s, which has no modes, a mode says nothing', async ([, number]) => {
  const folder = await folderOf(0o777);
  expect(distrustPath(folder)).not.toBeNull();
  fileSystem = number;
  expect(statfsSync(folder).type).toBe(number);
  expect(distrustPath(folder)).toBeNull();
});

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  errorCode,
  makePrivateFolder,
  retryBusy,
  writeFileAtomic,
} from '../../../src/effects/files/write-file.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

/** An action that fails so often with the system's error of that name, and then answers. */
function failing(times: number, code: string) {
  let calls = 0;
  const action = async () => {
    calls += 1;
    if (calls <= times) throw Object.assign(new Error(`${code}: a test`), { code });
    return 'done';
  };
  return { action, calls: () => calls };
}

describe('trying again', () => {
  test.for(['EBUSY', 'EMFILE', 'ENFILE', 'ESTALE', 'EAGAIN'])('helps against %s', async (code) => {
    const { action, calls } = failing(3, code);
    expect(await retryBusy(action)).toBe('done');
    expect(calls()).toBe(4);
  });

  test('comes to an end', async () => {
    const { action, calls } = failing(Number.POSITIVE_INFINITY, 'EBUSY');
    await expect(retryBusy(action)).rejects.toMatchObject({ code: 'EBUSY' });
    expect(calls()).toBe(4);
  });

  test.for(['ENOENT', 'EACCES', 'EROFS', 'ENOSPC', 'EISDIR', ''])(
    'is not done for what does not pass (%s)',
    async (code) => {
      const { action, calls } = failing(1, code);
      await expect(retryBusy(action)).rejects.toMatchObject({ code });
      expect(calls()).toBe(1);
    },
  );

  test('is not done where all went well', async () => {
    const { action, calls } = failing(0, '');
    await retryBusy(action);
    expect(calls()).toBe(1);
  });
});

test('the name of an error is read from errors alone', () => {
  const coded = (code: unknown) => Object.assign(new Error('x'), { code });
  expect(
    [coded('ENOENT'), coded(5), new Error('x'), { code: 'ENOENT' }, null].map(errorCode),
  ).toEqual(['ENOENT', '', '', '', '']);
});

describe('writing a file whole', () => {
  test('makes it, for its owner alone, with every byte', async () => {
    const file = join(await tempFolder(), 'state.json');
    const bytes = Buffer.from([0, 255, 10, 13, 128]);
    await writeFileAtomic(file, bytes);
    expect(readFileSync(file).equals(bytes)).toBe(true);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test('replaces one, whose mode is not taken over', async () => {
    const folder = await tempFolder();
    const file = join(folder, 'state.json');
    await writeFile(file, 'a long old text');
    await chmod(file, 0o644);
    await writeFileAtomic(file, 'new');
    expect(readFileSync(file, 'utf8')).toBe('new');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(['state.json']);
  });

  test('leaves the old file whole and nothing beside it when it fails in the middle', async () => {
    const folder = await tempFolder();
    const file = join(folder, 'state.json');
    await writeFile(file, 'old');
    // What cannot be written fails when the file beside it is there already, as on a disk that fills up.
    const content = 5 as unknown as string;
    await expect(writeFileAtomic(file, content)).rejects.toThrow(TypeError);
    expect(readFileSync(file, 'utf8')).toBe('old');
    expect(readdirSync(folder)).toEqual(['state.json']);
  });

  test('leaves nothing beside it where the rename fails', async () => {
    const folder = await tempFolder();
    await mkdir(join(folder, 'state.json', 'sub'), { recursive: true });
    await expect(writeFileAtomic(join(folder, 'state.json'), 'new')).rejects.toThrow();
    expect(readdirSync(folder, { recursive: true }).sort()).toEqual([
      'state.json',
      'state.json/sub',
    ]);
  });

  test('tells the error of a folder that is not there', async () => {
    const file = join(await tempFolder(), 'gone', 'state.json');
    await expect(writeFileAtomic(file, 'new')).rejects.toMatchObject({ code: 'ENOENT' });
  });

  test('is whole also where many do it at once', async () => {
    const folder = await tempFolder();
    const file = join(folder, 'state.json');
    const texts = Array.from({ length: 20 }, (_, n) => String(n).repeat(50_000));
    await Promise.all(texts.map((text) => writeFileAtomic(file, text)));
    expect(texts).toContain(readFileSync(file, 'utf8'));
    expect(readdirSync(folder)).toEqual(['state.json']);
  });
});

test('a private folder is made with its parents, and left as it is where it is there', async () => {
  const folder = await tempFolder();
  await makePrivateFolder(join(folder, 'a', 'b'));
  expect(statSync(join(folder, 'a', 'b')).mode & 0o777).toBe(0o700);
  await chmod(join(folder, 'a'), 0o755);
  await makePrivateFolder(join(folder, 'a'));
  expect(statSync(join(folder, 'a')).mode & 0o777).toBe(0o755);
});

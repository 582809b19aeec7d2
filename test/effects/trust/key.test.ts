import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { defaultKeyFile, readKey } from '../../../src/effects/trust/key.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

/** A user who has no key yet. */
async function stage() {
  const home = await tempFolder();
  const env = { HOME: home };
  return { home, env, file: join(home, '.local/state/ralph/key') };
}

describe('where the key lies', () => {
  test('is in the state home, or below the home folder', () => {
    expect(defaultKeyFile({ XDG_STATE_HOME: '/x', HOME: '/h' })).toBe('/x/ralph/key');
    expect(defaultKeyFile({ HOME: '/h' })).toBe('/h/.local/state/ralph/key');
  });

  test('is not below a relative state home, which would lie in the vault', () => {
    expect(defaultKeyFile({ XDG_STATE_HOME: 'state', HOME: '/h' })).toBe(
      '/h/.local/state/ralph/key',
    );
  });
});

describe("the user's own key", () => {
  test('is made once, of 32 bytes that only its owner can read', async () => {
    const { env, file } = await stage();
    const first = readKey(null, env, { create: true });
    expect(first).toMatchObject({ file, isShared: false });
    expect(readFileSync(file)).toHaveLength(32);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(join(file, '..')).mode & 0o777).toBe(0o700);
    expect(readKey(null, env, { create: true })).toEqual(first);
  });

  test('is not made by those who only look', async () => {
    const { env, home } = await stage();
    expect(readKey(null, env, { create: false })).toEqual({
      problem: expect.stringContaining('there is no key in '),
    });
    expect(existsSync(join(home, '.local'))).toBe(false);
  });

  test('is not used where others can read it, and stays as it is', async () => {
    const { env, file } = await stage();
    readKey(null, env, { create: true });
    chmodSync(file, 0o640);
    expect(readKey(null, env, { create: true })).toEqual({
      problem: expect.stringMatching(/others can read or write the key .*chmod 600/),
    });
    expect(existsSync(file)).toBe(true);
  });

  test.for([
    ['is too short', (file: string) => writeFileSync(file, 'short', { mode: 0o600 }), 'shorter'],
    ['is a folder', (file: string) => mkdirSync(file), 'not a regular file'],
  ] as const)('that %s is said to be so', async ([, make, words]) => {
    const { env, file } = await stage();
    mkdirSync(join(file, '..'), { recursive: true });
    make(file);
    expect(readKey(null, env, { create: true })).toEqual({
      problem: expect.stringContaining(words),
    });
  });

  test('that cannot be made is said, with the way on', async () => {
    const { env, home } = await stage();
    writeFileSync(join(home, '.local'), 'a file');
    expect(readKey(null, env, { create: true })).toEqual({
      problem: expect.stringContaining('--key-file'),
    });
  });
});

describe('a key that was named', () => {
  test('is read, and belongs to several machines', async () => {
    const { home, env } = await stage();
    const file = join(home, 'shared.key');
    writeFileSync(file, Buffer.alloc(32, 1), { mode: 0o600 });
    expect(readKey(file, env, { create: true })).toMatchObject({ file, isShared: true });
  });

  test('is never made: a slip of the pen would distrust every task', async () => {
    const { home, env } = await stage();
    const file = join(home, 'slip.key');
    expect(readKey(file, env, { create: true })).toEqual({
      problem: expect.stringContaining('head -c 32 /dev/urandom'),
    });
    expect(existsSync(file)).toBe(false);
  });
});

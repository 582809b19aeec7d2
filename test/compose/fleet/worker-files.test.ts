import { chmodSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { hiddenFrom, keyFileOf, workerHome } from '../../../src/fleet/worker/start-worker.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

test('the home of a worker is made its own user’s alone', async () => {
  const home = await tempFolder();
  mkdirSync(join(home, 'legs'));
  chmodSync(home, 0o755);
  workerHome(home, {});
  expect(statSync(home).mode & 0o777).toBe(0o700);
});

test('a folder that others can read, and that has other files in it, is no home', async () => {
  const home = await tempFolder();
  writeFileSync(join(home, 'notes'), '');
  chmodSync(home, 0o755);
  expect(() => workerHome(home, {})).toThrow(/others can read it/);
  expect(statSync(home).mode & 0o777).toBe(0o755);
  chmodSync(home, 0o700);
  expect(workerHome(home, {})).toBe(home);
});

test('the key to the database that the URL names is hidden from the agent', () => {
  const key = keyFileOf('postgres://u@db/fleet?sslmode=verify-full&sslkey=%2Fetc%2Fralph%2Fmy.key');
  const env = { HOME: '/home/u', PGPASSFILE: '/etc/pgpass' };
  const hidden = hiddenFrom('/w', [null, key], env);
  expect(hidden).toEqual(['/w', '/etc/ralph/my.key', '/etc/pgpass', '/home/u/.pgpass']);
  expect(keyFileOf('postgres:///fleet')).toBe(null);
});

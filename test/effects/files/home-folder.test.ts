import { afterEach, expect, test, vi } from 'vitest';
import { homeFolder } from '../../../src/effects/files/home-folder.ts';
import { trustStanding } from '../../../src/effects/plan/trust-store.ts';
import { readKey } from '../../../src/effects/trust/key.ts';

const system = vi.hoisted(() => ({ homedir: '/home/known', isOnList: true }));
vi.mock('node:os', async (original) => ({
  ...(await original<typeof import('node:os')>()),
  userInfo: () => {
    if (!system.isOnList)
      throw new Error('A system error occurred: uv_os_get_passwd returned ENOENT');
    return { homedir: system.homedir };
  },
}));

afterEach(() => {
  system.isOnList = true;
});

test.for([
  ['/home/me', '/home/me'],
  // A relative one would read the key out of whatever folder ralph is started in.
  ['.', '/home/known'],
  ['', '/home/known'],
  [undefined, '/home/known'],
] as const)('HOME=%j is %j', ([home, folder]) => {
  expect(homeFolder(home === undefined ? {} : { HOME: home })).toBe(folder);
});

test('a user that the system does not know, and no HOME: no folder, and no error', () => {
  system.isOnList = false;
  expect(homeFolder({})).toBeNull();
  expect(homeFolder({ HOME: 'home' })).toBeNull();
  expect(readKey(null, {}, { create: true })).toEqual({
    problem: expect.stringMatching(/^there is no home folder for the key; set one with HOME/),
  });
  const config = { file: '/p/ralph.config.yaml', text: '', wasFound: true };
  expect(trustStanding(config, {})).toEqual({ kind: 'untrusted' });
});

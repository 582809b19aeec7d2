import { expect, test } from 'vitest';
import { checkLogin } from '../../../src/effects/claude/login-signs.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

test('finds no login where there is none; on macOS it may be in the keychain', async () => {
  const home = await tempFolder();
  const env = { HOME: home };
  expect(checkLogin(home, env, 'linux')).toMatchObject({ kind: 'problem' });
  const unknown = checkLogin(home, env, 'darwin');
  expect(unknown).toMatchObject({ kind: 'warning', says: expect.stringContaining('keychain') });
  const signed = checkLogin(home, { ...env, ANTHROPIC_API_KEY: 'x' }, 'darwin');
  expect(signed).toMatchObject({ kind: 'ok', remedy: null });
});

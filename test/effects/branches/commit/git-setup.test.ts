import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  changedSetup,
  gitSetupJson,
  storedGitSetup,
} from '../../../../src/effects/branches/commit/git-setup.ts';
import { tempFolder } from '../../../helpers/temp-folder.ts';

test('where submodules come from, as an earlier version noted it, does not look removed', async () => {
  const folder = await tempFolder();
  const now = { "git's setting user.name": '1' };
  const noted = {
    ...now,
    "git's setting submodule.some lib.active": '2',
    "git's setting submodule.some lib.url": '3',
  };
  writeFileSync(join(folder, 'git-setup.json'), gitSetupJson(noted));
  expect(changedSetup(storedGitSetup(folder) ?? {}, now)).toEqual([]);
});

import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { ownProgram } from '../../../src/cli/terminal/own-program.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const IN_PROJECT = 'app/node_modules/ralph-headless/bin/ralph.js';
const IN_CACHE = 'home/_npx/1a2b/node_modules/ralph-headless/bin/ralph.js';
const GLOBAL = 'usr/lib/node_modules/ralph-headless/bin/ralph.js';
const CHECKOUT = 'my src/ralph/bin/ralph.js';

test.for([
  { what: 'on PATH', script: GLOBAL, path: ['usr/bin'], folder: 'app', is: 'ralph' },
  { what: 'in a project', script: IN_PROJECT, path: [], folder: 'app/src', is: 'npx ralph' },
  {
    what: 'in a project, found by npx',
    ...{ script: IN_PROJECT, path: ['app/node_modules/.bin'], folder: 'app', is: 'npx ralph' },
  },
  {
    what: 'in a project, with another one on PATH',
    ...{ script: IN_PROJECT, path: ['usr/bin'], folder: 'app', is: 'npx ralph' },
  },
  {
    what: 'in the cache of npx',
    ...{ script: IN_CACHE, path: [], folder: 'app', is: 'npx --package ralph-headless ralph' },
  },
  {
    what: 'after another one on PATH',
    ...{ script: GLOBAL, path: ['other/bin', 'usr/bin'], folder: 'app' },
    is: 'npx --package ralph-headless ralph',
  },
  { what: 'in its checkout', script: CHECKOUT, path: [], folder: 'my src/ralph', is: 'npx ralph' },
  {
    what: 'of a checkout elsewhere',
    script: CHECKOUT,
    path: [],
    folder: 'app',
    is: "node 'ROOT/my src/ralph/bin/ralph.js'",
  },
])('the program $what is $is', async ({ script, path, folder, is }) => {
  const root = await tempFolder();
  for (const each of [IN_PROJECT, IN_CACHE, GLOBAL, CHECKOUT, 'other/bin/ralph', 'app/src/x']) {
    await mkdir(dirname(join(root, each)), { recursive: true });
    await writeFile(join(root, each), '');
    await chmod(join(root, each), 0o755);
  }
  for (const [bin, target] of [
    ['usr/bin', GLOBAL],
    ['app/node_modules/.bin', IN_PROJECT],
  ] as const) {
    await mkdir(join(root, bin), { recursive: true });
    await symlink(join(root, target), join(root, bin, 'ralph'));
  }
  const program = ownProgram({
    script: join(root, script),
    folder: join(root, folder),
    path: path.map((each) => join(root, each)).join(':'),
  });
  expect(program).toBe(is.replace('ROOT', root));
});

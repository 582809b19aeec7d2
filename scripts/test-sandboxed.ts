// Runs end-to-end tests with --sandbox on, as a user without rights: npm run test:sandboxed [-- VITEST ARGUMENTS].
// test/helpers/not-in-sandbox.ts lists what does not hold in a sandbox; it is skipped.
import { spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setup } from '../test/helpers/install-sandbox.ts';
import { asUser, TEST_USER } from '../test/helpers/sandbox-scene.ts';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const isRoot = process.getuid?.() === 0;
const VITEST = [
  'node_modules/vitest/vitest.mjs',
  'run',
  '--project',
  'sandboxed',
  '--configLoader',
  'runner',
];
const REPORT = '--outputFile.json=';

const tearDown = await setup();
// Of this run alone, so that all of it can be removed.
const temporary = mkdtempSync(join(tmpdir(), 'ralph-sandboxed-'));
const checkout = isRoot ? copyOfCheckout() : root;
if (isRoot) giveToUser(temporary);

const given = process.argv.slice(2);
const report = given.find((word) => word.startsWith(REPORT))?.slice(REPORT.length);
const written = join(temporary, 'report.json');
const words = given.map((word) => (word.startsWith(REPORT) ? `${REPORT}${written}` : word));
const [program = '', ...args] = asUser([process.execPath, ...VITEST, ...words]);
const { NO_COLOR, PATH, RALPH_TEST_INSTALLATION } = process.env;
const { status } = spawnSync(program, args, {
  stdio: 'inherit',
  cwd: checkout,
  env: {
    ...{ PATH, NO_COLOR, HOME: temporary, TMPDIR: temporary },
    RALPH_TEST_SANDBOXED: RALPH_TEST_INSTALLATION,
  },
});
// The user may not write where root wants the report.
if (report !== undefined && existsSync(written)) copyFileSync(written, resolve(report));
rmSync(temporary, { recursive: true, force: true });
if (checkout !== root) rmSync(checkout, { recursive: true, force: true });
await tearDown();
process.exitCode = status ?? 1;

/** Copies the checkout to where the user of the tests can read it: that of root may be closed to others. */
function copyOfCheckout(): string {
  const copy = mkdtempSync(join(tmpdir(), 'ralph-checkout-'));
  const left = ['.git', 'node_modules'];
  cpSync(root, copy, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (path) => !left.includes(relative(root, path)),
  });
  giveToUser(copy);
  const modules = join(root, 'node_modules');
  const [file = '', ...ask] = asUser(['test', '-r', join(modules, 'vitest', 'vitest.mjs')]);
  if (spawnSync(file, ask).status === 0) symlinkSync(modules, join(copy, 'node_modules'));
  else {
    // What other tests have installed lies in the cache.
    const filter = (path: string): boolean => path !== join(modules, '.cache');
    const how = { recursive: true, verbatimSymlinks: true, filter };
    cpSync(modules, join(copy, 'node_modules'), how);
    giveToUser(join(copy, 'node_modules'));
  }
  return copy;
}

function giveToUser(folder: string): void {
  spawnSync('chown', ['-R', `${TEST_USER}:${TEST_USER}`, folder]);
}

// Runs end-to-end tests with --sandbox on, as a user without rights: npm run test:sandboxed -- FILES.
// What a test expects of processes that outlive an iteration does not hold in a sandbox.
import { spawnSync } from 'node:child_process';
import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setup } from '../test/helpers/install-sandbox.ts';
import { asUser, TEST_USER } from '../test/helpers/sandbox-scene.ts';

const VITEST = [
  'node_modules/vitest/vitest.mjs',
  'run',
  '--config',
  'vitest.sandboxed.config.ts',
  '--configLoader',
  'runner',
];

const tearDown = await setup();
// Of this run alone, so that all of it can be removed.
const temporary = mkdtempSync(join(tmpdir(), 'ralph-sandboxed-'));
if (process.getuid?.() === 0) chownSync(temporary, TEST_USER, TEST_USER);
const [program = '', ...args] = asUser([process.execPath, ...VITEST, ...process.argv.slice(2)]);
const { status } = spawnSync(program, args, {
  stdio: 'inherit',
  env: {
    PATH: process.env.PATH,
    HOME: temporary,
    TMPDIR: temporary,
    RALPH_TEST_SANDBOXED: process.env.RALPH_TEST_INSTALLATION,
  },
});
rmSync(temporary, { recursive: true, force: true });
await tearDown();
process.exitCode = status ?? 1;

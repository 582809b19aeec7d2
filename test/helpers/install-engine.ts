import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { binFolder, installProgram, type NpmProgram } from './install-program.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

const PROGRAM: NpmProgram = {
  name: 'pg-boss',
  package: 'pg-boss',
  version: '12.38.0',
  neededBy: 'test/fleet',
  candidates: async () => [join('node_modules', '.bin', 'pg-boss')],
  versionFlag: '--help',
};

/** A file from which pg-boss is found upward, once it is installed. */
export const ENGINE_FROM = join(dirname(binFolder(PROGRAM)), 'index.js');

/** Installs pg-boss in the cache of the checkout. */
export function installEngine(): Promise<void> {
  return installProgram(PROGRAM);
}

/**
 * Makes an installation of ralph with pg-boss beside it: the global set-up of the tests in `test/fleet`. Its path is in
 * RALPH_TEST_INSTALLATION; `bin/ralph.js` is below `node_modules/ralph-headless`.
 */
export async function setup(): Promise<() => Promise<void>> {
  await installEngine();
  const place = await mkdtemp(join(tmpdir(), 'ralph-fleet-'));
  const modules = join(place, 'node_modules');
  const own = join(modules, 'ralph-headless');
  await mkdir(own, { recursive: true });
  await cp(join(dirname(ENGINE_FROM), 'node_modules'), modules, {
    recursive: true,
    verbatimSymlinks: true,
  });
  for (const name of ['package.json', 'bin', 'dist']) {
    await cp(join(root, name), join(own, name), { recursive: true });
  }
  process.env.RALPH_TEST_INSTALLATION = place;
  return () => rm(place, { recursive: true, force: true });
}

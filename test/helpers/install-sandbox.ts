import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { COMPONENT, COMPONENT_VERSION } from '../../src/core/sandbox/refusals.ts';
import { findProgram } from '../../src/effects/processes/find-program.ts';
import { binFolder, installProgram, type NpmProgram } from './install-program.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));

const PROGRAM: NpmProgram = {
  name: 'srt',
  package: COMPONENT,
  version: COMPONENT_VERSION,
  neededBy: 'test/sandbox',
  candidates: async () => [join('node_modules', '.bin', 'srt')],
};

/** The programs that the tests start, with their packages. */
const TOOLS = {
  ...{ bwrap: 'bubblewrap', socat: 'socat', rg: 'ripgrep' },
  ...{ curl: 'curl', perl: 'perl', script: 'bsdutils' },
  ...{ pytest: 'python3-pytest', cargo: 'cargo' },
};

/** Where the user of the tests finds them: another user's own programs are none. */
const PATH = '/usr/local/bin:/usr/bin:/bin';

/** A module of the bundle asks for node's own modules through `require`. */
const REQUIRE =
  'import{createRequire}from"node:module";const require=createRequire(import.meta.url);';

/**
 * Makes a place that every user can read, with ralph and the component installed in it: the global set-up of
 * the tests in `test/sandbox`. Its path is in RALPH_TEST_INSTALLATION. Root may keep its folders to itself, and
 * the sandbox does not hold for root.
 */
export async function setup(): Promise<() => Promise<void>> {
  await installTools();
  await installProgram(PROGRAM);
  const place = await mkdtemp(join(tmpdir(), 'ralph-installation-'));
  const modules = join(place, 'node_modules');
  const own = join(modules, 'ralph-headless');
  await mkdir(own, { recursive: true });
  const component = join(dirname(binFolder(PROGRAM)), 'node_modules');
  await cp(component, modules, { recursive: true, verbatimSymlinks: true });
  for (const name of ['package.json', 'bin', 'dist']) {
    await cp(join(root, name), join(own, name), { recursive: true });
  }
  await build({
    entryPoints: [join(root, 'test', 'fixtures', 'sandbox-drive.ts')],
    outfile: join(own, 'dist', 'sandbox-drive.js'),
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    banner: { js: REQUIRE },
    logLevel: 'warning',
  });
  // The user of the tests has to read it, under any umask of root.
  await run('chmod', ['-R', 'a+rX', place]);
  process.env.RALPH_TEST_INSTALLATION = place;
  return () => rm(place, { recursive: true, force: true });
}

async function installTools(): Promise<void> {
  const missing = (): readonly string[] =>
    Object.entries(TOOLS)
      .filter(([name]) => 'missing' in findProgram({ name, env: { PATH }, cwd: '/', further: [] }))
      .map(([, name]) => name);
  if (missing().length > 0 && process.getuid?.() === 0) {
    const install = (): Promise<unknown> =>
      run('apt-get', ['install', '-y', '--no-install-recommends', ...missing()]);
    await install()
      .catch(() => run('apt-get', ['update']).then(install))
      .catch(() => {});
  }
  if (missing().length > 0) {
    throw new Error(
      `The tests in test/sandbox need ${missing().join(', ')}: apt install ${missing().join(' ')}`,
    );
  }
}

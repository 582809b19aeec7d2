import { execFile } from 'node:child_process';
import { access, mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { PATIENCE_MS } from './patience.ts';

const run = promisify(execFile);

/** A real agent of one version, from the npm registry. */
export interface NpmProgram {
  readonly name: string;
  readonly package: string;
  readonly version: string;
  /** The tests that need it, for the message if it cannot be installed. */
  readonly neededBy: string;
  /** Returns the paths, below `folder`, at which the program may be; the first that works is taken. */
  candidates(folder: string): Promise<readonly string[]>;
  /** What makes it print its version. Default: `--version`. */
  readonly versionFlag?: string;
}

const CACHE = fileURLToPath(new URL('../../node_modules/.cache/', import.meta.url));

/** Returns the folder for PATH that has nothing but the installed program. */
export function binFolder({ name, version }: Pick<NpmProgram, 'name' | 'version'>): string {
  return join(CACHE, `ralph-${name}`, version, 'bin');
}

/**
 * Installs the program once, in the cache of the checkout. The folder appears whole or not at all, so that two
 * runs at the same time do no harm.
 */
export async function installProgram(program: NpmProgram): Promise<void> {
  const target = dirname(binFolder(program));
  const installed = join(target, 'bin', program.name);
  if (await exists(installed)) return;
  await mkdir(dirname(target), { recursive: true });
  const fresh = await mkdtemp(join(dirname(target), 'installing-'));
  try {
    await installInto(fresh, program);
    await rename(fresh, target).catch(async (cause: unknown) => {
      // Another run was faster; its installation is as good as this one.
      if (!(await exists(installed))) throw cause;
    });
  } catch (cause) {
    throw new Error(
      `The tests in ${program.neededBy} need ${program.package}@${program.version} from the npm registry, and it ` +
        `could not be installed: ${words(cause)}\nCheck the connection to the registry, or run \`npm test\`, which ` +
        'does without it.',
      { cause },
    );
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
}

async function installInto(folder: string, program: NpmProgram): Promise<void> {
  await writeFile(join(folder, 'package.json'), '{"private":true}\n');
  const npm = ['install', `${program.package}@${program.version}`, '--prefix', folder];
  const quiet = ['--no-audit', '--no-fund', '--no-package-lock', '--loglevel=error'];
  // Some ask for a newer Node than they need. Under `npm run`, npm is as strict as this project is with itself.
  const engines = '--no-engine-strict';
  // Without scripts nothing foreign runs during the installation; the program comes in the package of the platform.
  await run('npm', [...npm, engines, '--ignore-scripts', '--include=optional', ...quiet], {
    cwd: folder,
    timeout: 2 * PATIENCE_MS,
  });
  await mkdir(join(folder, 'bin'));
  const link = join(folder, 'bin', program.name);
  const failures: string[] = [];
  for (const candidate of await program.candidates(folder)) {
    // Relative, so that it still points there after the rename.
    await symlink(join('..', candidate), link);
    const failure = await versionFailure(link, program);
    if (failure === null) return;
    failures.push(`${candidate}: ${failure}`);
    await rm(link);
  }
  throw new Error(
    failures.length > 0
      ? failures.join('\n')
      : `there is no package with a program for ${process.platform}-${process.arch}`,
  );
}

/** Returns null if the program starts and has this version. */
async function versionFailure(
  link: string,
  { version, versionFlag = '--version' }: NpmProgram,
): Promise<string | null> {
  const home = await mkdtemp(join(tmpdir(), 'ralph-agent-home-'));
  const nowhere = 'http://127.0.0.1:9';
  const env = {
    HOME: home,
    PATH: `${dirname(process.execPath)}:/usr/bin:/bin`,
    ...{ DISABLE_AUTOUPDATER: '1', OPENCODE_DISABLE_AUTOUPDATE: '1', COPILOT_AUTO_UPDATE: 'false' },
    ...{ HTTP_PROXY: nowhere, HTTPS_PROXY: nowhere },
  };
  try {
    const { stdout } = await run(link, [versionFlag], { env, cwd: home, timeout: PATIENCE_MS });
    return stdout.includes(version) ? null : `it calls itself ${JSON.stringify(stdout)}`;
  } catch (cause) {
    return words(cause);
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

function words(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  const { stderr } = cause as { stderr?: unknown };
  return typeof stderr === 'string' && stderr.trim() !== '' ? stderr.trim() : cause.message;
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

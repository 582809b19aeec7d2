import { execFile } from 'node:child_process';
import { access, mkdir, mkdtemp, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The `claude` whose behaviour the tests in `test/claude` hold. */
const CLAUDE_VERSION = '2.1.197';

const CACHE = fileURLToPath(new URL('../../node_modules/.cache/ralph-claude/', import.meta.url));
const HOME_OF_VERSION = join(CACHE, CLAUDE_VERSION);

/** A folder for PATH that holds nothing but the real `claude`. */
export const CLAUDE_BIN_DIR = join(HOME_OF_VERSION, 'bin');

/**
 * Installs the real `claude` once, in the cache of the checkout. It is the global set-up of the tests in
 * `test/claude`; the folder appears whole or not at all, so that two runs at the same time do no harm.
 */
export async function setup(): Promise<void> {
  if (await exists(join(CLAUDE_BIN_DIR, 'claude'))) return;
  await mkdir(CACHE, { recursive: true });
  const fresh = await mkdtemp(join(CACHE, 'installing-'));
  try {
    await installInto(fresh);
    await rename(fresh, HOME_OF_VERSION).catch(async (cause: unknown) => {
      // Another run was faster; its installation is as good as this one.
      if (!(await exists(join(CLAUDE_BIN_DIR, 'claude')))) throw cause;
    });
  } catch (cause) {
    throw new Error(
      `The tests in test/claude need @anthropic-ai/claude-code@${CLAUDE_VERSION} from the npm registry, and it could ` +
        `not be installed: ${words(cause)}\nCheck the connection to the registry, or run \`npm test\`, which does without it.`,
      { cause },
    );
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
}

async function installInto(folder: string): Promise<void> {
  await writeFile(join(folder, 'package.json'), '{"private":true}\n');
  const npm = ['install', `@anthropic-ai/claude-code@${CLAUDE_VERSION}`, '--prefix', folder];
  const quiet = ['--no-audit', '--no-fund', '--no-package-lock', '--loglevel=error'];
  // Without scripts nothing foreign runs during the installation; the program comes in the package of the platform.
  await run('npm', [...npm, '--ignore-scripts', '--include=optional', ...quiet], {
    cwd: folder,
    timeout: 300_000,
  });

  const scope = join('node_modules', '@anthropic-ai');
  const program = await findProgram(folder, scope);
  await mkdir(join(folder, 'bin'));
  // Relative, so that it still points there after the rename.
  await symlink(join('..', program), join(folder, 'bin', 'claude'));

  const home = await mkdtemp(join(tmpdir(), 'ralph-claude-home-'));
  try {
    const env = { HOME: home, PATH: '/usr/bin:/bin', DISABLE_AUTOUPDATER: '1' };
    const { stdout } = await run(join(folder, 'bin', 'claude'), ['--version'], {
      env,
      cwd: home,
      timeout: 30_000,
    });
    if (!stdout.startsWith(CLAUDE_VERSION))
      throw new Error(`it calls itself ${JSON.stringify(stdout)}`);
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

/** The package of this platform (system, processor and C library) holds the program itself. */
async function findProgram(folder: string, scope: string): Promise<string> {
  for (const name of await readdir(join(folder, scope))) {
    const program = join(scope, name, 'claude');
    if (name.startsWith('claude-code-') && (await exists(join(folder, program)))) return program;
  }
  throw new Error(`there is no package with a program for ${process.platform}-${process.arch}`);
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

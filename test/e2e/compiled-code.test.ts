import { execFile } from 'node:child_process';
import { cp, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { tempFolder } from '../helpers/temp-folder.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** An installation of its own, in which nothing has run yet. */
async function install() {
  const folder = await tempFolder();
  await cp(join(ROOT, 'bin'), join(folder, 'bin'), { recursive: true });
  await cp(join(ROOT, 'dist'), join(folder, 'dist'), {
    recursive: true,
    filter: (file) => !file.endsWith('compiled'),
  });
  const compiled = join(folder, 'dist', 'compiled');
  return {
    compiled,
    kept: () => readdir(compiled).catch(() => []),
    /** Starts any command; resolves to its exit code. */
    async ralph(...words: readonly string[]): Promise<number> {
      const program = join(folder, 'bin', 'ralph.js');
      const ended = promisify(execFile)(process.execPath, [program, ...words], {
        cwd: await tempFolder(),
        env: { PATH: process.env.PATH, HOME: folder },
      });
      return ended.then(
        () => 0,
        ({ code }) => code,
      );
    },
    /** Runs one iteration and returns what it prints. */
    async run(...words: readonly string[]) {
      const agent = ['--agent-command', 'echo TASK_COMPLETE'];
      const flags = [
        '--quiet',
        '--prompt',
        'Go.',
        ...(words.includes(agent[0] ?? '') ? [] : agent),
      ];
      const { stdout } = await promisify(execFile)(
        process.execPath,
        [join(folder, 'bin', 'ralph.js'), 'run', ...flags, ...words],
        { cwd: await tempFolder(), env: { PATH: process.env.PATH, HOME: folder } },
      );
      return stdout;
    },
  };
}

test('the compiled code of a run is kept for the next one', async () => {
  const { run, kept, compiled } = await install();
  expect(await run()).toBe('TASK_COMPLETE\n');
  const [name = '', ...others] = await kept();
  expect(name).toMatch(/^run-\w+-run-v\d+\.\d+\.\d+-\w+$/);
  expect(others).toEqual([]);
  const code = await readFile(join(compiled, name));
  expect(await run()).toBe('TASK_COMPLETE\n');
  expect(await readFile(join(compiled, name))).toEqual(code);
});

test('each command has its own, and a word that is none has nothing', async () => {
  const { ralph, kept } = await install();
  expect(await ralph('status')).toBe(0);
  expect(await ralph('--help')).toBe(0);
  expect(await ralph('statsu')).toBe(2);
  const names = (await kept()).map((name) => name.replace(/^(\w+)-\w+-(\w+)-.*$/, '$1 of $2'));
  expect(names.toSorted()).toEqual(['program of other', 'program of status']);
});

test('what a run of another end has compiled is kept beside it', async () => {
  const { run, kept, compiled } = await install();
  await run();
  const file = join(compiled, (await kept())[0] ?? '');
  const first = await readFile(file);
  const exhausting = ['--agent-command', 'echo no', '--max-iterations', '1'];
  await expect(run(...exhausting)).rejects.toMatchObject({ code: 3 });
  const both = await readFile(file);
  expect(both.length).toBeGreaterThan(first.length);
  await run();
  await expect(run(...exhausting)).rejects.toMatchObject({ code: 3 });
  expect(await readFile(file)).toEqual(both);
});

test.for([
  ['a flipped bit', (code: Buffer) => code.map((byte, at) => (at === 20_000 ? byte ^ 1 : byte))],
  ['half of it', (code: Buffer) => code.subarray(0, code.length / 2)],
  ['nothing', () => Buffer.alloc(0)],
] as const)('damaged compiled code does no harm, and is made anew: %s', async ([, damage]) => {
  const { run, kept, compiled } = await install();
  await run();
  const file = join(compiled, (await kept())[0] ?? '');
  const damaged = damage(await readFile(file));
  await writeFile(file, damaged);
  expect(await run()).toBe('TASK_COMPLETE\n');
  expect((await readFile(file)).equals(damaged)).toBe(false);
});

test('a dry run keeps nothing', async () => {
  const { run, kept } = await install();
  await run('--dry-run');
  expect(await kept()).toEqual([]);
});

test.for([
  ['a link to nowhere', (place: string) => symlink('/proc/nowhere', place)],
  ['a file', (place: string) => writeFile(place, '')],
] as const)('where nothing can be written all works without: %s', async ([, put]) => {
  const { run, compiled } = await install();
  await put(compiled);
  expect(await run()).toBe('TASK_COMPLETE\n');
});

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeScene, type Scene } from '../helpers/scene.ts';

const MB = 1_048_576;
const DONE = { text: 'Good.\n\nTASK_COMPLETE' };
const FILE = ['run', '--prompt-file', 'prompt.md', '--delay', '0', '--task-id', 't'];

/** Everything that a shell, an argument, a replacement pattern or a text decoder would change. */
const HOSTILE = Buffer.concat([
  Buffer.from(
    [
      '- fix the "quotes", the \'apostrophes\' and the `touch backticks`;',
      '$(touch dollar) $HOME $& $1 $$ $` %s %n \\ \\n !! * ? ~ #{x} <(touch process); touch semicolon &',
      'CRLF\r\nlone CR\rtab\tvertical\u000bform\u000cSOH\u0001bell\u0007escape\u001b[31m',
      '@/etc/passwd @~/x é ü 漢字 😀 \u2028 \u202e \ufeff',
      '--dangerously-skip-permissions',
      '=====',
      '',
    ].join('\n'),
  ),
  Buffer.from([0xff, 0xfe, 0xc3, 0x28, 0xe2, 0x82, 0x0a, 0xf0, 0x9f, 0x98]),
]);

/** `HOSTILE` again and again, and filled up to that many bytes. */
function hostile(bytes: number): Buffer {
  return Buffer.alloc(bytes, HOSTILE);
}

/** What a call read: the user's part, and whether ralph's own words stand behind it. */
function received(scene: Scene, call: number, length: number) {
  const all = scene.fake.stdinOf(call);
  return { prompt: all.subarray(0, length), rest: all.subarray(length).toString() };
}

describe('a prompt arrives byte for byte', () => {
  test('1 MB of anything, from a file', async () => {
    const prompt = hostile(MB);
    const scene = await makeScene([{ text: 'Not yet.' }, DONE]);
    await scene.write('prompt.md', prompt);
    const { exitCode } = await scene.ralph(FILE);
    expect(exitCode).toBe(0);
    for (const call of [1, 2]) {
      const { prompt: arrived, rest } = received(scene, call, MB);
      expect(arrived.equals(prompt)).toBe(true);
      expect(rest).toMatch(/^\n/);
    }
    // Nothing in it was carried out, neither here nor where the agent ran.
    expect(scene.names()).toEqual(['.ralph_state', 'prompt.md']);
    expect(scene.names('../home')).toEqual([]);
    const kept = readFileSync(join(scene.folder, '.ralph_state/history/t/prompt.md'));
    expect(kept.equals(prompt)).toBe(true);
    const sha256 = createHash('sha256').update(prompt).digest('hex');
    expect(scene.state().prompt_sha256).toBe(sha256);
    const argv = scene.fake.calls()[0]?.argv.join(' ');
    expect(argv).not.toMatch(/quotes|touch/);
  });

  test.for([
    ['from standard input', hostile(70_000)],
    ['without a line end', Buffer.from('Fix it')],
    ['one byte', Buffer.from('x')],
    ['one byte that is no text', Buffer.from([0xff])],
  ] as const)('%s', async ([, prompt]) => {
    const scene = await makeScene(DONE);
    for (const flag of ['--prompt', '-p']) {
      const args = ['run', flag, '-', '--task-id', 't'];
      expect((await scene.ralph(args, { input: prompt })).exitCode).toBe(0);
    }
    for (const call of [1, 2]) {
      expect(received(scene, call, prompt.length).prompt.equals(prompt)).toBe(true);
    }
  });

  test.for<[string, (prompt: string) => readonly string[]]>([
    ['- fix the bug', (prompt) => ['--prompt', prompt]],
    ['--fix the bug', (prompt) => ['-p', prompt]],
    ['--promise', (prompt) => ['--prompt', prompt]],
    ['-n', (prompt) => [`--prompt=${prompt}`]],
    ['--help', (prompt) => ['--prompt', prompt]],
    ['-- --x', (prompt) => ['--prompt', prompt]],
    ['$(touch x) `touch x` $& "quotes" \'too\'', (prompt) => ['-p', prompt]],
    [' space\r\nand CRLF\r\n\r\n', (prompt) => ['-p', prompt]],
    ['@/etc/passwd = what I mean', (prompt) => [`--prompt=${prompt}`]],
    ['漢字 😀', (prompt) => [`-p${prompt}`]],
  ])('as an argument: %j', async ([prompt, words]) => {
    const scene = await makeScene(DONE);
    const { exitCode, stderr } = await scene.ralph(['run', ...words(prompt), '-n', '1']);
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
    const length = Buffer.byteLength(prompt);
    expect(received(scene, 1, length).prompt.toString()).toBe(prompt);
    expect(scene.names()).toEqual(['.ralph_state']);
  });

  test('to an agent that does not read it', async () => {
    const scene = await makeScene();
    await scene.write('prompt.md', hostile(MB));
    const agent = ['--agent', 'command', '--agent-command', 'echo TASK_COMPLETE'];
    const { exitCode, stdout } = await scene.ralph([...FILE, ...agent, '-n', '1']);
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: 'TASK_COMPLETE\n' });
  });
});

describe('a prompt that is refused', () => {
  test.for<[string, readonly string[], RegExp, Uint8Array?]>([
    ['over 1 MB, file', ['--prompt-file', 'prompt.md'], /1048577 bytes/, hostile(MB + 1)],
    ['over 1 MB, standard input', ['--prompt', '-'], /1048577 bytes/, hostile(MB + 1)],
    ['empty, argument', ['--prompt', ''], /prompt is empty/],
    ['blank, argument', ['--prompt', ' \t\r\n'], /prompt is empty/],
    ['empty, file', ['--prompt-file', 'prompt.md'], /prompt is empty/, Buffer.alloc(0)],
    ['empty, standard input', ['--prompt', '-'], /prompt is empty/],
    ['missing file', ['--prompt-file', 'nowhere.md'], /--prompt-file .*nowhere\.md/],
    ['a folder', ['--prompt-file', '.'], /--prompt-file/],
    [
      'two prompts',
      ['--prompt', 'a', '--prompt-file', 'prompt.md'],
      /exactly one of .*; found --prompt and --prompt-file/,
      HOSTILE,
    ],
    ['none', [], /exactly one of .*; found none/],
  ])('%s', async ([, words, message, bytes]) => {
    const scene = await makeScene(DONE);
    if (bytes !== undefined) await scene.write('prompt.md', bytes);
    const before = scene.names();
    const input = words.includes('-') && bytes !== undefined ? Buffer.from(bytes) : '';
    const { exitCode, stdout, stderr } = await scene.ralph(['run', ...words], { input });
    expect(stderr).toMatch(message);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(scene.fake.calls()).toEqual([]);
    expect(scene.names()).toEqual(before);
  });
});

describe('a prompt file', () => {
  test('is read afresh each iteration', async () => {
    const scene = await makeScene([
      { shell: 'printf "Now do this.\\r\\n" > prompt.md', text: 'One.' },
      DONE,
    ]);
    await scene.write('prompt.md', 'Fix it');
    expect((await scene.ralph(FILE)).exitCode).toBe(0);
    const [first, second] = scene.fake.calls().map(({ stdin }) => stdin);
    expect(first).toMatch(/^Fix it\n/);
    expect(second).toMatch(/^Now do this\.\r\n\n/);
    expect(second).not.toContain('Fix it');
    // What was asked at the start is what is kept.
    expect(scene.read('.ralph_state/history/t/prompt.md')).toBe('Fix it');
  });

  test.for([
    ['deleted', 'rm prompt.md'],
    ['emptied', ': > prompt.md'],
    ['blanked', 'echo > prompt.md'],
    ['grown over 1 MB', 'head -c 1048577 /dev/zero | tr "\\0" x > prompt.md'],
    ['replaced by a folder', 'rm prompt.md; mkdir prompt.md'],
  ])('%s meanwhile: the last text is used, and said', async ([, shell = '']) => {
    const scene = await makeScene([
      { shell: 'printf "Second text" > prompt.md', text: 'One.' },
      { shell, text: 'Two.' },
      { text: 'Three.' },
      DONE,
    ]);
    await scene.write('prompt.md', 'First text');
    const { exitCode, stderr } = await scene.ralph(FILE);
    expect(exitCode).toBe(0);
    expect(stderr).toMatch(/prompt\.md.*last text/);
    const [first, second, third, fourth] = scene.fake.calls().map(({ stdin }) => stdin);
    expect(first).toMatch(/^First text\n/);
    expect(second).toMatch(/^Second text\n/);
    expect(third).toMatch(/^Second text\n/);
    expect(fourth).toMatch(/^Second text\n/);
  });

  test('that is a pipe, as of a process substitution, is read once and nothing is said', async () => {
    const scene = await makeScene([{ text: 'One.' }, DONE]);
    const script = `mkfifo pipe; printf 'From a pipe' > pipe & exec ralph ${FILE.join(' ')}`;
    const shell = script.replace('prompt.md', 'pipe');
    const options = { cwd: scene.folder, env: scene.env, encoding: 'utf8' } as const;
    const { status, stderr } = spawnSync(
      'timeout',
      ['-s', 'KILL', '10', 'sh', '-c', shell],
      options,
    );
    expect(status).toBe(0);
    expect(stderr).not.toMatch(/last text/);
    for (const { stdin } of scene.fake.calls()) expect(stdin).toMatch(/^From a pipe\n/);
    const input = 'From standard input';
    const args = ['run', '--prompt-file', '/dev/stdin', '-n', '1'];
    const second = await (await makeScene(DONE)).ralph(args, { input });
    expect(second.exitCode).toBe(0);
    expect(second.stderr).not.toMatch(/last text/);
  });

  test('is looked up where the agent works', async () => {
    const scene = await makeScene(DONE);
    await scene.write('repo/prompt.md', 'Inside');
    await scene.write('prompt.md', 'Outside');
    expect((await scene.ralph([...FILE, '--cwd', 'repo'])).exitCode).toBe(0);
    expect(scene.fake.calls()[0]?.stdin).toMatch(/^Inside\n/);
  });
});

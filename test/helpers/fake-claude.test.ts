import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeFakeClaude } from './fake-claude.ts';
import type { Turn } from './fake-turn.ts';
import { PATIENCE_MS } from './patience.ts';
import { tempFolder } from './temp-folder.ts';

const DONE = 'All good.\n\n<promise>DONE</promise>';
type Line = Readonly<Record<string, unknown>>;

async function install(turns: Turn | readonly Turn[]) {
  const folder = await tempFolder();
  const fake = await makeFakeClaude(join(folder, 'bin'), turns);
  const env = { PATH: `${fake.dir}:${dirname(process.execPath)}:/usr/bin:/bin`, MARK: 'seen' };
  const call = (input: string, ...args: readonly string[]) =>
    spawnSync('claude', args, { cwd: folder, env, input, encoding: 'utf8', timeout: PATIENCE_MS });
  return { fake, folder, call };
}

function linesOf(text: string): readonly Line[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line);
}

/** What a line is, and what blocks are in its message. */
function kindOf({ type, subtype, message }: Line): Line {
  const content = (message as { content?: readonly Line[] } | undefined)?.content;
  return { type, subtype, blocks: content?.map((block) => block.type) };
}

describe('the scripted claude speaks as the real one', () => {
  // What the real one wrote, and the turn that should look the same.
  test.for<[string, Turn, number]>([
    ['promise', { text: DONE }, 0],
    [
      'refused-tools-then-promise',
      {
        before: ['Testing.'],
        denials: [{ name: 'Bash', input: { command: 'npm test' } }, { name: 'Write' }],
        text: DONE,
      },
      0,
    ],
    ['not-logged-in', { isError: true, text: 'Not logged in · Please run /login' }, 1],
    ['api-retry-then-promise', { apiRetries: [{ status: 500 }, { status: 529 }], text: DONE }, 0],
    [
      'max-turns',
      { tools: [{ name: 'Bash' }], subtype: 'error_max_turns', isError: true, errors: ['x'] },
      1,
    ],
  ])('%s', async ([name, turn, exitCode]) => {
    const { call } = await install([turn]);
    const { stdout, status } = call('Do it.', '--print');
    expect(status).toBe(exitCode);
    const transcript = join(import.meta.dirname, '../fixtures/transcripts', `${name}.jsonl`);
    const real = linesOf(readFileSync(transcript, 'utf8'));
    const fake = linesOf(stdout);
    expect(fake.map(kindOf)).toEqual(real.map(kindOf));
    // It may leave fields out, but makes none up, save a status that is null where the real one has none.
    fake.forEach((line, index) => {
      const known = [...Object.keys(real[index] ?? {}), 'api_error_status'];
      expect(known).toEqual(expect.arrayContaining(Object.keys(line)));
    });
  });
});

test('each call takes the next turn and is noted; one too many exits 97', async () => {
  const { fake, folder, call } = await install([{ text: 'one' }, { text: 'two' }]);
  expect(call('first', '--print', '-x').stdout).toContain('"result":"one"');
  expect(call('second').stdout).toContain('"result":"two"');
  expect(call('third')).toMatchObject({ status: 97, stdout: '' });
  expect(fake.calls()).toMatchObject([
    { number: 1, argv: ['--print', '-x'], stdin: 'first', cwd: folder, env: { MARK: 'seen' } },
    { number: 2, argv: [], stdin: 'second' },
  ]);
  expect(fake.stdinOf(2)).toEqual(Buffer.from('second'));
});

test('a single turn is played at every call, and --version takes none', async () => {
  const { fake, call } = await install({ shell: 'echo x >> made', text: 'again' });
  expect(call('', '--version').stdout).toBe('2.1.197 (Claude Code)\n');
  expect(call('a').stdout).toContain('"result":"again"');
  expect(call('b').stdout).toContain('"result":"again"');
  expect(fake.calls()).toHaveLength(2);
});

test('a refusal at the start: standard error only', async () => {
  const { call } = await install([{ bare: true, stderr: 'error: no\n', exitCode: 1 }]);
  expect(call('')).toMatchObject({ status: 1, stdout: '', stderr: 'error: no\n' });
});

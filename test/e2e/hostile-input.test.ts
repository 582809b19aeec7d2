import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { PATIENCE_MS } from '../helpers/patience.ts';
import { makeScene, type Scene } from '../helpers/scene.ts';

const PEAK_MEMORY = fileURLToPath(new URL('../fixtures/peak-memory.cjs', import.meta.url));

/** JSON of so many levels. */
const nested = (levels: number): string => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;

const callWith = (input: string): string =>
  `{"type":"assistant","message":{"id":"m","role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Tool","input":${input}}]}}`;

test('tool calls that are nested thousands of levels deep: said once, and the loop goes on', async () => {
  const scene = await makeScene({
    raw: [callWith(nested(6_000)), callWith(nested(100_000)), callWith('{}')],
    text: 'TASK_COMPLETE',
  });
  const { exitCode, stderr } = await scene.run();
  expect(stderr.match(/2 line\(s\) of the agent's output were nested too deeply/g)).toHaveLength(1);
  expect(exitCode).toBe(0);
  expect(scene.state().status).toBe('completed');
  const { stdout } = await scene.ralph(['logs', 't']);
  expect(stdout).toContain('> Tool');
});

/** The peak memory of a run whose agent prints one line. */
async function peakOf(line: string): Promise<number> {
  const scene = await makeScene({ raw: [line], text: 'TASK_COMPLETE' });
  const file = join(scene.home, 'peak');
  const env = { NODE_OPTIONS: `--require=${PEAK_MEMORY}`, PEAK_MEMORY_FILE: file };
  const { exitCode } = await scene.run([], { env });
  expect(exitCode).toBe(0);
  return Number(readFileSync(file, 'utf8'));
}

test('a line of 6 MB costs the same memory, whatever it is made of', async () => {
  const bytes = 6 * 1024 * 1024;
  const plain = await peakOf('x'.repeat(bytes));
  expect((await peakOf('['.repeat(bytes))) / plain).toBeLessThan(1.5);
  const objects = callWith(`[${'{},'.repeat(bytes / 3)}0]`);
  expect((await peakOf(objects)) / plain).toBeLessThan(1.5);
});

describe('beside a good task', () => {
  const MB = 1024 * 1024;

  /** A task that can be gone on with, and the files of another one. */
  async function stage(): Promise<Scene> {
    const scene = await makeScene([{ text: 'Half of it.' }, { text: 'TASK_COMPLETE' }]);
    expect((await scene.run(['-n', '1'])).exitCode).toBe(3);
    return scene;
  }

  test.for<[string, (scene: Scene, file: string) => unknown]>([
    ['a state of 2 MB', (scene, file) => scene.write(file, `{"a":"${'x'.repeat(2 * MB)}"}`)],
    ['a state that is a pipe', (scene, file) => execFileSync('mkfifo', [join(scene.folder, file)])],
    ['a state that is a folder', (scene, file) => mkdirSync(join(scene.folder, file))],
    ['a state of 100,000 levels', (scene, file) => scene.write(file, nested(100_000))],
  ])('%s keeps no command from its work', async ([, place]) => {
    const scene = await stage();
    await place(scene, '.ralph_state/other.json');
    expect((await scene.ralph(['status'])).stdout).toContain('t ');
    expect((await scene.ralph(['approvals'])).exitCode).toBe(0);
    expect((await scene.ralph(['resume', '-n', '2'])).exitCode).toBe(0);
  });

  test('a state that is too large is left where it is, and named', async () => {
    const scene = await stage();
    const large = `{"a":"${'x'.repeat(2 * MB)}"}`;
    await scene.write('.ralph_state/other.json', large);
    const { exitCode, stderr } = await scene.ralph(['resume', 'other']);
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(
      /other\.json has 2097160 bytes, and ralph reads no more .*; move it away/,
    );
    expect(scene.read('.ralph_state/other.json')).toBe(large);
  });

  test('settings of 100,000 levels are damaged ones', async () => {
    const scene = await stage();
    const settings = JSON.parse(scene.read('.ralph_state/t/settings.json'));
    settings.settings.x = { value: '#', source: 'a flag', from: 'flag' };
    const text = JSON.stringify(settings);
    await scene.write('.ralph_state/t/settings.json', text.replace('"#"', nested(100_000)));
    const { exitCode, stderr } = await scene.ralph(['resume', 't', '-n', '2']);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('it is gone or damaged')]);
  });
});

test(
  'hints that an agent leaves in masses make no long prompt',
  async () => {
    const stamp = '20260102000000000';
    const uuid = '5d2f7c1e-0b1a-4c1d-9e1f-12345678';
    const shell = [
      'cd "$(dirname "$RALPH_STATE_FILE")/t/requests"',
      `truncate -s 2G tell-${stamp}-${uuid}ffff.md`,
      `for n in $(seq 1000 2999); do echo "Mind $n." >"tell-${stamp}-${uuid}$n.md"; done`,
    ];
    const turn = { shell: shell.join('\n'), text: 'Half of it.' };
    const scene = await makeScene([turn, { text: 'TASK_COMPLETE' }]);
    // Each of the two thousand is moved on the disk.
    const options = { timeoutMs: 2 * PATIENCE_MS };
    const { exitCode } = await scene.run(['--context-chars', '2000'], options);
    expect(exitCode).toBe(0);
    expect(scene.prompt(2)).toContain('More was left for you to read than has room here');
    expect(scene.prompt(2).length).toBeLessThan(30_000);
  },
  4 * PATIENCE_MS,
);

test('a stop hook that is told 100,000 levels lets the session go', async () => {
  const scene = await makeScene();
  const input = `{"session_id":"s","x":${nested(100_000)}}`;
  const { exitCode, stdout, stderr } = await scene.ralph(['check', '--hook'], { input });
  expect([exitCode, stdout]).toEqual([0, '']);
  expect(stderr).toContain('--hook expects the JSON of a stop hook');
});

import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { GIT_ENV, makeRepository, put } from '../helpers/repository.ts';
import { tempFolder } from '../helpers/temp-folder.ts';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');

test('a newcomer sees at most 16 entries in the root', () => {
  const tracked = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' });
  const entries = new Set(tracked.split('\n').map((path) => path.replace(/\/.*/, '')));
  expect([...entries].filter((name) => name !== '' && !name.startsWith('.')).length).toBeLessThan(
    17,
  );
});

test('each line of the tests that every Node plays names tests that are there', () => {
  const names = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' });
  const tests = names.filter((name) => name.endsWith('.test.ts')).map((name) => `test/${name}`);
  const lines = readFileSync(join(root, '.ci/tests-of-node'), 'utf8').split('\n');
  const patterns = lines.filter((line) => line !== '' && !line.startsWith('#'));
  expect(patterns.filter((pattern) => !tests.some((name) => name.includes(pattern)))).toEqual([]);
});

describe('the tests of the fleet that a change needs', () => {
  const TESTS = ['a', 'b', 'c'].map((name) => `test/fleet/${name}.test.ts`);

  /** A repository whose changes are commits, and what the script prints there. */
  async function makeChanges() {
    const { folder, git } = await makeRepository(
      Object.fromEntries(TESTS.map((name) => [name, ''])),
    );
    cpSync(join(root, '.ci/fleet-tests'), join(folder, '.ci/fleet-tests'));
    return {
      folder,
      git,
      change(path: string): void {
        put(folder, { [path]: 'changed' });
        git('add', '--', path);
        git('commit', '-q', '-m', path);
      },
      needed(base: string): readonly string[] {
        const env = { ...GIT_ENV, RALPH_CI_FLEET_SAMPLE: '2', RALPH_CI_BASE: base };
        const script = join(folder, '.ci/fleet-tests');
        return execFileSync(script, { env, encoding: 'utf8' }).trimEnd().split('\n');
      },
    };
  }

  test('are all of them where it touches the fleet or what the fleet shares, else a sample', async () => {
    const { change, folder, git, needed } = await makeChanges();
    const touching = [
      'src/fleet/database/migrations.ts',
      'src/compose/run.ts',
      'src/effects/state/task-folder.ts',
      'src/loop/ports.ts',
      'test/fleet/a.test.ts',
      'test/helpers/fleet-scene.ts',
      'package-lock.json',
    ];
    const others = ['src/text.ts', 'src/compose/runner.ts', 'docs/fleeting.md'];
    // More names behind it than fit into a pipe.
    for (let file = 0; file < 2_000; file += 1)
      put(folder, { [`zz/${'x'.repeat(60)}-${file}`]: '' });
    git('add', 'zz');
    change('src/fleet/database/tables.ts');
    expect(needed('HEAD~1')).toHaveLength(3);
    const counts = [...touching, ...others].map((path) => {
      change(path);
      const tests = needed('HEAD~1');
      expect(TESTS).toEqual(expect.arrayContaining([...tests]));
      return [path, tests.length];
    });
    expect(counts).toEqual([
      ...touching.map((path) => [path, 3]),
      ...others.map((path) => [path, 2]),
    ]);
  });

  test('are told by the last 20 commits where nothing says what the change is', async () => {
    const { change, git, needed } = await makeChanges();
    change('src/loop/ports.ts');
    for (let commit = 1; commit < 20; commit += 1) git('commit', '-q', '--allow-empty', '-m', 'x');
    expect(needed('gone')).toHaveLength(3);
    git('commit', '-q', '--allow-empty', '-m', 'x');
    expect(needed('gone')).toHaveLength(2);
  });
});

test('the sum of a run names the steps that failed or took longer than they may', async () => {
  const folder = await tempFolder();
  const report = {
    numPassedTests: 3,
    numFailedTests: 0,
    testResults: [{ name: join(root, 'test/a.test.ts'), startTime: 0, endTime: 4_000 }],
  };
  put(folder, {
    'test.exit': '0',
    'test.time': '61.2 50.1 9.2',
    'test.budget': '60',
    'test.json': JSON.stringify(report),
    'demo.exit': '1',
    'demo.budget': '60',
    // One that was ended, one whose disk was full, and one that wrote half a report.
    'fleet.budget': '60',
    'check.exit': '',
    'claude.exit': '1',
    'claude.json': '{"numPassed',
  });
  const sum = join(root, 'scripts/sum-results.js');
  const { status, stdout } = spawnSync(process.execPath, [sum, folder], {
    cwd: root,
    encoding: 'utf8',
  });
  expect(status).toBe(1);
  expect(
    stdout
      .split('\n')
      .filter((line) => line !== '')
      .slice(2),
  ).toEqual([
    '| test | 61 | 59 | 3 | 0 |',
    '| check | 0 | 0 | 0 | 1 |',
    '| claude | 0 | 0 | 0 | 1 |',
    '| demo | 0 | 0 | 0 | 1 |',
    '| fleet | 0 | 0 | 0 | 1 |',
    'The slowest test files:',
    '    4 s  test/a.test.ts (test)',
    'All steps together: 61 s, 59 CPU-seconds',
    'Beyond its budget: test took 61 s, and may take 60 s.',
    'Failed steps: check, claude, demo, fleet',
    '3 passed, 4 failed',
  ]);
});

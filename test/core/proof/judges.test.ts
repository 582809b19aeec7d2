import { describe, expect, test } from 'vitest';
import { judgesOf } from '../../../src/core/proof/judges.ts';

type Scripts = Readonly<Record<string, string>>;

function packages(texts: Readonly<Record<string, Scripts>>): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(texts).map(([path, scripts]) => [path, JSON.stringify({ scripts })]),
  );
}

/** The scripts found, as `file name`. */
function scriptsOf(check: string, texts: Readonly<Record<string, Scripts>>): readonly string[] {
  return judgesOf([check], packages(texts)).scripts.map(({ file, name }) => `${file} ${name}`);
}

describe('scripts', () => {
  const ROOT = {
    'package.json': {
      pretest: 'tsc',
      test: 'vitest run',
      posttest: 'node after.mjs',
      lint: 'eslint .',
      'test:unit': 'vitest run src',
      'test:e2e': 'vitest run e2e',
      'test:e2e:slow': 'vitest run slow',
      check: 'npm run lint && npm run test:unit',
      start: 'node server.js',
      around: 'npm run around',
    },
  };

  test.for<[check: string, ...names: string[]]>([
    ['npm test', 'posttest', 'pretest', 'test'],
    ['npm t', 'posttest', 'pretest', 'test'],
    ['npm run lint', 'lint'],
    ['pnpm lint', 'lint'],
    ['yarn lint', 'lint'],
    ['bun run lint', 'lint'],
    ['node --run lint', 'lint'],
    ['npm run check', 'check', 'lint', 'test:unit'],
    ['run-p test:*', 'test:e2e', 'test:unit'],
    ['run-p "test:**"', 'test:e2e', 'test:e2e:slow', 'test:unit'],
    ['concurrently "npm:test:*" "npm run lint"', 'lint', 'test:e2e', 'test:unit'],
    ['npm run around', 'around'],
    ['sh -c "npm run lint"', 'lint'],
    ['npx turbo run lint', 'lint'],
    ['turbo run web#lint', 'lint'],
    ['grep -q lint report.md', ...[]],
    ['cargo build', ...[]],
    ['npm run constructor', ...[]],
  ])('%s', ([check, ...names]) => {
    expect(scriptsOf(check, ROOT)).toEqual(names.map((name) => `package.json ${name}`));
  });

  test('of all workspaces', () => {
    const texts = {
      'package.json': { test: 'turbo run test' },
      'packages/a/package.json': { test: 'jest', lint: 'eslint .' },
      'packages/b/package.json': { test: 'npm run unit', unit: 'mocha' },
    };
    expect(scriptsOf('npm test', texts)).toEqual([
      ...['package.json test', 'packages/a/package.json test', 'packages/b/package.json test'],
      'packages/b/package.json unit',
    ]);
  });

  test('have their lines', () => {
    expect(judgesOf(['npm test'], packages({ 'package.json': { test: 'a b' } })).scripts).toEqual([
      { file: 'package.json', name: 'test', line: 'a b' },
    ]);
  });

  test("npm's own line for no test is none", () => {
    const line = 'echo "Error: no test specified" && exit 1';
    expect(scriptsOf('npm test', { 'package.json': { test: line } })).toEqual([]);
  });

  test('of a package.json that cannot be read are none', () => {
    for (const text of ['{', '[]', '{"scripts":[]}', '{"scripts":{"test":1}}', 'null'])
      expect(judgesOf(['npm test'], new Map([['package.json', text]])).scripts).toEqual([]);
  });

  test('with patterns that could take long are found or left at once', () => {
    const name = 'a'.repeat(5000);
    const texts = { 'package.json': { [name]: 'x' } };
    expect(scriptsOf(`run-s ${'a*'.repeat(40)}b`, texts)).toEqual([]);
    expect(scriptsOf('run-s a*', texts)).toHaveLength(1);
  });
});

describe('files', () => {
  const none = new Map<string, string>();

  test('are below the folder that the check runs in', () => {
    expect(judgesOf(['./check.sh'], none).files).toEqual(['check.sh']);
    expect(judgesOf(['./check.sh'], none, 'packages/a').files).toEqual(['packages/a/check.sh']);
    expect(judgesOf(['../../check.sh'], none, 'packages/a').files).toEqual(['check.sh']);
    expect(judgesOf(['sh /x/check.sh'], none, 'a').files).toEqual(['/x/check.sh']);
  });

  test('or below a folder that it names', () => {
    const { files } = judgesOf(['cd packages/a && sh x/check.sh'], none);
    expect(files).toEqual(['packages/a/x/check.sh', 'x/check.sh']);
  });

  test('outside of the work tree, of tests and of what is installed are none', () => {
    const checks = ['../check.sh', 'node test/a.js', 'sh a.test.sh', './node_modules/.bin/vitest'];
    expect(judgesOf([...checks, '.venv/bin/python tools/x.py'], none).files).toEqual([
      'tools/x.py',
    ]);
  });

  test('that scripts run are below the folder of their package.json', () => {
    const texts = packages({
      'package.json': { test: 'node tools/judge.mjs && npm test --workspaces' },
      'packages/a/package.json': { test: 'sh ../check.sh && ./own.sh' },
    });
    expect(judgesOf(['npm test'], texts)).toMatchObject({
      files: ['packages/a/own.sh', 'packages/check.sh', 'tools/judge.mjs'],
      programs: ['node', 'npm', 'sh'],
    });
  });
});

test('several checks', () => {
  const texts = packages({ 'package.json': { test: 'vitest', lint: 'eslint .' } });
  expect(judgesOf(['npm run lint', 'npm test', './x'], texts)).toEqual({
    files: ['x'],
    scripts: [
      { file: 'package.json', name: 'lint', line: 'eslint .' },
      { file: 'package.json', name: 'test', line: 'vitest' },
    ],
    programs: ['eslint', 'npm', 'vitest'],
  });
  expect(judgesOf([], texts)).toEqual({ files: [], scripts: [], programs: [] });
});

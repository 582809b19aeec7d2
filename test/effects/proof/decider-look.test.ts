import { createHash } from 'node:crypto';
import { rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  deciderDigests,
  findDeciders,
  lookAtDeciders,
} from '../../../src/effects/proof/decider-look.ts';
import { makeExam } from '../../helpers/exams.ts';
import { type Files, put } from '../../helpers/repository.ts';

const manifest = (scripts: object, more: object = {}) =>
  `${JSON.stringify({ name: 'p', scripts, ...more })}\n`;
const PROJECT: Files = { 'package.json': manifest({ test: 'vitest run' }), 'src/a.js': 'a\n' };
const file = (path: string, change: 'new' | 'changed' | 'removed') => ({
  kind: 'file',
  path,
  change,
});
const script = (name: string, path = 'package.json') => ({ kind: 'script', file: path, name });

type Changed = Readonly<Record<string, string | null>>;

test.for<
  readonly [
    string,
    Files,
    readonly string[],
    Changed,
    readonly unknown[],
    Readonly<Record<string, string | null>>,
  ]
>([
  ['nothing', PROJECT, ['npm test'], {}, [], {}],
  ['the work alone', PROJECT, ['npm test'], { 'src/a.js': 'b\n', 'src/b.js': '' }, [], {}],
  [
    'what a check runs, and not what it looks at',
    { 'check.sh': 'true\n', 'tools/judge.mjs': '', 'look.md': '' },
    ['sh check.sh && grep -q ok look.md', 'node tools/judge'],
    { 'check.sh': 'exit 0\n', 'tools/judge.mjs': null, 'look.md': 'ok\n' },
    [file('check.sh', 'changed'), file('tools/judge.mjs', 'removed')],
    { 'check.sh': 'true\n', 'tools/judge.mjs': '' },
  ],
  [
    'a script that a recipe of a Makefile runs, and not what other recipes run',
    {
      Makefile: 'test:\n\tsh scripts/test.sh\nserve:\n\tnode server.js\n',
      'scripts/test.sh': 'a\nb\n',
      'server.js': 'a\n',
    },
    ['make test'],
    { 'scripts/test.sh': 'a\n', 'server.js': 'b\n' },
    [file('scripts/test.sh', 'changed')],
    { 'scripts/test.sh': 'a\nb\n' },
  ],
  [
    'what a configuration names, and the scripts of a composer.json',
    {
      'eslint.config.js': "import rules from './lint/rules.js';\n",
      'lint/rules.js': 'a\n',
      'composer.json': '{"scripts":{"test":"phpunit"}}\n',
    },
    ['npx eslint .'],
    { 'lint/rules.js': 'b\n', 'composer.json': '{"scripts":{"test":"true"}}\n' },
    [file('composer.json', 'changed'), file('lint/rules.js', 'changed')],
    { 'lint/rules.js': 'a\n', 'composer.json': '{"scripts":{"test":"phpunit"}}\n' },
  ],
  [
    'a file that hides the one that ran',
    { 'tools/judge.js': '' },
    ['node tools/judge'],
    { 'tools/judge': '' },
    [file('tools/judge', 'new')],
    { 'tools/judge': null },
  ],
  [
    'the section of a tool, and not the dependencies',
    {
      'pyproject.toml': '[project]\nname = "p"\n[tool.pytest.ini_options]\naddopts = "-q"\n',
      'setup.cfg': '[metadata]\nname = p\n',
    },
    ['pytest'],
    {
      'pyproject.toml': '[project]\nname = "p"\n[tool.pytest.ini_options]\naddopts = "-k none"\n',
      'setup.cfg': '[metadata]\nname = q\n',
    },
    [file('pyproject.toml', 'changed')],
    { 'pyproject.toml': '[project]\nname = "p"\n[tool.pytest.ini_options]\naddopts = "-q"\n' },
  ],
  [
    'the section of a tool in package.json: the rest stays as it is claimed',
    { 'package.json': manifest({ test: 'jest', build: 'tsc' }) },
    ['npm test'],
    {
      'package.json': manifest(
        { test: 'true', build: 'x' },
        { jest: {}, dependencies: { a: '1' } },
      ),
    },
    [file('package.json', 'changed'), script('test')],
    {
      'package.json': `${JSON.stringify({ name: 'p', scripts: { build: 'x', test: 'jest' }, dependencies: { a: '1' } }, null, 2)}\n`,
    },
  ],
  [
    'a package.json that hides the one above',
    { 'package.json': manifest({ test: 'jest' }), 'sub/a.js': '' },
    ['cd sub && npm test'],
    { 'sub/package.json': manifest({ test: 'true' }) },
    [script('test', 'sub/package.json')],
    { 'sub/package.json': null },
  ],
  [
    'a package.json that is gone, or that nobody can read',
    { 'package.json': manifest({ test: 'jest' }), 'a/package.json': manifest({ test: 'jest' }) },
    ['npm test -ws'],
    { 'package.json': null, 'a/package.json': '{' },
    [file('a/package.json', 'changed'), script('test', 'a/package.json'), script('test')],
    { 'a/package.json': manifest({ test: 'jest' }), 'package.json': manifest({ test: 'jest' }) },
  ],
  [
    'tests are put back, and are no deciders',
    {
      'package.json': manifest({ test: 'jest' }),
      'test/a.test.js': 'a\n',
      'test/b.test.js': 'b\n',
    },
    ['npm test'],
    { 'test/a.test.js': null, 'test/b.test.js': 'B\n', 'test/c.test.js': 'c\n' },
    [],
    { 'test/a.test.js': 'a\n', 'test/b.test.js': 'b\n', 'test/c.test.js': null },
  ],
  [
    'what is installed is no judge',
    { 'venv/pytest.ini': '', 'pytest.ini': '' },
    ['pytest'],
    { 'venv/pytest.ini': 'x', 'venv/lib/conftest.py': '' },
    [],
    {},
  ],
])('%s', async ([, files, checks, work, bent, undone]) => {
  const task = await makeExam(files, { checks });
  const look = await task.look(await task.claim(work));
  expect(look.bent).toEqual(bent);
  const putBack = [...look.undone].map(([name, entry]) => {
    const [, id] = entry?.split(' ') ?? [];
    return [name, id === undefined ? null : task.git('cat-file', '-p', id)];
  });
  const expected = Object.entries(undone).map(([name, text]) => [name, text?.trim() ?? null]);
  expect(Object.fromEntries(putBack)).toEqual(Object.fromEntries(expected));
});

test('a check may name a file of the work tree by its absolute path', async () => {
  const task = await makeExam({ 'check.sh': 'true\n' });
  const checks = [`sh ${join(task.folder, 'check.sh')}`];
  const where = { git: task.own, checks, folder: '' };
  const atStart = await findDeciders(where, task.start);
  expect(atStart.files).toEqual(['check.sh']);
  const claimed = await task.claim({ 'check.sh': 'exit 0\n' });
  const { bent } = await lookAtDeciders({
    ...{ ...where, start: task.start, atStart, claimed, acceptChanged: [] },
  });
  expect(bent).toEqual([file('check.sh', 'changed')]);
});

test('a file that only a changed line runs is the work', async () => {
  const task = await makeExam({ ...PROJECT, 'src/cli.js': 'a\n' });
  const work = { 'package.json': manifest({ test: 'node src/cli.js' }), 'src/cli.js': 'b\n' };
  expect((await task.look(await task.claim(work))).bent).toEqual([script('test')]);
});

test('hashes what decides', async () => {
  const task = await makeExam({ 'tsconfig.json': '{}\n', 'é/Makefile': 'a:\n', 'a.txt': 'a\n' });
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
  expect(await deciderDigests(task.own, task.start, task.atStart.files)).toEqual([
    { name: 'tsconfig.json', sha256: sha256('{}\n') },
    { name: 'é/Makefile', sha256: sha256('a:\n') },
  ]);
});

test('names the test files that stood at the start and are not what they were', async () => {
  const task = await makeExam({
    ...PROJECT,
    'a.test.js': 'a\n',
    'tests/b.py': 'b\n',
    'c.spec.ts': '',
  });
  const { changedTestFiles } = await task.look(
    await task.claim({ 'a.test.js': 'A\n', 'tests/b.py': null, 'new.test.js': '' }),
  );
  expect(changedTestFiles).toEqual(['a.test.js', 'tests/b.py']);
});

describe('what the task is meant to change', () => {
  const FILES: Files = { 'sub/Makefile': 'a:\n', 'sub/package.json': manifest({ test: 'jest' }) };
  const WORK = { 'sub/Makefile': 'b:\n', 'sub/package.json': manifest({ test: 'true' }) };
  test.for<readonly [string, readonly string[], readonly unknown[]]>([
    ['from the top', ['sub/Makefile'], [script('test', 'sub/package.json')]],
    ['from the folder of the checks', ['package.json'], [file('sub/Makefile', 'changed')]],
    ['a glob', ['**/{Make,make}file', 'pack*.js?n'], []],
    [
      'another file',
      ['xfile', 'Makefile2'],
      [file('sub/Makefile', 'changed'), script('test', 'sub/package.json')],
    ],
  ])('%s', async ([, acceptChanged, bent]) => {
    const task = await makeExam(FILES, { below: 'sub', acceptChanged });
    const look = await task.look(await task.claim(WORK));
    expect(look.bent).toEqual(bent);
    expect(look.undone.size).toBe(bent.length);
  });
});

describe('whether a judge stood at the start', () => {
  test.for<readonly [string, Files, boolean]>([
    ['nothing', { 'a.txt': '' }, false],
    [
      'what npm init writes',
      { 'package.json': manifest({ test: 'echo "Error: no test specified" && exit 1' }) },
      false,
    ],
    ['a script', PROJECT, true],
    ['a configuration', { '.npmrc': '' }, true],
    ['a section', { 'pyproject.toml': '[tool.ruff]\nselect = ["E"]\n' }, true],
    ['dependencies alone', { 'pyproject.toml': '[project]\nname = "p"\n' }, false],
  ])('%s', async ([, files, stands]) => {
    expect((await makeExam(files)).atStart.stands).toBe(stands);
  });

  test('a project that is made from nothing bends nothing', async () => {
    const task = await makeExam({ 'package.json': manifest({ test: 'echo "no test specified"' }) });
    const look = await task.look(
      await task.claim({ 'package.json': manifest({ test: 'node --test', pretest: 'true' }) }),
    );
    expect(look.bent).toEqual([]);
  });
});

describe('a link that judges', () => {
  const LINKS = { 'check.sh': 'tools/check.sh', Makefile: 'build/rules', all: 'ci' };
  const FILES: Files = {
    ...{ 'tools/check.sh': 'a\n', 'build/rules': 'a:\n\tsh deep/a.sh\n', 'ci/all.sh': 'a\n' },
    'deep/a.sh': 'a\n',
  };
  const checks = ['sh check.sh && make', 'sh all/all.sh'];

  async function linked() {
    const task = await makeExam(FILES, { checks });
    for (const [name, target] of Object.entries(LINKS))
      symlinkSync(target, join(task.folder, name));
    const start = await task.claim({});
    const where = { git: task.own, checks, folder: '' };
    const atStart = await findDeciders(where, start);
    const look = async (work: Changed) => {
      const claimed = await task.claim(work);
      return lookAtDeciders({ ...where, start, atStart, claimed, acceptChanged: [] });
    };
    return { task, atStart, look };
  }

  test('leads to its target, which is a judge, too', async () => {
    const { atStart, look } = await linked();
    const targets = Object.keys(FILES);
    expect(atStart.files).toEqual([...Object.keys(LINKS), ...targets].toSorted());
    const { bent } = await look(Object.fromEntries(targets.map((name) => [name, 'b\n'])));
    expect(bent).toEqual(targets.toSorted().map((name) => file(name, 'changed')));
  });

  test('is bent if it leads elsewhere', async () => {
    const { task, look } = await linked();
    rmSync(join(task.folder, 'all'));
    symlinkSync('tools', join(task.folder, 'all'));
    expect((await look({})).bent).toEqual([file('all', 'changed')]);
  });
});

test('a file too long to be read leads nowhere, and judges', async () => {
  const long = `${'#'.repeat(300_000)}\nsh more.sh\n`;
  const files = { 'check.sh': long, 'short.sh': 'sh more.sh\n', 'more.sh': '' };
  const task = await makeExam(files, { checks: ['sh check.sh'] });
  expect(task.atStart.files).toEqual(['check.sh']);
  const other = await makeExam(files, { checks: ['sh short.sh'] });
  expect(other.atStart.files).toEqual(['more.sh', 'short.sh']);
});

test('a judge that became a link is bent', async () => {
  const task = await makeExam(PROJECT);
  await task.claim({ 'package.json': null, 'other.json': manifest({ test: 'true' }) });
  symlinkSync('other.json', join(task.folder, 'package.json'));
  put(task.folder, { 'b.txt': '' });
  const { bent } = await task.look(await task.claim({}));
  expect(bent).toEqual([file('package.json', 'changed')]);
});

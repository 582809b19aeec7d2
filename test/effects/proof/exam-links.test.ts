import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, utimesSync } from 'node:fs';
import path, { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  type ExamPlaces,
  targetInExam,
  textInExam,
} from '../../../src/effects/proof/exam/exam-links.ts';
import { makeExam, untouched } from '../../helpers/exams.ts';
import { type Files, put } from '../../helpers/repository.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const link = (folder: string, name: string, target: string): void => {
  const place = join(folder, name);
  mkdirSync(path.dirname(place), { recursive: true });
  symlinkSync(target, place);
};

test('a text names the exam where it named the work tree', () => {
  const places = { root: '/w/a', folder: '/w/a.ralph/t.exam' };
  const inExam = (text: string) => textInExam(places, Buffer.from(text))?.toString() ?? null;
  expect(inExam('#!/w/a/.venv/bin/python\n')).toBe('#!/w/a.ralph/t.exam/.venv/bin/python\n');
  expect(inExam('-I/w/a/src:/w/a')).toBe('-I/w/a.ralph/t.exam/src:/w/a.ralph/t.exam');
  expect(inExam('It is in /w/a.')).toBe('It is in /w/a.ralph/t.exam.');
  expect(inExam('/w/a-2 /w/a.ralph /w/ab')).toBeNull();
  expect(inExam('\0/w/a')).toBeNull();
});

describe('a link leads', () => {
  const cases: readonly (readonly [string, (places: ExamPlaces) => string, string | null])[] = [
    ['into the work tree, relative', () => '../../util', 'util'],
    ['into the work tree, absolute', ({ root }) => join(root, 'util'), 'util'],
    ['to the work tree itself', () => '../..', ''],
    ['out, and back', ({ folder }) => join(folder, '..', 'global'), 'util'],
    ['out', () => '/usr/bin/env', null],
    ['nowhere in the work tree', () => '../../missing', 'missing'],
  ];
  test.for(cases)('%s', async ([, targetOf, expected]) => {
    const top = await tempFolder();
    const places = { root: join(top, 'work'), folder: join(top, 'exam') };
    put(places.root, { 'util/a.js': '' });
    link(top, 'global', join(places.root, 'util'));
    link(places.root, 'packages/node_modules/x', targetOf(places).replace('../..', '../..'));
    const target = targetInExam(places, join(places.root, 'packages', 'node_modules', 'x'));
    expect(target).toBe(expected === null ? '/usr/bin/env' : join(places.folder, expected));
  });
});

const MONO: Files = {
  '.gitignore': 'node_modules\nvendor\n.venv\n',
  'packages/util/test/helper.js': 'old\n',
  'packages/a/a.js': '',
};
const HELPER = 'packages/util/test/helper.js';

describe('a helper that the agent bent is read as it was', () => {
  const cases: readonly (readonly [string, string, (folder: string) => void])[] = [
    [
      'linked below a package',
      'packages/a/node_modules/@x/util/test/helper.js',
      (folder) => link(folder, 'packages/a/node_modules/@x/util', '../../../util'),
    ],
    [
      'linked at the root',
      'node_modules/util/test/helper.js',
      (folder) => link(folder, 'node_modules/util', join(folder, 'packages/util')),
    ],
    [
      'through a store',
      'packages/a/node_modules/util/test/helper.js',
      (folder) => {
        const store = 'node_modules/.pnpm/util@file+packages+util/node_modules/util';
        link(folder, store, '../../../../packages/util');
        link(folder, 'packages/a/node_modules/util', `../../../${store}`);
      },
    ],
    [
      'what a store hoists',
      'node_modules/.pnpm/node_modules/@x/util/test/helper.js',
      (folder) =>
        link(folder, 'node_modules/.pnpm/node_modules/@x/util', '../../../../packages/util'),
    ],
    [
      'through a link of all packages',
      'packages/a/node_modules/util/test/helper.js',
      (folder) => {
        link(folder, 'node_modules/util', '../packages/util');
        link(folder, 'packages/a/node_modules', '../../node_modules');
      },
    ],
    [
      'through packages that are kept elsewhere',
      'node_modules/util/test/helper.js',
      (folder) => {
        link(`${folder}.kept`, 'util', join(folder, 'packages/util'));
        link(folder, 'node_modules', `${folder}.kept`);
      },
    ],
    [
      'the program of a package',
      'node_modules/.bin/helper',
      (folder) => link(folder, 'node_modules/.bin/helper', `../../${HELPER}`),
    ],
    [
      'in what composer installs',
      'vendor/x/util/test/helper.js',
      (folder) => link(folder, 'vendor/x/util', '../../packages/util'),
    ],
  ];
  test.for(cases)('%s', async ([, reached, install]) => {
    const task = await makeExam(MONO);
    rmSync(join(task.folder, 'node_modules'));
    install(task.folder);
    const claimed = await task.claim({ [HELPER]: 'bent\n' });
    const { undone } = await task.look(claimed);
    expect(readFileSync(join(task.folder, reached), 'utf8')).toBe('bent\n');
    const seen = await task.sit(claimed, undone, async ({ folder }) =>
      readFileSync(join(folder, reached), 'utf8'),
    );
    expect(seen).toBe('old\n');
  });
});

test.for([
  ['a folder on a path', (root: string) => ({ 'x.pth': `${root}/src\n` })],
  ['a relative folder', () => ({ 'x.pth': '../../../../src\n' })],
  [
    'the finder of setuptools',
    (root: string) => ({
      '__editable__.x-1.pth': 'import __editable___x_finder; __editable___x_finder.install()\n',
      '__editable___x_finder.py': [
        'import sys',
        'from importlib.util import spec_from_file_location',
        `MAPPING: dict[str, str] = {'x': '${root}/src/x'}`,
        'class Finder:',
        '    @classmethod',
        '    def find_spec(cls, name, path=None, target=None):',
        "        if name in MAPPING: return spec_from_file_location(name, MAPPING[name] + '/__init__.py')",
        'def install(): sys.meta_path.append(Finder)\n',
      ].join('\n'),
    }),
  ],
] as const)('Python finds the package of the exam: %s', async ([, files]) => {
  const task = await makeExam({ '.gitignore': 'node_modules\n.venv\n', 'src/x/__init__.py': '' });
  execFileSync('python3', ['-m', 'venv', '--without-pip', join(task.folder, '.venv')]);
  const version = execFileSync('python3', [
    '-c',
    'import sys; print("python%d.%d" % sys.version_info[:2])',
  ]);
  const library = `.venv/lib/${version.toString().trim()}/site-packages`;
  put(join(task.folder, library), { ...files(task.folder), 'lib/__init__.py': '' });
  put(task.folder, {
    '.venv/bin/tool': `#!${task.folder}/.venv/bin/python\nimport x; print(x.__file__)\n`,
  });
  execFileSync('chmod', ['+x', join(task.folder, '.venv/bin/tool')]);
  const before = untouched(task.folder);
  const found = await task.sit(task.start, new Map(), async ({ folder }) =>
    ['python -c "import x; print(x.__file__)"', 'tool'].map((command) =>
      execFileSync('sh', ['-c', `.venv/bin/${command}`], { cwd: folder, encoding: 'utf8' }).trim(),
    ),
  );
  const place = join(task.examFolder, 'src', 'x', '__init__.py');
  expect(found).toEqual([place, place]);
  expect(untouched(task.folder)).toEqual(before);
});

describe('what the exam builds', () => {
  const MAKE: Files = {
    '.gitignore': 'node_modules\nbuild\n',
    'test/a.txt': 'old\n',
    Makefile: 'build/a: test/a.txt\n\tcp test/a.txt build/a\n',
  };
  const built = async (mostBytes?: number, last: (folder: string) => void = () => {}) => {
    const task = await makeExam(MAKE, mostBytes === undefined ? {} : { mostBytes });
    const claimed = await task.claim({ 'test/a.txt': 'new\n' });
    put(task.folder, { 'build/a': 'new\n' });
    const past = new Date(Date.now() - 60_000);
    for (const name of ['test/a.txt', 'build/a']) utimesSync(join(task.folder, name), past, past);
    const before = untouched(task.folder);
    const { undone } = await task.look(claimed);
    const make = (cwd: string): string => {
      execFileSync('make', ['-s'], { cwd });
      return readFileSync(join(cwd, 'build', 'a'), 'utf8');
    };
    const inExam = await task.sit(claimed, undone, async ({ folder }) => {
      const output = make(folder);
      last(folder);
      return output;
    });
    return {
      inExam,
      isUntouched: () => expect(untouched(task.folder)).toEqual(before),
      make: () => make(task.folder),
    };
  };

  test('is built from its own files, and stays in it', async () => {
    const { inExam, isUntouched, make } = await built();
    expect(inExam).toBe('old\n');
    isUntouched();
    expect(make()).toBe('new\n');
  });

  test('is built again in the work tree where there was no room for copies', async () => {
    // The output is written at the last moment: within the same millisecond, for the most part.
    const { inExam, make } = await built(1, (folder) => put(folder, { 'build/a': 'old\n' }));
    expect([inExam, make()]).toEqual(['old\n', 'new\n']);
  });
});

test('a submodule and a file that is in no snapshot are copies', async () => {
  const task = await makeExam({ 'a.txt': '' });
  await task.claim({ 'large.bin': 'x'.repeat(1_000_001) });
  const kept = untouched(task.folder);
  await task.sit(task.start, new Map(), async ({ folder }) => {
    expect(existsSync(join(folder, 'large.bin'))).toBe(true);
    put(folder, { 'large.bin': 'y' });
  });
  expect(untouched(task.folder)).toEqual(kept);
});

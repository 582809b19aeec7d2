import { describe, expect, test } from 'vitest';
import {
  type DeciderSearch,
  type Deciders,
  searchForDeciders,
} from '../../../../src/core/proof/deciders/deciders.ts';

/** What is found without reading further files. */
function decidersOfChecks(
  checks: readonly string[],
  texts: DeciderSearch['texts'],
  folder = '',
): Deciders {
  return searchForDeciders({ checks, texts, folder }).deciders;
}

type Scripts = Readonly<Record<string, string>>;

function packages(texts: Readonly<Record<string, Scripts>>): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(texts).map(([path, scripts]) => [path, JSON.stringify({ scripts })]),
  );
}

/** The scripts found, as `file name`. */
function scriptsOf(check: string, texts: Readonly<Record<string, Scripts>>): readonly string[] {
  return decidersOfChecks([check], packages(texts)).scripts.map(
    ({ file, name }) => `${file} ${name}`,
  );
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
    expect(
      decidersOfChecks(['npm test'], packages({ 'package.json': { test: 'a b' } })).scripts,
    ).toEqual([{ file: 'package.json', name: 'test', line: 'a b' }]);
  });

  test("npm's own line for no test is none", () => {
    const line = 'echo "Error: no test specified" && exit 1';
    expect(scriptsOf('npm test', { 'package.json': { test: line } })).toEqual([]);
  });

  test('of a package.json that cannot be read are none', () => {
    for (const text of ['{', '[]', '{"scripts":[]}', '{"scripts":{"test":1}}', 'null'])
      expect(decidersOfChecks(['npm test'], new Map([['package.json', text]])).scripts).toEqual([]);
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
    expect(decidersOfChecks(['./check.sh'], none).files).toEqual(['check.sh']);
    expect(decidersOfChecks(['./check.sh'], none, 'packages/a').files).toEqual([
      'packages/a/check.sh',
    ]);
    expect(decidersOfChecks(['../../check.sh'], none, 'packages/a').files).toEqual(['check.sh']);
    expect(decidersOfChecks(['sh /x/check.sh'], none, 'a').files).toEqual(['/x/check.sh']);
  });

  test('or below a folder that it names', () => {
    const { files } = decidersOfChecks(['cd packages/a && sh x/check.sh'], none);
    expect(files).toEqual(['packages/a/x/check.sh', 'x/check.sh']);
  });

  test('outside of the work tree, of tests and of what is installed are none', () => {
    const checks = ['../check.sh', 'node test/a.js', 'sh a.test.sh', './node_modules/.bin/vitest'];
    expect(decidersOfChecks([...checks, '.venv/bin/python tools/x.py'], none).files).toEqual([
      'tools/x.py',
    ]);
    // A test at the top of a package is also the script of a check that names it.
    expect(decidersOfChecks(['node test.js'], none).files).toEqual(['test.js']);
  });

  test('that scripts run are below the folder of their package.json', () => {
    const texts = packages({
      'package.json': { test: 'node tools/judge.mjs && npm test --workspaces' },
      'packages/a/package.json': { test: 'sh ../check.sh && ./own.sh' },
    });
    expect(decidersOfChecks(['npm test'], texts)).toMatchObject({
      files: ['packages/a/own.sh', 'packages/check.sh', 'tools/judge.mjs'],
      programs: ['node', 'npm', 'sh'],
    });
  });
});

test('several checks', () => {
  const texts = packages({ 'package.json': { test: 'vitest', lint: 'eslint .' } });
  expect(decidersOfChecks(['npm run lint', 'npm test', './x'], texts)).toEqual({
    files: ['x'],
    scripts: [
      { file: 'package.json', name: 'lint', line: 'eslint .' },
      { file: 'package.json', name: 'test', line: 'vitest' },
    ],
    programs: ['eslint', 'npm', 'vitest'],
  });
  expect(decidersOfChecks([], texts)).toEqual({ files: [], scripts: [], programs: [] });
});

type Tree = Readonly<Record<string, string>>;

/** The files of a tree that decide, once all that leads to them is read. */
function reached(checks: readonly string[], files: Tree, byName: readonly string[] = []) {
  const isPackage = (path: string): boolean => path.endsWith('package.json');
  const texts = new Map<string, string | null>(
    Object.entries(files).filter(([path]) => isPackage(path)),
  );
  for (let rounds = 0; rounds < 9; rounds += 1) {
    const { deciders, unread } = searchForDeciders({ checks, texts, byName });
    if (unread.length === 0) return deciders.files.filter((path) => path in files);
    for (const path of unread) texts.set(path, files[path] ?? null);
  }
  throw new Error('there is always more to read');
}

describe('recipes of task files', () => {
  const SCRIPTS: Tree = {
    ...{ 'scripts/test.sh': '', 'ci/lint.sh': '', 'tools/x.py': '', 'ci/more.sh': '' },
    ...{ 'scripts/deploy.sh': '', 'src/server.js': '', 'app.js': '' },
  };
  test.for<[what: string, check: string, files: Tree, ...reached: string[]]>([
    [
      'make: of a target and of what it needs',
      'make test',
      {
        Makefile:
          'SH := sh\nall: deploy\ntest: lint\n\t@$(SH) scripts/test.sh \\\n\t\t--fast\nlint: ; -sh ci/lint.sh\ndeploy:\n\tsh scripts/deploy.sh\n',
      },
      ...['Makefile', 'ci/lint.sh', 'scripts/test.sh'],
    ],
    [
      'make: of its first target, where none is named',
      'make -j4 CI=1',
      { Makefile: '.PHONY: a b\na:\n\tsh scripts/test.sh\nb:\n\tsh scripts/deploy.sh\n' },
      ...['Makefile', 'scripts/test.sh'],
    ],
    [
      'make: by its shell',
      'make test',
      { Makefile: 'DIR = scripts\ntest:\n\t$(SHELL) $(DIR)/test.sh\n' },
      ...['Makefile', 'scripts/test.sh'],
    ],
    [
      'make: of a target by its pattern',
      'make test-unit',
      { Makefile: 'test-%:\n\tsh scripts/test.sh $*\ndeploy:\n\tsh scripts/deploy.sh\n' },
      ...['Makefile', 'scripts/test.sh'],
    ],
    [
      'make: of all targets, where only make could tell which',
      'make check',
      { Makefile: 'check: $(addprefix t-,a b)\nt-a:\n\tsh scripts/test.sh\n' },
      ...['Makefile', 'scripts/test.sh'],
    ],
    [
      'make: of a file that is taken in, whatever its name, with its variables',
      'make test',
      {
        Makefile: '-include build/rules.inc\nD = ci\n',
        'build/rules.inc': `include build/more\ntest:\n\tsh $(D)/lint.sh\n\tsh \${E}/more.sh\n`,
        'build/more': 'E=ci\n',
      },
      ...['Makefile', 'build/more', 'build/rules.inc', 'ci/lint.sh', 'ci/more.sh'],
    ],
    [
      'make: of a make in another folder, with a file of its own',
      'make test',
      {
        Makefile: 'test:\n\t$(MAKE) -C sub -f ../rules check\n\t$(MAKE) test\n',
        rules: 'check:\n\tsh ../ci/lint.sh\n',
      },
      ...['Makefile', 'ci/lint.sh', 'rules'],
    ],
    [
      'make: through npm, and npm through make',
      'npm test',
      {
        'package.json': '{"scripts":{"test":"make check","lint":"sh ci/lint.sh"}}',
        Makefile: 'check:\n\tnpm run lint\n',
      },
      ...['Makefile', 'ci/lint.sh'],
    ],
    [
      'just: above the folder, too',
      'cd web && just test',
      {
        justfile:
          'dir := "scripts"\nimport "ci/more.just"\nalias t := test\ntest name="a:b": lint && (more "x")\n  @sh {{dir}}/test.sh\nlint:\n    sh ci/lint.sh\ndeploy:\n  sh scripts/deploy.sh\n',
        'ci/more.just': 'more x:\n  sh ci/more.sh\n',
      },
      ...['ci/lint.sh', 'ci/more.just', 'ci/more.sh', 'justfile', 'scripts/test.sh'],
    ],
    [
      'task',
      'task test',
      {
        'Taskfile.yml':
          'version: 3\nincludes:\n  docs:\n    taskfile: ./docs\ntasks:\n  test:\n    deps: [lint]\n    dir: web\n    cmds:\n      - sh ../scripts/test.sh\n      - task: docs:more\n  lint: sh ci/lint.sh\n  deploy:\n    cmds: ["sh scripts/deploy.sh"]\n',
        'docs/Taskfile.yml': 'tasks:\n  more:\n    cmds:\n      - cmd: "sh ci/more.sh"\n',
      },
      ...['Taskfile.yml', 'ci/lint.sh', 'ci/more.sh', 'docs/Taskfile.yml', 'scripts/test.sh'],
    ],
    [
      'tox',
      'uvx tox -e py',
      {
        'tox.ini':
          '[tox]\nenvlist = py\n[testenv]\ndeps =\n    pytest\ncommands =\n    - sh {toxinidir}/scripts/test.sh {posargs}\n    python \\\n      tools/x.py\n[testenv:web]\nchangedir = web\ncommands = sh web.sh\n[testenv:doc]\nchange_dir = doc\ncommands = sh doc.sh\n',
        'web/web.sh': '',
        'doc/doc.sh': '',
      },
      ...['doc/doc.sh', 'scripts/test.sh', 'tools/x.py', 'tox.ini', 'web/web.sh'],
    ],
    [
      'nox',
      'python -m nox',
      {
        'noxfile.py':
          'def t(session):\n    session.run(\n        "sh", "scripts/test.sh", external=True)\n    session.run(\'python\', "tools/x.py")\n',
      },
      ...['noxfile.py', 'scripts/test.sh', 'tools/x.py'],
    ],
    [
      'composer',
      'composer run test',
      {
        'composer.json':
          '{"scripts":{"test":["@lint","@php tools/x.py"],"lint":"sh ci/lint.sh","deploy":"sh scripts/deploy.sh"}}',
      },
      ...['ci/lint.sh', 'tools/x.py'],
    ],
    [
      'deno',
      'deno task test',
      {
        'deno.jsonc':
          '{ // tasks\n"tasks": {"test": {"command": "sh scripts/test.sh", "dependencies": ["lint"]}, "lint": "sh ci/lint.sh",},}',
      },
      ...['ci/lint.sh', 'deno.jsonc', 'scripts/test.sh'],
    ],
    ['none that the check does not use', 'npm test', { Makefile: 'test:\n\tsh ci/lint.sh\n' }],
    [
      'and no work: source, and a program whose output is compared',
      'make test',
      { Makefile: 'test:\n\tnode src/server.js\n\tnode app.js | grep -q ok\n' },
      'Makefile',
    ],
  ])('%s', ([, check, files, ...expected]) => {
    expect(reached([check], { ...SCRIPTS, ...files })).toEqual(expected);
  });

  test('that call each other end', () => {
    expect(reached(['make a'], { Makefile: 'include Makefile\na: b\n\tmake b\nb: a\n' })).toEqual([
      'Makefile',
    ]);
  });
});

describe('files that judges name', () => {
  test.for<[what: string, check: string, byName: string[], files: Tree, ...reached: string[]]>([
    [
      'a script that sources and runs others, and not the work',
      'sh check.sh',
      [],
      {
        'check.sh':
          '#!/bin/sh\nROOT="$(cd "$(dirname "$0")" && pwd)"\n. "$ROOT/lib/common.sh"\nsh scripts/unit.sh\nfor f in a.sh b.sh; do\n  sh "$f"\ndone\nnode app.js\nsh prog.sh | diff - want.txt\n',
        ...{ 'lib/common.sh': '', 'scripts/unit.sh': 'sh scripts/deeper.sh\n', 'a.sh': '' },
        ...{ 'b.sh': '', 'app.js': '', 'prog.sh': '', 'scripts/deeper.sh': '' },
      },
      ...['a.sh', 'b.sh', 'check.sh', 'lib/common.sh', 'scripts/unit.sh'],
    ],
    [
      'a script in a folder of its own',
      'sh ci/all.sh',
      [],
      {
        'ci/all.sh': `cd "\${0%/*}/.." && sh ci/a.sh && bash "$(dirname "$0")"/b.sh\n`,
        ...{ 'ci/a.sh': '', 'ci/b.sh': '' },
      },
      ...['ci/a.sh', 'ci/all.sh', 'ci/b.sh'],
    ],
    [
      'a script that quotes its folder with a file in it',
      'bash ci/all.sh',
      [],
      {
        'ci/all.sh': `. "$(dirname "$0")/a.sh"\nsource "$(dirname "\${BASH_SOURCE[0]}")/b.sh"\nsource "\${BASH_SOURCE%/*}/c.sh"\n`,
        ...{ 'ci/a.sh': '', 'ci/b.sh': '', 'ci/c.sh': '' },
      },
      ...['ci/a.sh', 'ci/all.sh', 'ci/b.sh', 'ci/c.sh'],
    ],
    [
      'a program that names files of the checks and of the work',
      'node tools/judge.mjs',
      [],
      {
        'tools/judge.mjs':
          "read(new URL('./want.json', import.meta.url)); read('tools/b.json'); run('sh tools/c.sh'); read('out/d.json');\n",
        ...{ 'tools/want.json': '', 'tools/b.json': '', 'tools/c.sh': '', 'out/d.json': '' },
      },
      ...['tools/b.json', 'tools/c.sh', 'tools/judge.mjs', 'tools/want.json'],
    ],
    [
      'programs of Python that import parts of the checks and the work',
      'python tools/judge.py',
      ['conftest.py'],
      {
        'tools/judge.py': 'from .rules import a\nimport more\nimport app.main\n',
        ...{ 'tools/rules.py': '', 'tools/more/__init__.py': '', 'app/main.py': '' },
        'conftest.py': 'from app.main import b\npytest_plugins = ["tools.plugin"]\n',
        'tools/plugin.py': '',
      },
      ...['tools/judge.py', 'tools/more/__init__.py', 'tools/plugin.py', 'tools/rules.py'],
    ],
    [
      'files of options and of references',
      'tsc -b && bundle exec rspec && ruff check',
      ['tsconfig.json', '.rspec', 'ruff.toml'],
      {
        'tsconfig.json': '{"files": [], "references": [{ "path": "./config/strict.json" }]}',
        '.rspec': '--color --require ./more/helper.rb\n',
        'ruff.toml': 'extend = "lint/base.toml"\n',
        ...{ 'config/strict.json': '', 'more/helper.rb': '', 'lint/base.toml': '' },
      },
      ...['config/strict.json', 'lint/base.toml', 'more/helper.rb'],
    ],
    [
      'a program that imports its own parts and the work',
      'node tools/judge.mjs',
      [],
      {
        'tools/judge.mjs': "import './lib/compare';\nimport { f } from '../src/f.js';\n",
        ...{ 'tools/lib/compare.ts': '', 'src/f.js': '' },
      },
      ...['tools/judge.mjs', 'tools/lib/compare.ts'],
    ],
    [
      'what a runner is told to load, and no sources',
      'npx vitest run',
      ['vitest.config.ts'],
      {
        'vitest.config.ts':
          "import base from './vite.base';\nexport default { test: { setupFiles: ['./src/setup.ts', \"./more.ts\"], globalSetup: 'global.ts', environment: 'jsdom', alias: { '@': './src/app.ts' } }, build: { lib: { entry: './src/main.ts' } } };\n",
        ...{ 'vite.base.ts': '', 'src/setup.ts': '', 'more.ts': '', 'global.ts': '' },
        ...{ 'src/app.ts': '', 'src/main.ts': '' },
      },
      ...['global.ts', 'more.ts', 'src/setup.ts', 'vite.base.ts'],
    ],
    [
      'one step deep',
      'eslint .',
      ['eslint.config.js'],
      {
        'eslint.config.js': "import rules from './lint/rules.js';\n",
        'lint/rules.js': "import more from './more.js';\n",
        'lint/more.js': '',
      },
      'lint/rules.js',
    ],
    [
      'two through a package of the workspace',
      'eslint . && tsc',
      ['eslint.config.js', 'a/tsconfig.json'],
      {
        'eslint.config.js': "import acme from '@acme/eslint-config';\n",
        'config/eslint/package.json':
          '{"name":"@acme/eslint-config","exports":{".":{"import":"./main.js"}}}',
        'config/eslint/main.js': "import rules from './rules.js';\n",
        'config/eslint/rules.js': "import more from './more.js';\n",
        'config/eslint/more.js': '',
        'a/tsconfig.json': '{"extends": ["../base", "@acme/ts/strict"], "files": ["i.ts"]}',
        'base.json': '',
        'a/i.ts': '',
        'config/ts/package.json': '{"name":"@acme/ts"}',
        'config/ts/strict.json': '',
      },
      ...['base.json', 'config/eslint/main.js', 'config/eslint/rules.js', 'config/ts/strict.json'],
    ],
    [
      'in JSON, YAML, XML and others',
      'x',
      ['.mocharc.yml', 'phpunit.xml', '.rubocop.yml', 'jest.config.js', '.npmrc', 'build.gradle'],
      {
        '.mocharc.yml': 'require:\n  - ./mocha.js\n  - ts-node/register\nspec: all.js\n',
        'phpunit.xml': '<phpunit bootstrap="boot.php">',
        '.rubocop.yml': 'inherit_from: conf/ruby.yml\n',
        'jest.config.js':
          "module.exports = { transform: { '^.+\\\\.ts$': './jest.js' }, preset: '<rootDir>/pre' };\n",
        '.npmrc': 'script-shell=./bin/sh\n',
        'build.gradle': "apply from: 'gradle/quality.gradle'\n",
        ...{ 'mocha.js': '', 'all.js': '', 'boot.php': '', 'conf/ruby.yml': '', 'jest.js': '' },
        ...{ 'pre.js': '', 'bin/sh': '', 'gradle/quality.gradle': '' },
      },
      ...['bin/sh', 'boot.php', 'conf/ruby.yml', 'gradle/quality.gradle', 'jest.js', 'mocha.js'],
      'pre.js',
    ],
    [
      "in a tool's section, and of the rest nothing",
      'x',
      ['package.json'],
      {
        'package.json': '{"config":"./no.js","jest":{"setupFiles":["./setup.js"]}}',
        ...{ 'setup.js': '', 'no.js': '' },
      },
      'setup.js',
    ],
    [
      'as an option of a command',
      'node --env-file=.env x.mjs && eslint -c lint/e.json . && tsc -p tsconfig.ci.json && cp -p a.json b',
      [],
      {
        ...{ '.env': '', 'lint/e.json': '{"extends": "./f.json"}', 'lint/f.json': '' },
        ...{ 'tsconfig.ci.json': '', 'a.json': '' },
      },
      ...['.env', 'lint/e.json', 'lint/f.json', 'tsconfig.ci.json'],
    ],
    [
      'but no tests, nothing that is installed, and no package.json',
      'x',
      ['jest.config.js'],
      {
        'jest.config.js':
          "module.exports = { setupFiles: ['./test/setup.js', './node_modules/a.js', './package.json', '../out.js'] };\n",
        ...{ 'test/setup.js': '', 'node_modules/a.js': '', 'package.json': '{}', '../out.js': '' },
      },
    ],
    [
      'and no sources that a build lists',
      'cmake .',
      ['CMakeLists.txt', 'conftest.py'],
      {
        'CMakeLists.txt': 'configure_file(config: "a.c")\n',
        'conftest.py': 'plugins = ["a.c"]\n',
        'a.c': '',
      },
    ],
  ])('%s', ([, check, byName, files, ...expected]) => {
    expect(reached([check], files, byName)).toEqual(expected);
  });
});

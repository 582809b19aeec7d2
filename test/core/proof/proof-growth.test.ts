import { test } from 'vitest';
import { searchForDeciders } from '../../../src/core/proof/deciders/deciders.ts';
import { toolSection } from '../../../src/core/proof/tool-section.ts';
import { countTests } from '../../helpers/count-tests.ts';
import { expectLinear, SHORT } from '../../helpers/growth.ts';

// An agent writes what is read here.

test('the time that the output of a check takes grows with its length', () => {
  const parts = [
    ...[
      'a: ',
      'a:',
      '[a] ',
      '[',
      '=',
      '= in ',
      '1 passed, ',
      '1 passed ',
      ' > ',
      'FAILED [',
      '] - ',
    ],
    ...[
      ' FAIL  a > ',
      '\r',
      '\n',
      'coverage ',
      'ok 1 - ',
      'not ok 1 - # TODO',
      ' ',
      '\x1b[0m',
      '\x1b]',
    ],
    ...['  1) a\n', 'failures:\n    a\n', '--- FAIL: a (0.0s)\n', 'a1:\n', '# tests 1\n'],
  ];
  expectLinear(countTests, parts, [SHORT]);
});

test('the time that a settings file takes grows with its length', () => {
  const parts = [
    ...['[', ']', '"', "'", '"""', "'''", '\\', '= ', 'a.', 'a = 1\n', '[a]\n', '[[tool.mypy]]\n'],
    ...[
      '# ',
      '{',
      ' ',
      '\n',
      '\r',
      'tool.ruff.a = 1\n',
      '"a".',
      '[flake8]\n a\n',
      '[flake8]\na = 1\n',
    ],
  ];
  expectLinear((bulk) => toolSection('pyproject.toml', bulk), parts, [SHORT]);
  expectLinear((bulk) => toolSection('setup.cfg', `[flake8]\n${bulk}`), parts, [SHORT]);
});

test('the time that the line of a script takes grows with its length', () => {
  const find = (bulk: string) => {
    const scripts = { test: bulk, [bulk]: 'a' };
    const texts = new Map([['package.json', JSON.stringify({ scripts })]]);
    searchForDeciders({ checks: ['npm test'], texts });
  };
  expectLinear(find, ['a ', 'a*b* ', '* ', 'a#', 'npm:'], [SHORT]);
});

test('the time that a task file, a script and a configuration take grows with their length', () => {
  const find = (file: string, check: string) => (bulk: string) => {
    const texts = new Map([[file, bulk]]);
    searchForDeciders({ checks: [check], texts, byName: [file] });
  };
  const parts = [
    ...['a', ' ', '\t', '\n', ':', '= ', '$(', `\${A}`, '\\\n', '"', "'", '#', '[', '- ', '@'],
    ...['a: a\n', '\tsh a.sh\n', 'A = $(A)$(A)\n', '  a: ', 'include a\n', 'import "a"\n'],
    ...['session.run("a", ', 'extends: ', '"extends": [', "import './a'\n", '/*', '"a", }', '..'],
  ];
  for (const [file, check] of [
    ['Makefile', 'make'],
    ['justfile', 'just'],
    ['Taskfile.yml', 'task'],
    ['tox.ini', 'tox'],
    ['noxfile.py', 'nox'],
    ['deno.json', 'deno task a'],
    ['check.sh', 'sh check.sh'],
    ['vitest.config.ts', 'vitest'],
  ] as const)
    expectLinear(find(file, check), parts, [SHORT]);
});

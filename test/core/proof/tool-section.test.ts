import { describe, expect, test } from 'vitest';
import { toolSection } from '../../../src/core/proof/tool-section.ts';

test('a file that says nothing of dependencies counts as a whole', () => {
  for (const path of ['vitest.config.ts', 'tox.ini', 'package-lock.json', 'x/my.package.json'])
    expect(toolSection(path, 'x')).toBeNull();
});

function same(path: string, a: string, b: string): boolean {
  return toolSection(path, a) === toolSection(path, b);
}

describe('package.json', () => {
  const PATH = 'packages/a/package.json';
  const start = '{"name":"a","dependencies":{"x":"1"},"jest":{"bail":true,"roots":["a","b"]}}';

  test.for([
    ['a dependency', start.replace('"1"', '"2"')],
    ['a script', start.replace('{', '{"scripts":{"x":"y"},')],
    ['the order of keys', '{"jest":{"roots":["a","b"],"bail":true}}'],
    ['white space', start.replaceAll(',', ',\n  ')],
    ['a byte order mark', `\uFEFF${start}`],
  ] as const)('%s is no matter', ([, text]) => {
    expect(same(PATH, start, text)).toBe(true);
  });

  test.for([
    ['a value', start.replace('true', 'false')],
    ['the order of a list', start.replace('"a","b"', '"b","a"')],
    ['a removed section', '{"name":"a"}'],
    ['another tool', start.replace('"name"', '"mocha":{"spec":[]},"name"')],
    ['broken JSON', start.slice(1)],
    ['no object', '[]'],
  ] as const)('%s is', ([, text]) => {
    expect(same(PATH, start, text)).toBe(false);
  });
});

describe('pyproject.toml', () => {
  const PATH = 'pyproject.toml';
  const start = [
    ...['[project]', 'name = "a"', 'dependencies = ["x>=1"]', ''],
    ...['[tool.pytest.ini_options]', 'addopts = "-q # no comment"', 'testpaths = [', '  "a",', ']'],
    ...['[tool.tox]', 'legacy_tox_ini = """', '[project]', 'skip = true', '"""', 'b = 1'],
    ...['[tool.uv]', 'dev-dependencies = ["y"]', '[[tool.mypy.overrides]]', 'module = "a"'],
    ...[
      '[[tool.mypy.overrides]]',
      'module = "b"',
      '[tool.hatch.envs.test]',
      'dependencies = ["z"]',
    ],
  ].join('\n');

  test.for<[string, string, string]>([
    ['a dependency', '"x>=1"', '"x>=2"'],
    ['the table of a package manager', '["y"]', '["y", "z"]'],
    ['the dependencies of a tool', '["z"]', '["zz"]'],
    ['a comment', 'b = 1', 'b = 1 # [tool.ruff]'],
    ['white space', 'b = 1', '\n  b   =   1\n'],
    ['a list on one line', '[\n  "a",\n]', '["a",]'],
    ['quoted keys', '[tool.pytest.ini_options]', '[ "tool" . pytest . \'ini_options\' ]'],
    ['line ends', '\nb = 1\n', '\r\nb = 1\r\n'],
    ['new metadata', '[project]\nname', '[project]\nversion = "1"\nname'],
  ])('%s is no matter', ([, from, to]) => {
    expect(start).toContain(from);
    expect(same(PATH, start, start.replace(from, to))).toBe(true);
  });

  test('dotted keys say the same as tables', () => {
    const table = '[tool.ruff]\nline-length = 100\n[tool.ruff.lint]\nselect = ["E"]\n';
    const dotted = 'tool.ruff.lint.select = ["E"]\ntool.ruff.line-length = 100\n';
    expect(same(PATH, table, dotted)).toBe(true);
    expect(same(PATH, table, `[tool]\nruff.line-length = 100\nruff.lint.select = ["E"]`)).toBe(
      true,
    );
  });

  test.for<[string, string, string]>([
    ['a value', '"-q # no comment"', '"-q # no  comment"'],
    ['a list over several lines', '"a",\n]', '"b",\n]'],
    ['text inside a long string', 'skip = true', 'skip = false'],
    ['what follows a long string', 'b = 1', 'b = 2'],
    ['one of several tables', 'module = "b"', 'module = "c"'],
    ['a new tool', '[tool.uv]', '[tool.coverage.run]\nomit = ["*"]\n[tool.uv]'],
    ['a tool as a dotted key', '[project]\n', 'tool.pytest.ini_options.x = 1\n[project]\n'],
    ['a tool in an inline table', '[project]\n', 'tool = {pytest = {}}\n[project]\n'],
    ['a string that is never closed', 'b = 1', 'b = """1'],
  ])('%s is', ([, from, to]) => {
    expect(start).toContain(from);
    expect(same(PATH, start, start.replace(from, to))).toBe(false);
  });
});

describe('setup.cfg', () => {
  const PATH = 'setup.cfg';
  const start = [
    ...['[metadata]', 'name = a', '[options]', 'install_requires =', '    x', '[tool:pytest]'],
    ...['addopts = -q', 'markers =', '    slow', '    fast', '; said', '[flake8]', 'ignore = E1'],
  ].join('\n');

  test.for<[string, string, string]>([
    ['a dependency', '    x', '    x\n    y'],
    ['a comment', '; said', '# said otherwise'],
    ['white space', 'addopts = -q', 'addopts=-q\n'],
    ['line ends', 'markers =\n', 'markers =\r\n'],
  ])('%s is no matter', ([, from, to]) => {
    expect(start).toContain(from);
    expect(same(PATH, start, start.replace(from, to))).toBe(true);
  });

  test.for<[string, string, string]>([
    ['a value', '-q', '-q --co'],
    ['a continued value', '    fast', '    faster'],
    ['another section', '[flake8]', '[coverage:run]\nomit = *\n[flake8]'],
    ['a section under another name', '[flake8]', '[metadata]'],
    ['a value that became a key', '    slow', 'slow'],
  ])('%s is', ([, from, to]) => {
    expect(start).toContain(from);
    expect(same(PATH, start, start.replace(from, to))).toBe(false);
  });
});

test('of composer.json the scripts count', () => {
  const start = '{"require":{"a":"1"},"scripts":{"test":"phpunit"}}';
  expect(same('composer.json', start, start.replace('"1"', '"2"'))).toBe(true);
  expect(same('composer.json', start, start.replace('phpunit', 'true'))).toBe(false);
  expect(toolSection('composer.json', '{"require":{}}')).toBe('');
});

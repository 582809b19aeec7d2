import { describe, expect, test } from 'vitest';
import { isInstalled, isJudgeName, isTestName } from '../../../src/core/proof/judge-names.ts';

describe('judge files by name', () => {
  test.for([
    ...['vitest.config.ts', 'vitest.config.unit.mts', 'vite.config.js', 'jest.config.cjs'],
    ...[
      '.mocharc',
      '.mocharc.json',
      'playwright.config.ts',
      'conftest.py',
      'pytest.ini',
      'tox.ini',
    ],
    ...['noxfile.py', '.rspec', 'phpunit.xml', 'phpunit.xml.dist', 'Makefile', 'makefile'],
    ...['GNUmakefile', 'rules.mk', 'justfile', 'Justfile', 'Taskfile.yml', 'Taskfile.yaml'],
    ...['turbo.json', 'nx.json', '.cargo/config.toml', 'crates/a/.cargo/config', '.npmrc'],
    ...['eslint.config.mjs', '.eslintrc', '.eslintrc.json', 'biome.json', 'biome.jsonc'],
    ...['tsconfig.json', 'tsconfig.build.json', 'ruff.toml', 'mypy.ini', '.golangci.yml'],
    ...['.golangci.yaml', 'package.json', 'pyproject.toml', 'setup.cfg'],
    ...['packages/a/vitest.config.ts', 'tests/unit/conftest.py', 'deep/er/Makefile'],
  ])('%s', (path) => {
    expect(isJudgeName(path)).toBe(true);
  });

  test.for([
    ...['src/index.ts', 'README.md', 'package-lock.json', 'my-vitest.config.ts', 'Makefile.md'],
    ...['config.toml', 'cargo/config.toml', 'src/makefile/parse.ts', 'xconftest.py', 'biomexjson'],
    ...['vitest.config.d/readme', 'jest/config.js', 'tsconfig/base.json', 'a.test.ts', ''],
    ...['node_modules/a/package.json', 'x/node_modules/a/tsconfig.json', '.venv/lib/conftest.py'],
  ])('not %s', (path) => {
    expect(isJudgeName(path)).toBe(false);
  });
});

describe('test files by name', () => {
  test.for([
    ...['a.test.ts', 'src/a.spec.js', 'test_a.py', 'pkg/test_a.py', 'a_test.go', 'lib/a_test.rb'],
    ...['src/__tests__/a.js', 'src/__snapshots__/a.snap', 'test/a.js', 'tests/b.rs', 'spec/c.rb'],
    ...['packages/a/test/helpers/server.js', 'tests/conftest.py'],
  ])('%s', (path) => {
    expect(isTestName(path)).toBe(true);
  });

  test.for([
    ...['src/a.ts', 'test', 'src/test.ts', 'latest/a.js', 'contest/a.js', 'test_a.js', 'attest.py'],
    ...['src/specification.md', 'node_modules/a/test/b.js', 'my_tests.md'],
  ])('not %s', (path) => {
    expect(isTestName(path)).toBe(false);
  });
});

test('what is installed', () => {
  expect(isInstalled('node_modules/.bin/vitest')).toBe(true);
  expect(isInstalled('.venv/bin/pytest')).toBe(true);
  expect(isInstalled('src/node_modules.ts')).toBe(false);
});

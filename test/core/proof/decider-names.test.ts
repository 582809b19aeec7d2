import { describe, expect, test } from 'vitest';
import { isDeciderName, isInstalled, isTestName } from '../../../src/core/proof/decider-names.ts';

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
    ...[
      'pom.xml',
      'app/build.gradle',
      'build.gradle.kts',
      'settings.gradle',
      'settings.gradle.kts',
    ],
    ...['gradle.properties', 'App.Tests/App.Tests.csproj', 'Directory.Build.props'],
    ...['Directory.Build.targets', 'ci.runsettings', 'CMakeLists.txt', 'lib/CMakeLists.txt'],
    ...['mix.exs', 'deno.json', 'deno.jsonc', 'bunfig.toml', 'babel.config.cjs', '.babelrc'],
    ...['.babelrc.json', '.swcrc', 'pytest.toml', 'rustfmt.toml', 'build.rs', '.prettierrc'],
    ...['.prettierrc.yaml', '.prettierignore', '.rubocop.yml', 'jasmine.json'],
    ...['apps/shop/project.json', 'angular.json', '.pre-commit-config.yaml', 'mise.toml'],
    ...['eslint-suppressions.json', '.oxlintrc.json', 'prettier.config.mjs', '.stylelintrc.json'],
    ...['phpunit.dist.xml', 'phpstan.neon.dist', 'phpstan-baseline.neon', '.pytest.toml'],
    ...['tox.toml', 'ty.toml', '.rustfmt.toml', 'analysis_options.yaml'],
    ...['App.Tests/App.Tests.vbproj', '.editorconfig', 'UnitTests.xctestplan'],
    ...['packages/a/vitest.config.ts', 'tests/unit/conftest.py', 'deep/er/Makefile'],
  ])('%s', (path) => {
    expect(isDeciderName(path)).toBe(true);
  });

  test.for([
    ...['src/index.ts', 'README.md', 'package-lock.json', 'my-vitest.config.ts', 'Makefile.md'],
    ...['config.toml', 'cargo/config.toml', 'src/makefile/parse.ts', 'xconftest.py', 'biomexjson'],
    ...['my-pom.xml', 'build.gradle.md', 'deno.lock', 'src/build.rs.txt', 'babel.js', 'mix.lock'],
    ...['vitest.config.d/readme', 'jest/config.js', 'tsconfig/base.json', 'a.test.ts', ''],
    // Work more often than configuration: each new file of F# is named in its project.
    ...['App/App.fsproj', 'lib/tasks/import.rake'],
    ...['node_modules/a/package.json', 'x/node_modules/a/tsconfig.json', '.venv/lib/conftest.py'],
  ])('not %s', (path) => {
    expect(isDeciderName(path)).toBe(false);
  });
});

describe('test files by name', () => {
  test.for([
    ...['a.test.ts', 'src/a.spec.js', 'test_a.py', 'pkg/test_a.py', 'a_test.go', 'lib/a_test.rb'],
    ...['src/__tests__/a.js', 'src/__snapshots__/a.snap', 'test/a.js', 'tests/b.rs', 'spec/c.rb'],
    ...['packages/a/test/helpers/server.js', 'tests/conftest.py', 'src/App.Test.tsx'],
    // Files, by the defaults of their runners.
    ...['login.cy.ts', 'login.e2e.ts', 'a-test.js', 'lib/a-spec.rb', 'a_spec.lua', 'test-a.mjs'],
    ...['test_a.js', 'test_a.cpp', 'TEST_A.PY', 'app/tests.py', 'src/tests.rs', 'a.snap'],
    ...['out.approved.txt', 'Out.Verified.json', 'login.feature', 'cli.bats', 'login.robot'],
    ...['a.test-d.ts', 'base/file_unittest.cc', 'Zend/tests/a.phpt', 'test.js', 'test.mjs'],
    ...['packages/a/test.ts', 'test.py'],
    // Class names.
    ...['src/CalcTest.php', 'CalcTests.swift', 'a/CalcSpec.scala', 'LoginIT.java', 'HTTPTest.kt'],
    ...['CalcTest.groovy', 'CalcTests.cs', 'CalcTests.fs', 'CalcTests.vb', 'CalcTest.m'],
    ...['CalcSpec.hs', 'Test.java', 'CalcTest.cpp', 'CalcSpec.mm'],
    // Folders.
    ...['App.Tests/Calc.cs', 'App.UnitTests/a.txt', 'Tests/Calc.swift', 'integration-tests/a.sh'],
    ...['src/androidTest/a.xml', 'MyAppUITests/a.swift', 'my_specs/a.rb', 'Specs/a.rb'],
    ...['unittest/a.d', 'unittests/a.cpp', 'src/commonTest/kotlin/a.kt', 'e2e-tests/a.ts'],
    ...['src/__mocks__/fs.js', 'src/__fixtures__/a.json', 'a.spec.ts-snapshots/a.png'],
    ...['testdata/golden.txt', 'test-data/a.csv', 'fixtures/a.yml', 'golden/want.txt'],
    ...['goldens/a.png', 'cassettes/a.yml', 'e2e/login.ts', 'cypress/support/a.js'],
    ...['Fixtures/a.yml', 'step_definitions/a.rb', 't/basic.t', 't/unit/a.t'],
  ])('%s', (path) => {
    expect(isTestName(path)).toBe(true);
  });

  test.for([
    ...[
      'src/a.ts',
      'test',
      'src/test.ts',
      'commands/test.ts',
      'latest/a.js',
      'contest/a.js',
      'attest.py',
    ],
    ...['src/specification.md', 'node_modules/a/test/b.js', 'my_tests.md', 'specification/a.md'],
    ...['src/features/cart.js', 'features/login.js', 'latest.php', 'contest.java', 'Contest.java'],
    ...['Aspect.cs', 'Exit.java', 'audit.php', 'CalcTest.js', 'src/special/a.js', 'CONTEST/a.js'],
    ...['t/lib/Helper.pm', 'src/a.t', 'goldenrod/a.txt', 'e2e.md', 'fixtures', 'testing/a.py'],
    ...['protest/a.js', 'inspect/a.js', 'src/unittested/a.c', 'snapshots/a.txt', 'src/tested.py'],
    ...['.venv/lib/tests/a.py', 'test.md', 'testify.go', 'lib/JIT.cpp', 'lib/Sema/DeclSpec.cpp'],
  ])('not %s', (path) => {
    expect(isTestName(path)).toBe(false);
  });
});

test('what is installed', () => {
  expect(isInstalled('node_modules/.bin/vitest')).toBe(true);
  expect(isInstalled('.venv/bin/pytest')).toBe(true);
  expect(isInstalled('src/node_modules.ts')).toBe(false);
});

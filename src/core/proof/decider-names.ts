/** Matches folders of installed packages. Changes in them are not looked for; checks in a clean checkout avoid them. */
const INSTALLED = /(?:^|\/)(?:node_modules|\.venv|venv|site-packages|\.tox|\.nox)\//;

/** Files that configure a runner, linter, type checker or task tool, as `*` patterns for the last part of the path. */
const DECIDERS = [
  ...['vitest.config.*', 'vitest.workspace.*', 'vite.config.*', 'jest.config.*', '.mocharc*'],
  ...['playwright.config.*', 'cypress.config.*', 'ava.config.*', 'karma.conf.*', '.taprc'],
  ...['.nycrc*', '.c8rc*', 'turbo.json', 'nx.json', 'lerna.json', '.npmrc'],
  ...['eslint.config.*', '.eslintrc*', '.eslintignore', 'biome.json*', 'tsconfig*.json'],
  ...['conftest.py', 'pytest.ini', '.pytest.ini', 'tox.ini', 'noxfile.py', '.coveragerc'],
  ...['ruff.toml', '.ruff.toml', 'mypy.ini', '.mypy.ini', 'pyrightconfig.json', '.flake8'],
  ...['.pylintrc', 'pylintrc', '.rspec', 'phpunit.xml*', 'clippy.toml', '.clippy.toml'],
  ...['nextest.toml', '.golangci.yml', '.golangci.yaml', '.golangci.toml', '.golangci.json'],
  ...['Makefile', 'GNUmakefile', '*.mk', 'justfile', '.justfile', 'Rakefile'],
  ...['Taskfile.yml', 'Taskfile.yaml', 'Taskfile.dist.yml', 'Taskfile.dist.yaml'],
  ...['pom.xml', 'build.gradle', 'build.gradle.kts', 'settings.gradle', 'settings.gradle.kts'],
  ...['gradle.properties', '*.csproj', 'Directory.Build.*', '*.runsettings', 'CMakeLists.txt'],
  ...['mix.exs', 'deno.json', 'deno.jsonc', 'bunfig.toml', 'babel.config.*', '.babelrc*', '.swcrc'],
  ...['pytest.toml', 'rustfmt.toml', 'build.rs', '.prettierrc*', '.prettierignore'],
  ...['.rubocop.yml', 'jasmine.json'],
  ...['vitest.projects.*', 'rstest.config.*', 'wdio.conf.*', 'karma.config.*'],
  ...['web-test-runner.config.*', 'project.json', 'angular.json', '*.xctestplan'],
  ...['.pre-commit-config.yaml', 'mise.toml', '.mise.toml', 'tox.toml', '.pytest.toml'],
  ...['phpunit.dist.xml', 'phpstan*.neon*', 'psalm*.xml*', '.php-cs-fixer*.php', 'pint.json'],
  ...['prettier.config.*', 'stylelint.config.*', '.stylelintrc*', '.stylelintignore'],
  ...['.oxlintrc.json', 'oxlint.config.*', 'eslint-suppressions.json', 'tslint.json'],
  ...['.eslint-bulk-suppressions.json', 'ty.toml', 'pyrefly.toml', '.rustfmt.toml', 'deny.toml'],
  ...['dart_test.yaml', 'analysis_options.yaml', 'xunit.runner.json', '.editorconfig'],
  ...['.globalconfig', '*.vbproj', '.clang-tidy', '.swiftlint.yml', 'detekt.yml'],
  ...['.credo.exs', '.rubocop_todo.yml', '.standard.yml'],
];
/** Files that also list dependencies. Only their sections with settings for tools decide the results of checks. */
const SHARED = ['package.json', 'composer.json', 'pyproject.toml', 'setup.cfg'];
const DECIDER_NAME = new RegExp(
  `(?:^|/)(?:${[...DECIDERS, ...SHARED].map(asPattern).join('|')})$`,
  'i',
);
const CARGO_CONFIG = /(?:^|\/)\.cargo\/config(?:\.toml)?$/;

/** Names of test files by the defaults of test runners, as `*` patterns for the last part; case does not matter. */
const TEST_FILES = [
  ...['*.test.*', '*.spec.*', '*.cy.*', '*.e2e.*', '*-test.*', '*_test.*', '*-spec.*', '*_spec.*'],
  ...['*_unittest.*', '*.test-d.*', '*.spec-d.*', '*.phpt'],
  ...['test-*.*', 'test_*.*', 'tests.py', 'tests.rs', '*.snap', '*.approved.*', '*.verified.*'],
  ...['*.feature', '*.bats', '*.robot'],
];
/** Folders whose files belong to tests; case does not matter. Not `features`: many programs keep their source there. */
const TEST_FOLDERS = [
  ...['__tests__', '__mocks__', '__fixtures__', '__snapshots__', '*-snapshots', 'testdata'],
  ...['test-data', 'fixtures', 'golden', 'goldens', 'cassettes', 'e2e', 'cypress'],
  ...['step_definitions'],
];
/** Matches a test at the top of a package, which runners find by default. Deeper, `test.ts` may be a command's code. */
const TEST_OF_PACKAGE = /^(?:(?:packages|apps|libs)\/[^/]+\/)?test\.(?:[cm]?[jt]sx?|py)$/i;
const TESTS_WORD = 'tests?|specs?|unittests?';
const TEST_NAMES: readonly RegExp[] = [
  new RegExp(`(?:^|/)(?:${TEST_FILES.map(asPattern).join('|')})$`, 'i'),
  // In class names the capital letter matters, since `latest.php` is not a test.
  /(?:Tests?|Spec|IT)\.(?:java|kt|scala|groovy|cs|fs|vb|swift|php|m|hs)$/,
  // `JIT.cpp` and `DeclSpec.cpp` are sources.
  /(?:Tests?\.(?:cpp|cc|cxx)|(?:Tests?|Spec)\.mm)$/,
  new RegExp(`(?:^|/)(?:${TEST_FOLDERS.map(asPattern).join('|')})/`, 'i'),
  new RegExp(`(?:^|/)(?:[^/]*[._-])?(?:${TESTS_WORD})/`, 'i'),
  // Folders such as `androidTest` and `MyAppUITests`.
  /(?:Tests?|Specs?|Unittests?)\//,
  /(?:^|\/)t\/(?:[^/]+\/)*[^/]*\.t$/i,
  TEST_OF_PACKAGE,
];

/** Whether a file's name says that it decides the results of checks. The path is relative, with `/` between folders. */
export function isDeciderName(path: string): boolean {
  return (DECIDER_NAME.test(path) || CARGO_CONFIG.test(path)) && !isInstalled(path);
}

/** Whether a file's name says that it is a test, or belongs to tests. */
export function isTestName(path: string): boolean {
  return TEST_NAMES.some((pattern) => pattern.test(path)) && !isInstalled(path);
}

/** Whether a test file is also a script that decides if a check runs it by its name, as in `node test.js`. */
export function isTestScript(path: string): boolean {
  return TEST_OF_PACKAGE.test(path);
}

/** Whether a file was installed by a package manager. */
export function isInstalled(path: string): boolean {
  return INSTALLED.test(path);
}

function asPattern(glob: string): string {
  return glob.replaceAll('.', '\\.').replaceAll('*', '[^/]*');
}

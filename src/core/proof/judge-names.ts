/** Folders of what is installed: only a clean checkout can answer for them. */
const INSTALLED = /(?:^|\/)(?:node_modules|\.venv|venv|site-packages|\.tox|\.nox)\//;

/** Files that configure a runner, linter, type checker or task tool, as `*` patterns of the last name. */
const JUDGES = [
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
];
/** Files that carry dependencies, too: what they say to tools is all that counts (`toolSection`). */
const SHARED = ['package.json', 'pyproject.toml', 'setup.cfg'];
const JUDGE_NAME = new RegExp(
  `(?:^|/)(?:${[...JUDGES, ...SHARED].map(asPattern).join('|')})$`,
  'i',
);
const CARGO_CONFIG = /(?:^|\/)\.cargo\/config(?:\.toml)?$/;

const TEST_FILE = /(?:^|\/)(?:[^/]*\.(?:test|spec)\.[^/]*|test_[^/]*\.py|[^/]*_test\.[^/]*)$/;
const TEST_FOLDER = /(?:^|\/)(?:__tests__|__snapshots__|tests?|spec)\//;

/** Whether a file decides by its name what checks say. The path is relative, with `/` between folders. */
export function isJudgeName(path: string): boolean {
  return (JUDGE_NAME.test(path) || CARGO_CONFIG.test(path)) && !isInstalled(path);
}

/** Whether a file is a test, or belongs to tests, by its name. */
export function isTestName(path: string): boolean {
  return (TEST_FILE.test(path) || TEST_FOLDER.test(path)) && !isInstalled(path);
}

/** Whether a file was installed by a package manager. */
export function isInstalled(path: string): boolean {
  return INSTALLED.test(path);
}

function asPattern(glob: string): string {
  return glob.replaceAll('.', '\\.').replaceAll('*', '[^/]*');
}

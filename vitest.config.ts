import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { sized } from './test/helpers/fleet-size.ts';
import { NOT_IN_SANDBOX } from './test/helpers/not-in-sandbox.ts';
import { PATIENCE_MS } from './test/helpers/patience.ts';
import { STATE_HOME } from './test/helpers/state-home.ts';

const root = import.meta.dirname;
/** Where scripts/test-sandboxed.ts has built and installed ralph. */
const { RALPH_TEST_SANDBOXED } = process.env;
const BUILD = 'scripts/build-before-tests.js';

/** The folders of tests that need more than Node and git: each has a project of its own. */
const WITH_NEEDS = ['claude', 'agents', 'sandbox', 'fleet'].map((name) => `test/${name}/**`);

/** What they put in the place of a module would stay there for the files after them. */
const mocking = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.ts'))
  .map((name) => join('test', name))
  .filter((path) => readFileSync(join(root, path), 'utf8').includes('vi.mock('));

for (const file of Object.keys(NOT_IN_SANDBOX)) {
  if (!existsSync(join(root, file))) {
    throw new Error(`test/helpers/not-in-sandbox.ts names ${file}, and there is no such file.`);
  }
}

type Settings = NonNullable<TestProjectInlineConfiguration['test']>;

const project = (name: string, settings: Settings): TestProjectInlineConfiguration => ({
  extends: true,
  test: { name, ...settings },
});

/** Only a test that hangs reaches it: a test may wait several times for what should come at once. */
const TIME_LIMIT_MS = 5 * PATIENCE_MS;

/** Most of these tests wait for a process most of the time. */
const USUAL: Settings = {
  globalSetup: BUILD,
  env: { RALPH_TEST_PROCESSES: process.env.RALPH_TEST_PROCESSES ?? 'shared' },
  maxWorkers: 4,
  testTimeout: TIME_LIMIT_MS,
  hookTimeout: TIME_LIMIT_MS,
};

export default defineConfig({
  define: { __RALPH_VERSION__: JSON.stringify('0.0.0-test') },
  test: {
    env: { XDG_STATE_HOME: STATE_HOME },
    // Tests start processes, change the folder and send signals: threads share too much for that.
    pool: 'forks',
    expect: { poll: { timeout: PATIENCE_MS } },
    projects: [
      // A new process with new imports for each file would cost more than most files themselves.
      project('shared', {
        ...USUAL,
        include: ['test/**/*.test.ts'],
        exclude: [...WITH_NEEDS, ...mocking],
        isolate: false,
      }),
      project('alone', { ...USUAL, include: mocking, exclude: WITH_NEEDS }),
      // Most of the time of the real claude is its waits.
      project('claude', {
        include: ['test/claude/**/*.test.ts'],
        globalSetup: [BUILD, 'test/helpers/install-claude.ts'],
        maxWorkers: 2,
        testTimeout: TIME_LIMIT_MS,
        hookTimeout: TIME_LIMIT_MS,
      }),
      // Most of the time of the other real agents is their start.
      project('agents', {
        include: ['test/agents/**/*.test.ts'],
        globalSetup: [BUILD, 'test/helpers/install-agents.ts'],
        maxWorkers: 2,
        testTimeout: TIME_LIMIT_MS,
        hookTimeout: TIME_LIMIT_MS,
      }),
      // Needs bubblewrap, socat and ripgrep, and the component from the registry. Each attempt to get out has a
      // scene of its own without the sandbox: a minute on a loaded machine.
      project('sandbox', {
        include: ['test/sandbox/**/*.test.ts'],
        globalSetup: [BUILD, 'test/helpers/install-sandbox.ts', 'test/helpers/install-claude.ts'],
        maxWorkers: 2,
        testTimeout: TIME_LIMIT_MS,
        hookTimeout: TIME_LIMIT_MS,
      }),
      // The end-to-end tests again, with the sandbox on: not where somebody runs one of them by its path.
      project('sandboxed', {
        include: RALPH_TEST_SANDBOXED === undefined ? [] : ['test/e2e/**/*.test.ts'],
        setupFiles: 'test/helpers/skip-in-sandbox.ts',
        maxWorkers: 2,
        testTimeout: TIME_LIMIT_MS,
        hookTimeout: TIME_LIMIT_MS,
      }),
      // Needs PostgreSQL 15, and pg-boss from the registry. What is held strictly at full size needs the machine for
      // itself.
      project('fleet', {
        include: ['test/fleet/**/*.test.ts'],
        globalSetup: [BUILD, 'test/helpers/install-engine.ts'],
        maxWorkers: sized(2, 1),
        testTimeout: TIME_LIMIT_MS,
        hookTimeout: TIME_LIMIT_MS,
      }),
    ],
  },
});

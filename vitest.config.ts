import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { configDefaults, defineConfig } from 'vitest/config';
import { STATE_HOME } from './test/helpers/state-home.ts';

/** Patterns of tests to leave out, with blanks between them: the option of vitest does not reach projects. */
const { RALPH_TESTS_LEFT_OUT = '' } = process.env;

const exclude = [
  ...configDefaults.exclude,
  'test/claude/**',
  'test/agents/**',
  'test/sandbox/**',
  'test/fleet/**',
  ...RALPH_TESTS_LEFT_OUT.split(' ').filter((pattern) => pattern !== ''),
];

/** What they put in the place of a module would stay there for the files after them. */
const mocking = readdirSync(join(import.meta.dirname, 'test'), {
  recursive: true,
  encoding: 'utf8',
})
  .filter((name) => name.endsWith('.test.ts'))
  .map((name) => join('test', name))
  .filter((path) => readFileSync(join(import.meta.dirname, path), 'utf8').includes('vi.mock('));

export default defineConfig({
  define: { __RALPH_VERSION__: JSON.stringify('0.0.0-test') },
  test: {
    env: { XDG_STATE_HOME: STATE_HOME },
    globalSetup: 'scripts/build-before-tests.js',
    // Tests start processes, change the folder and send signals: threads share too much for that.
    pool: 'forks',
    // Most of them wait for a process most of the time.
    maxWorkers: 4,
    // Only a test that hangs reaches it: on a loaded machine the longest take half of it.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    projects: [
      // A new process with new imports for each file would cost more than most files themselves.
      {
        extends: true,
        test: {
          name: 'shared',
          include: ['test/**/*.test.ts'],
          exclude: [...exclude, ...mocking],
          isolate: false,
        },
      },
      { extends: true, test: { name: 'alone', include: mocking, exclude } },
    ],
  },
});

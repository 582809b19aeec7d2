import { configDefaults, defineConfig } from 'vitest/config';
import { STATE_HOME } from './test/helpers/state-home.ts';

/** Folders whose tests change nothing in their own process: they only calculate, or start others. */
const HARMLESS = ['core', 'loop', 'rescue', 'report', 'docs', 'e2e'].map(
  (folder) => `test/${folder}/**/*.test.ts`,
);

export default defineConfig({
  define: { __RALPH_VERSION__: JSON.stringify('0.0.0-test') },
  test: {
    exclude: [...configDefaults.exclude, 'test/claude/**'],
    env: { XDG_STATE_HOME: STATE_HOME },
    globalSetup: 'scripts/build-before-tests.js',
    // Tests start processes, change the folder and send signals: threads share too much for that.
    pool: 'forks',
    // Most of them wait for a process most of the time.
    maxWorkers: 4,
    testTimeout: 20_000,
    hookTimeout: 20_000,
    // A new process and new imports for each file cost more than most files themselves.
    projects: [
      { extends: true, test: { name: 'shared', include: HARMLESS, isolate: false } },
      {
        extends: true,
        test: {
          name: 'alone',
          include: ['test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, 'test/claude/**', ...HARMLESS],
        },
      },
    ],
  },
});

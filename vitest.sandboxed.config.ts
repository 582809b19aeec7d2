import { defineConfig } from 'vitest/config';
import { STATE_HOME } from './test/helpers/state-home.ts';

// The end-to-end tests with the sandbox on. `scripts/test-sandboxed.ts` has built and installed what they run.
export default defineConfig({
  define: { __RALPH_VERSION__: JSON.stringify('0.0.0-test') },
  test: {
    include: ['test/e2e/**/*.test.ts'],
    env: { XDG_STATE_HOME: STATE_HOME },
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 120_000,
    hookTimeout: 90_000,
  },
});

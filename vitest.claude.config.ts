import { defineConfig } from 'vitest/config';
import { STATE_HOME } from './test/helpers/state-home.ts';

// The tests against a real claude: slow, and one file at a time.
export default defineConfig({
  define: { __RALPH_VERSION__: JSON.stringify('0.0.0-test') },
  test: {
    include: ['test/claude/**/*.test.ts'],
    env: { XDG_STATE_HOME: STATE_HOME },
    globalSetup: ['scripts/build-before-tests.js', 'test/helpers/install-claude.ts'],
    pool: 'forks',
    fileParallelism: false,
    testTimeout: 90_000,
    hookTimeout: 90_000,
  },
});

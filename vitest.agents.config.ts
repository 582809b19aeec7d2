import { defineConfig } from 'vitest/config';
import { STATE_HOME } from './test/helpers/state-home.ts';

// The tests against the other real agents: slow, since most of their time is start-up; two files at a time.
export default defineConfig({
  define: { __RALPH_VERSION__: JSON.stringify('0.0.0-test') },
  test: {
    include: ['test/agents/**/*.test.ts'],
    env: { XDG_STATE_HOME: STATE_HOME },
    globalSetup: ['scripts/build-before-tests.js', 'test/helpers/install-agents.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 170_000,
    hookTimeout: 90_000,
  },
});

import { defineConfig } from 'vitest/config';
import { STATE_HOME } from './test/helpers/state-home.ts';

// The tests of the sandbox: they need bubblewrap, socat and ripgrep, and the component from the registry.
export default defineConfig({
  define: { __RALPH_VERSION__: JSON.stringify('0.0.0-test') },
  test: {
    include: ['test/sandbox/**/*.test.ts'],
    env: { XDG_STATE_HOME: STATE_HOME },
    globalSetup: [
      'scripts/build-before-tests.js',
      'test/helpers/install-sandbox.ts',
      'test/helpers/install-claude.ts',
    ],
    pool: 'forks',
    maxWorkers: 2,
    // Each attempt has a scene of its own without the sandbox: a minute on a loaded machine.
    testTimeout: 300_000,
    hookTimeout: 90_000,
  },
});

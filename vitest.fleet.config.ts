import { defineConfig } from 'vitest/config';
import { sized } from './test/helpers/fleet-size.ts';
import { STATE_HOME } from './test/helpers/state-home.ts';

// The tests of a fleet on a real database: they need PostgreSQL 15, and pg-boss from the registry.
export default defineConfig({
  define: { __RALPH_VERSION__: JSON.stringify('0.0.0-test') },
  test: {
    include: ['test/fleet/**/*.test.ts'],
    env: { XDG_STATE_HOME: STATE_HOME },
    globalSetup: ['scripts/build-before-tests.js', 'test/helpers/install-engine.ts'],
    pool: 'forks',
    // What is held strictly at full size needs the machine for itself.
    maxWorkers: sized(2, 1),
    testTimeout: sized(120_000, 300_000),
    hookTimeout: 120_000,
  },
});

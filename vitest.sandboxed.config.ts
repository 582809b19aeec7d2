import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { NOT_IN_SANDBOX } from './test/helpers/not-in-sandbox.ts';
import { STATE_HOME } from './test/helpers/state-home.ts';

for (const file of Object.keys(NOT_IN_SANDBOX)) {
  if (!existsSync(join(import.meta.dirname, file))) {
    throw new Error(`test/helpers/not-in-sandbox.ts names ${file}, and there is no such file.`);
  }
}

// The end-to-end tests with the sandbox on. `scripts/test-sandboxed.ts` has built and installed what they run.
export default defineConfig({
  define: { __RALPH_VERSION__: JSON.stringify('0.0.0-test') },
  test: {
    include: ['test/e2e/**/*.test.ts'],
    setupFiles: 'test/helpers/skip-in-sandbox.ts',
    env: { XDG_STATE_HOME: STATE_HOME },
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 120_000,
    hookTimeout: 90_000,
  },
});

import type { KnipConfig } from 'knip';

/** With `--production`, tests do not count as users, but a use in the file itself does. */
const config: KnipConfig = {
  entry: [
    'src/cli/main.ts!',
    'src/index.ts!',
    'src/cli/stand-in-agent.ts!',
    'src/effects/processes/guard-program.ts!',
    'src/effects/sandbox/sandbox-helper.ts!',
    // A script of its own, which is loaded only with --sandbox.
    'src/compose/sandbox/run-sandbox.ts!',
    'scripts/*.{js,ts}!',
    // Started as a program of its own.
    'scripts/bench/time-snapshots.ts!',
    'scripts/bench/time-proof.ts!',
    'test/fixtures/**/*.{js,mjs,cjs,ts}',
  ],
  project: ['src/**/*.ts!', 'test/**/*.ts', 'scripts/**/*.{js,ts}'],
  ignoreExportsUsedInFile: process.argv.includes('--production'),
  ignoreBinaries: [
    'make',
    'strace',
    'mkfifo',
    'script',
    'unshare',
    'fish',
    'ip',
    'pg_dump',
    'systemd-analyze',
  ],
};

export default config;

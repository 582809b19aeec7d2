import { describe, expect, test } from 'vitest';
import { readVaultFlags, settleVault } from '../../../src/cli/flags/rescue-flags.ts';
import type { VaultCommand } from '../../../src/core/settings/rescue-settings.ts';

function settled(
  argv: readonly string[],
  name: VaultCommand = 'watch',
  env: NodeJS.ProcessEnv = {},
) {
  const { own, problems } = readVaultFlags(argv, name, env);
  return { ...settleVault(own, {}), problems };
}

const DEFAULTS = {
  stuckAfterMs: 20 * 60_000,
  intervalMs: 30_000,
  concurrency: 1,
  startNew: false,
  problems: [],
};

describe('the flags of rescue and watch alone', () => {
  test.for([
    [[], {}],
    [['--stuck-after', '1h'], { stuckAfterMs: 3_600_000 }],
    [['--stuck-after=1h', '--interval', '5s'], { stuckAfterMs: 3_600_000, intervalMs: 5_000 }],
    [['--interval', '5s', '--interval', '9s'], { intervalMs: 9_000 }],
    [['--start-new', '--concurrency', '3'], { startNew: true, concurrency: 3 }],
    [['--model', '--start-new'], {}],
    [['--', '--start-new'], {}],
    [['--start-new=no'], { problems: ["--start-new takes no value; found '--start-new=no'."] }],
    [['--interval', '--', '5s'], { problems: ['--interval needs a value, but none was given.'] }],
  ] as const)('%j', ([argv, expected]) => {
    expect(settled(argv)).toEqual({ ...DEFAULTS, ...expected });
  });

  test('override their variables, and these override the configuration', () => {
    const env = { RALPH_INTERVAL: '7s', RALPH_CONCURRENCY: '2' };
    expect(settled(['--interval', '5s'], 'watch', env)).toMatchObject({
      intervalMs: 5_000,
      concurrency: 2,
    });
    const { own } = readVaultFlags([], 'watch', env);
    const source = { kind: 'config' as const, where: 'ralph.config.yaml:1' };
    const config = { interval: { value: '1m', source }, stuckAfter: { value: '1m', source } };
    expect(settleVault(own, config)).toMatchObject({ intervalMs: 7_000, stuckAfterMs: 60_000 });
  });

  test('all problems are reported at once', () => {
    const argv = ['--interval', 'soon', '--concurrency', '0', '--task-id', 'x', '--interval'];
    expect(settled(argv, 'watch', { RALPH_STUCK_AFTER: 'late' }).problems).toEqual([
      '--interval needs a value, but none was given.',
      expect.stringMatching(/^RALPH_STUCK_AFTER expects a duration .*'late'/),
      expect.stringMatching(/^--interval expects a duration .*'soon'/),
      expect.stringMatching(/^--concurrency expects a whole number/),
      expect.stringMatching(/^ralph watch takes no --task-id/),
    ]);
  });

  test.for([
    ['--interval', 'rescue'],
    ['--stuck-afer', 'rescue'],
  ] as const)('%s is none of ralph %s', ([flag, name]) => {
    expect(settled([flag], name).problems[0]).toContain(`${flag} is not a flag of ralph ${name}`);
  });

  test('the flags of the runs are passed on to the runs', () => {
    const { flags, env } = readVaultFlags(
      ['--model', 'opus', '--start-new', '--', '--add-dir', 'x'],
      'watch',
      { RALPH_START_NEW: '0', HOME: '/h' },
    );
    expect(flags.layer.model?.value).toEqual(['opus']);
    expect(flags.passthrough).toEqual(['--add-dir', 'x']);
    expect(env).toEqual({ HOME: '/h' });
  });
});

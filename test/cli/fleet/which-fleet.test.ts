import { afterEach, describe, expect, test, vi } from 'vitest';
import { FleetAwayError, FleetError, UsageError } from '../../../src/errors.ts';
import { openNamed } from '../../../src/fleet/cli/on-fleet.ts';
import { type FleetOptions, fleetNamed, requireFleet } from '../../../src/fleet/cli/which-fleet.ts';

const HERE = 'postgres://me@host/fleet';
const THERE = 'postgresql://other/fleet';

afterEach(() => {
  vi.restoreAllMocks();
});

describe('which fleet', () => {
  test.for([
    [{}, {}, null],
    [{}, { RALPH_FLEET: '' }, null],
    [{}, { RALPH_FLEET: HERE }, HERE],
    [{ fleet: THERE }, {}, THERE],
    [{ fleet: THERE }, { RALPH_FLEET: HERE }, THERE],
    [{ vault: '.' }, { RALPH_FLEET: HERE }, null],
    [{ stateDir: '.' }, { RALPH_FLEET: HERE }, null],
    [{}, { RALPH_RUN_ID: 'x' }, null],
    [{ vault: '.' }, { RALPH_FLEET: HERE, RALPH_RUN_ID: 'x' }, null],
  ] as const)('%j with %j: %s', ([options, env, url]) => {
    expect(fleetNamed(options, env)).toBe(url);
  });

  test.for([
    [{ fleet: HERE, vault: '.' }, {}, '--fleet and --vault exclude each other'],
    [{ fleet: HERE, stateDir: '.' }, {}, '--fleet and --state-dir exclude each other'],
    [{ fleet: '' }, {}, '--fleet expects the URL'],
    [{ fleet: 'host/fleet' }, {}, '--fleet expects the URL'],
    [{}, { RALPH_FLEET: 'host/fleet' }, 'RALPH_FLEET expects the URL'],
    [{ fleet: HERE }, { RALPH_RUN_ID: 'x' }, 'refused inside a loop'],
    [{}, { RALPH_FLEET: HERE, RALPH_RUN_ID: 'x' }, 'refused inside a loop'],
  ] as readonly (readonly [FleetOptions, NodeJS.ProcessEnv, string])[])(
    '%j with %j: %s',
    ([options, env, words]) => {
      expect(() => fleetNamed(options, env)).toThrow(UsageError);
      expect(() => fleetNamed(options, env)).toThrow(words);
    },
  );

  test('a command that works on nothing else needs one', () => {
    expect(requireFleet('worker', { fleet: HERE }, {})).toBe(HERE);
    expect(() => requireFleet('worker', {}, {})).toThrow('ralph worker needs a fleet');
    expect(() => requireFleet('worker', {}, { RALPH_RUN_ID: 'x' })).toThrow('inside a loop');
  });

  test('a password in the flag is warned of, and not shown', () => {
    const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    const url = 'postgres://me:hunter2@host/fleet';
    expect(fleetNamed({}, { RALPH_FLEET: url })).toBe(url);
    expect(written).not.toHaveBeenCalled();
    expect(fleetNamed({ fleet: url }, {})).toBe(url);
    const text = written.mock.calls.join('');
    expect(text).toMatch(/^ralph: --fleet has a password in it, which other users see/);
    expect(text).not.toContain('hunter2');
  });
});

describe('opening a fleet', () => {
  test('is tried again while the database is away, for a while', async () => {
    const open = vi.fn().mockRejectedValue(new FleetAwayError('fleet h/d', 'no route'));
    await expect(openNamed(HERE, { open, patienceMs: 0 })).rejects.toMatchObject({ exitCode: 75 });
    expect(open).toHaveBeenCalledTimes(1);
    const later = vi
      .fn()
      .mockRejectedValueOnce(new FleetAwayError('fleet h/d', 'no route'))
      .mockResolvedValue('a fleet');
    expect(await openNamed(HERE, { open: later, retryMs: 0, purpose: 'worker' })).toBe('a fleet');
    expect(later).toHaveBeenLastCalledWith(expect.objectContaining({ purpose: 'worker' }));
  });

  test('is not tried again for any other reason', async () => {
    const open = vi.fn().mockRejectedValue(new FleetError('no tables', 1));
    await expect(openNamed(HERE, { open })).rejects.toThrow('no tables');
    expect(open).toHaveBeenCalledTimes(1);
  });
});

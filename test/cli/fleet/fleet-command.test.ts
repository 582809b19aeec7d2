import { expect, test, vi } from 'vitest';
import { FleetAwayError } from '../../../src/errors.ts';
import { fleet } from '../../../src/fleet/cli/commands/fleet.ts';
import { initNamedFleet } from '../../../src/fleet/cli/init.ts';
import { captureOutput } from '../../helpers/captured-output.ts';

test.for([
  [
    'init',
    undefined,
    { pause: '2h' },
    '--pause is a flag of ralph fleet account, not of ralph fleet init.',
  ],
  [
    'status',
    undefined,
    { lease: '1m' },
    '--lease is a flag of ralph fleet init, not of ralph fleet status.',
  ],
  [
    'account',
    'work',
    { json: true },
    '--json is a flag of ralph fleet status, not of ralph fleet account.',
  ],
  ['status', 'work', {}, "ralph fleet status takes no name, but got 'work'."],
  [
    'account',
    undefined,
    { resume: true },
    'ralph fleet account needs the name of an account; ralph fleet status lists them.',
  ],
] as const)(
  'ralph fleet %s refuses what belongs to another act: %s %o',
  async ([act, name, flags, sentence]) => {
    const options = { fleet: 'postgres://db.example.org/fleet', ...flags };
    await expect(fleet(act, name, options)).rejects.toMatchObject({
      exitCode: 2,
      problems: [sentence],
    });
  },
);

test.for(['9s', '2h', 'soon', '0', '12.5s'])(
  'ralph fleet init refuses the lease %s',
  async (lease) => {
    const options = { fleet: 'postgres://db.example.org/fleet', lease };
    await expect(fleet('init', undefined, options)).rejects.toMatchObject({
      exitCode: 2,
      message: `--lease expects whole seconds from 10s to 1h, such as 2m; found '${lease}'.`,
    });
  },
);

test('ralph fleet init tries again while the database is starting, for a while', async () => {
  const away = new FleetAwayError('fleet h/d', 'it is starting up');
  const versions = { from: null, to: 1 };
  const done = { name: 'fleet h/d', engine: versions, tables: versions, leaseMs: 120_000 };
  const init = vi.fn().mockRejectedValueOnce(away).mockResolvedValue(done);
  const said = captureOutput();
  expect(await initNamedFleet('postgres://h/d', undefined, { init, retryMs: 0 })).toBe(0);
  expect(said.out()).toContain('lease: 2m');
  const never = { init: vi.fn().mockRejectedValue(away), patienceMs: 0 };
  await expect(initNamedFleet('postgres://h/d', undefined, never)).rejects.toBe(away);
});

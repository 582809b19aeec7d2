import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hasNamespaces } from '../helpers/fleet-hosts.ts';
import { type FleetSite, makeFleetSite } from '../helpers/fleet-site.ts';
import { isHere } from '../helpers/machine-needs.ts';
import { PATIENCE_MS } from '../helpers/patience.ts';

let site: FleetSite;

beforeAll(async () => {
  site = await makeFleetSite(2);
});
afterAll(() => site?.remove());

function on(host: FleetSite['hosts']['base'], ...command: readonly string[]): string {
  const [program = '', ...words] = [...host.under, ...command];
  const env = { ...process.env, ...host.env };
  return execFileSync(program, words, {
    encoding: 'utf8',
    timeout: PATIENCE_MS,
    env,
    stdio: 'pipe',
  });
}

test.skipIf(!hasNamespaces())(
  'the hosts reach the database and the repositories until they are cut off',
  async () => {
    const [first, second] = site.hosts.hosts;
    if (first === undefined || second === undefined) throw new Error('two hosts were asked for');
    const origin = site.makeOrigin();
    const database = site.postgres.hostUrl(await site.postgres.emptyUrl());
    const look = (host: typeof first) => [
      on(host, 'uname', '-n').trim(),
      on(host, 'git', 'ls-remote', origin.url).includes('refs/heads/main'),
      on(
        host,
        'psql',
        '-X',
        '-A',
        '-t',
        '-d',
        `${database}?connect_timeout=2`,
        '-c',
        'select 1',
      ).trim(),
    ];
    expect(look(first)).toEqual(['host1', true, '1']);
    expect(look(second)).toEqual(['host2', true, '1']);

    await first.cut();
    expect(() => look(first)).toThrow();
    expect(look(second)).toEqual(['host2', true, '1']);
    await first.heal();
    expect(look(first)).toEqual(['host1', true, '1']);
  },
);

test('nothing is left of a site that was removed', async () => {
  const gone = await makeFleetSite(1);
  const [host] = gone.hosts.hosts;
  expect(gone.hosts.base.pids().length).toBeGreaterThanOrEqual(0);
  await gone.remove();
  expect([gone.hosts.base.pids(), host?.pids(), existsSync(gone.folder)]).toEqual([[], [], false]);
});

test.runIf(process.platform === 'linux' && process.getuid?.() === 0)(
  'in CI what a test needs has to be there, and elsewhere its tests are left out',
  () => {
    expect(() => isHere('strace', false, { CI: 'true' })).toThrow('strace is missing');
    expect(isHere('strace', true, { CI: 'true' })).toBe(true);
    expect(isHere('strace', false, {})).toBe(false);
  },
);

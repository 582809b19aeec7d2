import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { planLeg } from '../../../src/compose/leg/leg-plan.ts';
import { makeLegFolder } from '../../../src/compose/leg/worker-home.ts';
import { readWorkerPolicy } from '../../../src/core/fleet/worker-policy.ts';
import { specWith } from '../../helpers/fleet-specs.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

/** A worker's folder with a leg, and what leads from there to other tasks and to the database. */
async function worldOf(policy: unknown) {
  const home = await tempFolder();
  const folder = makeLegFolder(home, 'a', 1, 'run');
  mkdirSync(folder.tree);
  const passwords = join(home, 'pgpass');
  writeFileSync(passwords, '');
  const read = readWorkerPolicy(policy);
  if (!('policy' in read)) throw new Error(read.problems.join('\n'));
  const env = { PATH: '/bin', PGPASSFILE: passwords, RALPH_FLEET: 'postgres://h/f' };
  const hidden = [home, passwords, join(home, 'missing')];
  const plan = await planLeg(specWith(), folder, {
    ...{ env, accounts: null, policy: read.policy, hidden },
  });
  return { home, tree: folder.tree, passwords, plan };
}

test('in the sandbox, a task sees its own tree of what belongs to the worker', async () => {
  const policy = { sandbox: true, deny_read: ['/srv/keys'], allow_read: ['/srv/docs'] };
  const { plan, home, tree, passwords } = await worldOf(policy);
  const { sandbox, denyRead, allowRead } = plan.settings;
  expect({ sandbox, denyRead, allowRead }).toEqual({
    sandbox: true,
    denyRead: ['/srv/keys', home, passwords],
    allowRead: ['/srv/docs', tree],
  });
});

test('the environment of a task does not lead to the database', async () => {
  const { plan } = await worldOf({});
  expect(plan.env).toEqual({ PATH: '/bin' });
});

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { resolveSettings } from '../../../src/core/settings/resolve-settings.ts';
import { judgeByPolicy } from '../../../src/fleet/core/judge-by-policy.ts';
import { DEFAULT_POLICY, readWorkerPolicy } from '../../../src/fleet/core/worker-policy.ts';
import { planLeg } from '../../../src/fleet/leg/leg-plan.ts';
import { makeLegFolder } from '../../../src/fleet/leg/worker-home.ts';
import { specWith } from '../../helpers/fleet-specs.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

/** A worker's folder with a leg, and what leads from there to other tasks and to the database. */
async function worldOf(policy: unknown, spec = specWith()) {
  const home = await tempFolder();
  const folder = makeLegFolder(home, 'a', 1, 'run');
  mkdirSync(folder.tree);
  const passwords = join(home, 'pgpass');
  writeFileSync(passwords, '');
  const read = readWorkerPolicy(policy);
  if (!('policy' in read)) throw new Error(read.problems.join('\n'));
  const env = { PATH: '/bin', PGPASSFILE: passwords, RALPH_FLEET: 'postgres://h/f' };
  const hidden = [home, passwords, join(home, 'missing')];
  const plan = await planLeg(spec, folder, {
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

test('the type of a task adds nothing to the settings that the policy has judged', async () => {
  const whole = specWith({ taskType: 'coding' });
  const { maxIterations: _, timeout: __, ...settings } = whole.settings;
  const { plan } = await worldOf({}, { ...whole, settings });
  expect(judgeByPolicy({ ...whole, settings }, DEFAULT_POLICY)).toBeNull();
  const { settings: ordinary } = resolveSettings([]);
  expect(plan.policy.maxIterations).toBe(ordinary.maxIterations);
  expect(plan.taskTimeoutMs).toBe(ordinary.timeout);
});

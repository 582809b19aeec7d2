import { expect, test } from 'vitest';
import { runRalph } from '../../../helpers/run-ralph.ts';
import { tempFolder } from '../../../helpers/temp-folder.ts';

const FLEET = { RALPH_FLEET: 'postgres://host/fleet' };

/** What `ralph diff t` says of a task that this machine does not have. */
async function said(env: Record<string, string>, args: readonly string[] = []): Promise<string> {
  const cwd = await tempFolder();
  const { exitCode, stderr } = await runRalph(['diff', 't', ...args], { cwd, env });
  expect(exitCode).toBe(1);
  return stderr;
}

test('where a fleet is named, an unknown task may be in it', async () => {
  const lines = (await said(FLEET)).trimEnd().split('\n');
  expect(lines[0]).toContain("there is no task 't' in ");
  expect(lines[0]).toMatch(/ ralph diff works on tasks of this machine alone\.$/);
  expect(lines[1]).toMatch(/^(?:ralph: )?to look in the fleet: .* status t$/);
});

test.for([
  ['no fleet is named', {}, []],
  ['a vault is named', FLEET, ['--vault', '.']],
  ['an agent asks', { ...FLEET, RALPH_RUN_ID: 'x' }, []],
] as const)('%s: no word of a fleet', async ([, env, args]) => {
  expect(await said(env, args)).not.toContain('fleet');
});

import { describe, expect, test } from 'vitest';
import { PERMISSIONS, programsBeyond, rightsOf } from '../../../src/core/rescue/task-rights.ts';
import { resolveSettings } from '../../../src/core/settings/resolve-settings.ts';
import { type Layer, withSettings } from '../../../src/core/settings/setting-source.ts';
import { type SettingName, settingNamesNeedingTrust } from '../../../src/core/settings/settings.ts';
import { checks } from '../../helpers/checks.ts';

/** Settings as if these had been given as flags. */
function given(values: Partial<Record<SettingName, unknown>>) {
  const layer: Layer = Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      { value, source: { kind: 'flag', where: name } },
    ]),
  );
  return resolveSettings([layer]).settings;
}

/** Where an agent works and whose words it is given: neither starts a program nor allows one. */
const PLACES: readonly SettingName[] = [
  ...(['agent', 'promptFile', 'cwd', 'vault', 'stateDir'] as const),
  ...(['worktree', 'worktreeDir', 'base', 'copy', 'shareWorktree'] as const),
  // What is kept, and how commits look.
  ...(['snapshots', 'snapshotExclude', 'commitMessage', 'protectBranch'] as const),
  // When checks run, which are named themselves, and what is accepted besides.
  ...(['verifyEach', 'baseline', 'knownFailures', 'verifyClean', 'proof'] as const),
  ...(['acceptEmpty', 'acceptChanged', 'acceptFailed', 'acceptFewer'] as const),
  // Who reads a claim, and by what: it may hold the claim, and changes nothing.
  ...(['judge', 'criterion', 'criteria', 'judgeRounds'] as const),
  // Named by the flag that turns it off: see below.
  'sandboxChecks',
];

describe('the rights of a task', () => {
  test.for(settingNamesNeedingTrust().filter((name) => !PLACES.includes(name)))(
    'name %s, which needs trust in a configuration',
    (name) => {
      const texts = name === 'allowedTools' || name === 'acceptRefused' ? ['x'] : 'x';
      const value = name === 'verify' ? checks('x') : texts;
      const settings = { ...given({}), [name]: value };
      const isNamed = rightsOf(settings, []).some((flag) => flag.includes("'x'"));
      expect([name, isNamed]).toEqual([name, true]);
    },
  );

  test('name the sandbox, what it allows, and that checks run outside', () => {
    const settings = given({ sandbox: true, allowNet: 'a.example.com', sandboxChecks: false });
    expect(rightsOf(settings, [])).toEqual([
      '--sandbox',
      "--allow-net 'a.example.com'",
      '--no-sandbox-checks',
    ]);
  });

  test('are none by default', () => {
    expect(rightsOf(given({}), [])).toEqual([]);
  });

  test('are one line each, without what acts on a terminal', () => {
    const settings = given({ verify: 'npm\n\u001b[2Jtest', dangerouslySkipPermissions: true });
    expect(rightsOf(settings, ['--mcp-config', 'x'])).toEqual([
      "--verify 'npm test'",
      '--dangerously-skip-permissions',
      '-- --mcp-config x',
    ]);
  });
});

describe('a pass over the vault', () => {
  test('finds the programs of a task that it was not given itself', () => {
    const task = given({ verify: 'a', after: 'b' });
    expect(programsBeyond(task, given({}))).toEqual(["--verify 'a'", "--after 'b'"]);
    expect(programsBeyond(task, given({ verify: 'a', after: 'other' }))).toEqual(["--after 'b'"]);
    expect(programsBeyond(task, task)).toEqual([]);
    expect(programsBeyond(given({}), task)).toEqual([]);
  });

  test('finds those of several checks, however much they begin alike', () => {
    const long = 'x'.repeat(300);
    const task = given({ verify: ['a', 'b', `${long}1`] });
    const pass = given({ verify: { other: 'b', c: `${long}2` } });
    expect(programsBeyond(task, pass)).toEqual(["--verify 'a'", `--verify '${'x'.repeat(199)}…'`]);
    expect(programsBeyond(given({ verify: { unit: 'a' } }), task)).toEqual([]);
  });

  test('gives all its own permissions, also where it has none', () => {
    const { sources } = resolveSettings([]);
    const own = {
      permissionMode: 'plan',
      allowedTools: ['Bash'],
      dangerouslySkipPermissions: true,
      acceptRefused: ['*'],
      keepBackground: true,
    };
    const bare = { settings: given({}), sources };
    const task = { settings: given(own), sources };
    expect(withSettings(task, bare, PERMISSIONS).settings).toEqual(bare.settings);
    expect(withSettings(bare, task, PERMISSIONS).settings).toEqual(task.settings);
  });
});

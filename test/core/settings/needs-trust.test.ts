import { describe, expect, test } from 'vitest';
import {
  settingsNeedingTrust,
  trustedSettingsInForce,
} from '../../../src/core/settings/needs-trust.ts';
import { resolveSettings } from '../../../src/core/settings/resolve-settings.ts';
import type { SettingRow } from '../../../src/core/settings/rows/setting-row.ts';
import type { Layer } from '../../../src/core/settings/setting-source.ts';
import {
  keyOf,
  SETTINGS,
  type SettingName,
  settingNames,
  settingNamesNeedingTrust,
} from '../../../src/core/settings/settings.ts';

function layer(kind: 'config' | 'flag', values: Partial<Record<SettingName, unknown>>): Layer {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, { value, source: { kind, where: name } }]),
  );
}

test('exactly these settings need trust, and each has a key', () => {
  // Written out here: a row that loses its mark is a hole that nobody sees.
  expect(settingNamesNeedingTrust().toSorted()).toEqual(
    [
      ...['acceptRefused', 'after', 'agent', 'agentCommand', 'allowedTools', 'agentBin', 'cwd'],
      ...[
        'dangerouslySkipPermissions',
        'edit',
        'keepBackground',
        'onEnd',
        'permissionMode',
        'promptFile',
      ],
      ...['stateDir', 'until', 'vault', 'verify'],
      ...['baseline', 'knownFailures', 'verifyEach'],
      ...['acceptChanged', 'acceptEmpty', 'acceptFailed', 'acceptFewer', 'proof', 'verifyClean'],
      ...['base', 'commit', 'commitMessage', 'copy', 'protectBranch', 'revertFailed', 'setup'],
      ...['shareWorktree', 'snapshotExclude', 'snapshots', 'worktree', 'worktreeDir'],
      ...['criteria', 'criterion', 'judge', 'judgeCommand', 'judgeRounds'],
      ...['allowNet', 'allowRead', 'allowUnixSockets', 'allowWrite', 'keepEnv'],
      ...['sandbox', 'sandboxChecks'],
    ].toSorted(),
  );
  expect(settingNamesNeedingTrust().filter((name) => keyOf(name) === null)).toEqual([]);
});

test.for([
  { kind: 'command' },
  { kind: 'command', isSplit: true },
  { kind: 'checks' },
  { kind: 'agent-texts', ofPrograms: true },
] as const)('a row with a program, %j, does not compile without trust', (type) => {
  const row = { ...SETTINGS.until, type, rescue: 'program' as const };
  const trusted: SettingRow = { ...row, trust: true };
  // @ts-expect-error: a configuration that was found could name the program.
  const untrusted: SettingRow = { ...row, trust: false };
  // @ts-expect-error: a task that a pass takes over could.
  const taken: SettingRow = { ...row, trust: true, rescue: 'own' };
  expect([untrusted, taken]).not.toContainEqual(trusted);
});

describe('the settings of a configuration that need trust', () => {
  test('have the keys of the file and the order of the help', () => {
    const config = layer('config', { onEnd: 'b', retries: 3, verify: 'a', keepBackground: false });
    expect(settingsNeedingTrust(config, {})).toEqual([
      { name: 'verify', key: 'verify', value: 'a' },
      { name: 'keepBackground', key: 'keep_background', value: false },
      { name: 'onEnd', key: 'on_end', value: 'b' },
    ]);
  });

  test('include walls of the sandbox that are lifted, not those that stand by default', () => {
    const lifted = { allowWrite: '/cache', allowUnixSockets: true, sandboxChecks: 'no' };
    const keys = (values: Partial<Record<SettingName, unknown>>) =>
      settingsNeedingTrust(layer('config', values), {}).map(({ key }) => key);
    expect(keys(lifted)).toEqual(['allow_write', 'allow_unix_sockets', 'sandbox_checks']);
    expect(keys({ sandboxChecks: 'perhaps', allowNet: [3] })).toEqual([
      'allow_net',
      'sandbox_checks',
    ]);
    expect(keys({ sandbox: false })).toEqual(['sandbox']);
    expect(keys({ sandbox: 'perhaps' })).toEqual(['sandbox']);
    const standing = { allowWrite: [], allowUnixSockets: false, sandboxChecks: true };
    expect(keys({ ...standing, sandbox: true, denyRead: '~' })).toEqual([]);
  });

  test('include those of ralph watch', () => {
    const source = { kind: 'config' as const, where: 'c' };
    const vault = { startNew: { value: true, source }, interval: { value: '1s', source } };
    const power = { name: 'startNew' as const, key: 'start_new', value: true };
    expect(settingsNeedingTrust({}, vault)).toEqual([power]);
    expect(trustedSettingsInForce([power], resolveSettings([]).sources)).toEqual([]);
  });

  test('are none if it sets only harmless settings', () => {
    const others = settingNames().filter((name) => !settingNamesNeedingTrust().includes(name));
    const values = Object.fromEntries(others.map((name) => [name, 'x']));
    expect(settingsNeedingTrust(layer('config', values), {})).toEqual([]);
  });

  test('are in force unless a flag overrides them or their group', () => {
    const config = layer('config', { verify: 'a', after: 'b', agentCommand: 'c', promptFile: 'd' });
    const flags = layer('flag', { verify: 'mine', agent: 'claude', prompt: 'Do it' });
    const { sources } = resolveSettings([flags, config]);
    expect(
      trustedSettingsInForce(settingsNeedingTrust(config, {}), sources).map(({ key }) => key),
    ).toEqual(['after']);
  });
});

import { expect, test } from 'vitest';
import { resolveSettings } from '../../../src/core/settings/resolve-settings.ts';
import {
  SETTINGS,
  type SettingName,
  settingNames,
  settingsWith,
} from '../../../src/core/settings/settings.ts';
import {
  isFleetSpec,
  specContent,
  specSettings,
  withFleetDefaults,
} from '../../../src/fleet/core/fleet-spec.ts';
import { submittedSettings, whyNotSubmitted } from '../../../src/fleet/core/submitted-settings.ts';
import { flagLayer, specWith } from '../../helpers/fleet-specs.ts';

/** A value of each setting that is not its default. */
const VALUES = {
  ...{ promise: 'DONE', match: 'tag', watchGlob: ['out/*.md'], watchExisting: true },
  ...{ watchFile: 'a.md', doneFolder: 'Done', until: 'test -e x', signal: ['all done'] },
  ...{ planFile: 'plan.md', confirm: '2', minIterations: '2', protect: ['test/**'] },
  ...{ acceptRefused: ['*'], abortPromise: 'GIVE_UP', askBack: false },
  ...{ verify: ['npm test', 'npm run lint'], verifyEach: true, baseline: false },
  ...{ knownFailures: 'allow', proof: 'hold', verifyClean: true, acceptEmpty: true },
  ...{
    acceptChanged: ['x'],
    acceptFailed: true,
    acceptFewer: true,
    planSection: ['Now'],
    maxIterations: '9',
  },
  ...{ iterationTimeout: '1h30m', idleTimeout: '90s', timeout: '8h', delay: '0', maxCost: '2.5' },
  ...{ maxUsage: '80%', noProgressLimit: '0', sameErrorLimit: '1', retries: '2', maxWait: '1h' },
  ...{ taskType: 'coding', supervise: false, sameFailingLimit: '1', sameCallLimit: '2' },
  ...{ refusedLimit: '3', maxIterationTokens: '100000', maxSubagents: '4' },
  ...{ agent: 'command', agentCommand: 'node agent.js', model: ['opus'] },
  ...{ permissionMode: 'plan', allowedTools: ['Edit,Bash(git log:*)'] },
  ...{ edit: true, dangerouslySkipPermissions: true, session: 'continue', context: 'none' },
  ...{ contextChars: '5', snapshotLimit: '1GB', snapshotExclude: ['*.bin'], commit: true },
  ...{ commitMessage: '{summary}', protectBranch: ['release'], revertFailed: true },
  ...{ judge: 'codex:gpt-5', noJudge: true, judgeCommand: 'j', judgeRounds: '2' },
  ...{ criterion: ['it is there'] },
  ...{ after: 'echo a', onEnd: 'echo b', approvalTimeout: '2d', logLimit: '64KB' },
} satisfies Partial<Record<SettingName, unknown>>;

test('every setting that a task has is tried here', () => {
  expect(Object.keys(VALUES).sort()).toEqual([...submittedSettings()].sort());
});

test('all settings come back from a spec as they were, with their sources', () => {
  const before = withFleetDefaults(resolveSettings([flagLayer({ ...VALUES, setup: 'npm ci' })]));
  const spec = specWith({ ...VALUES, setup: 'npm ci' });
  const stored: unknown = JSON.parse(JSON.stringify(spec));
  if (!isFleetSpec(stored)) throw new Error('not a spec');
  const { settings, sources, problems } = resolveSettings([specSettings(stored)]);
  expect(problems).toEqual([]);
  for (const name of [...submittedSettings(), 'setup' as const]) {
    expect({ name, value: settings[name] }).toEqual({ name, value: before.settings[name] });
    expect(sources[name]).toEqual(before.sources[name]);
  }
  expect(settings).toMatchObject({ prompt: 'Fix it', taskId: 't', setup: 'npm ci', base: null });
});

test('defaults stay defaults, but that of --max-wait is 7 days', () => {
  const spec = specWith();
  expect(spec.settings.maxWait).toEqual({ value: 604_800_000, source: 'default', from: 'default' });
  const { settings, sources } = resolveSettings([specSettings(spec)]);
  const defaults = resolveSettings([]);
  for (const name of submittedSettings()) {
    expect(sources[name]).toEqual({ kind: 'default', where: 'default' });
    if (name !== 'maxWait') expect(settings[name]).toEqual(defaults.settings[name]);
  }
  expect(settings.maxWait).toBe(604_800_000);
  expect(specWith({ maxWait: '6h' }).settings.maxWait?.value).toBe(21_600_000);
});

test('no setting that concerns one machine is stored, or taken from what somebody else stored', () => {
  const machine: readonly SettingName[] = [
    ...settingNames().filter((name) => whyNotSubmitted(name) !== null),
    // Its file is one of whoever submits: their ralph has read it.
    'criteria',
  ];
  expect(machine).toEqual(expect.arrayContaining(['vault', 'cwd', 'agentBin', 'sandbox', 'copy']));
  const forged = Object.fromEntries(
    machine.map((name) => [name, { value: 'x', source: 'x', from: 'flag' as const }]),
  );
  const plain = specWith({ cwd: '/etc', agentBin: ['/tmp/x'], criteria: '/etc/passwd' });
  expect(Object.keys(plain.settings).filter((name) => name in forged)).toEqual([]);
  const layer = specSettings({ ...plain, settings: { ...plain.settings, ...forged } });
  expect(Object.keys(layer).filter((name) => name in forged)).toEqual([]);
});

test('a setting that names files leads to none outside of the work tree', () => {
  const files = submittedSettings().filter((name) =>
    ['FILE', 'DIR', 'GLOB', 'PATH'].includes(SETTINGS[name].argument ?? ''),
  );
  // These only choose among the names that git lists.
  const names = ['acceptChanged', 'snapshotExclude'];
  expect(files.filter((name) => !names.includes(name))).toEqual(settingsWith({ fleet: 'path' }));
});

test('the content is the same for the same values, wherever they came from', () => {
  const content = specContent(specWith({ maxIterations: '9' }));
  const variable = { kind: 'variable' as const, where: 'RALPH_MAX_ITERATIONS' };
  const byVariable = specWith({ maxIterations: '9' });
  const other = {
    ...byVariable,
    settings: {
      ...byVariable.settings,
      maxIterations: { value: 9, source: variable.where, from: variable.kind },
    },
  };
  expect(specContent(other)).toBe(content);
  expect(specContent(specWith({ maxIterations: '9', delay: '2s' }))).toBe(content);
  expect(specContent({ ...byVariable, schema: 2 })).toBe(content);
  const reversed = Object.fromEntries(Object.entries(byVariable).reverse());
  expect(isFleetSpec(reversed) && specContent(reversed)).toBe(content);
  const { delay, ...fewer } = byVariable.settings;
  expect(specContent({ ...byVariable, settings: fewer })).toBe(content);
});

test.for([
  { prompt: 'Other' },
  { task_type: 'coding' },
  { repo: 'https://example.com/other' },
  { base: 'main' },
  { subdir: 'api' },
  { branch: 'x' },
  { setup: 'npm ci' },
  { priority: 1 },
  { account: 'a' },
  { queue: 'q' },
  { passthrough: ['--x'] },
])('other content: %j', (change) => {
  const spec = specWith();
  expect(specContent({ ...spec, ...change })).not.toBe(specContent(spec));
  expect(specContent(specWith({ maxIterations: '6' }))).not.toBe(specContent(spec));
});

test('a list of checks is no setting that is nested too deep', () => {
  const spec = specWith({ verify: ['npm test', 'npm run lint'] });
  expect(spec.settings.verify?.value).toMatchObject([{ command: 'npm test' }, {}]);
  expect(isFleetSpec(spec)).toBe(true);
});

test.for([
  ['nothing', null],
  ['a list', []],
  ['a text', 'spec'],
  ['no field', {}],
  ['a number for a text', { ...specWith(), repo: 1 }],
  ['a field missing', { ...specWith(), base: undefined }],
  ['a text for a number', { ...specWith(), priority: 'high' }],
  ['a number for a word', { ...specWith(), passthrough: [1] }],
  ['a list of settings', { ...specWith(), settings: [] }],
  ['a setting without a source', { ...specWith(), settings: { agent: 'claude' } }],
  [
    'a setting that is nested too deep',
    {
      ...specWith(),
      settings: { model: { value: [[[['x']]]], source: '--model', from: 'flag' } },
    },
  ],
] as const)('is no spec: %s', ([, data]) => {
  expect(isFleetSpec(data)).toBe(false);
});

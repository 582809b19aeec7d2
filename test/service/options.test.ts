import { type RunTaskOptions, runTask, UsageError } from 'ralph-headless';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { parseValue } from '../../src/core/settings/parse-value.ts';
import type { SettingKind } from '../../src/core/settings/rows/setting-row.ts';
import { layerOf } from '../../src/core/settings/setting-source.ts';
import { choicesOf, SETTINGS, settingNames } from '../../src/core/settings/settings.ts';
import type { RunTaskOptions as SourceOptions } from '../../src/service/run-task-options.ts';
import { makeScene } from '../helpers/scene.ts';

// What the types of the options promise, and what a run accepts.

test('the options of the package have the types that the source has', () => {
  expectTypeOf<RunTaskOptions>().toEqualTypeOf<SourceOptions>();
});

/** A value in each form that the type of an option has. */
const FORMS: Readonly<Record<SettingKind['kind'], readonly unknown[]>> = {
  text: ['x'],
  command: ['npm test'],
  texts: ['x', ['x', 'y']],
  checks: ['npm test', ['npm test'], [{ name: 'unit', command: 'npm test' }, 'npm run lint']],
  'agent-texts': ['x', ['claude=x', 'codex=y'], { claude: 'x', codex: 'y' }],
  switch: [true, false],
  count: [1, 100_000],
  duration: [60_000, '1h30m'],
  size: [65_536, '50MB'],
  cost: [2, 0.5],
  percent: [80, '80%'],
  choice: [],
  choices: ['claude', ['claude', 'codex']],
};

test.for(settingNames())('the value of %s is accepted in each form of its type', (name) => {
  const row = SETTINGS[name];
  const forms = [...FORMS[row.type.kind], ...choicesOf(row)];
  expect(forms).not.toEqual([]);
  for (const form of forms) {
    const layer = layerOf({ [name]: form }, () => ({ kind: 'flag', where: name }));
    expect(parseValue(row.type, layer[name]?.value)).toHaveProperty('value');
  }
});

/** Plans a task, and ends it before its agent would start. */
async function plan(options: RunTaskOptions): Promise<unknown> {
  const { folder, env } = await makeScene();
  const place = { vault: folder, cwd: folder, env: { ...env }, signal: AbortSignal.abort() };
  return runTask({ prompt: 'Fix it', ...place, ...options }).then(
    ({ status }) => status,
    (error: unknown) => error,
  );
}

describe('a task is planned with', () => {
  test.for<RunTaskOptions>([
    { verify: 'npm test' },
    { verify: ['npm test', { name: 'lint', command: 'npm run lint' }] },
    { watchGlob: 'docs/*.md', protect: ['test/**'], allowedTools: 'Edit' },
    { signals: 'ALL DONE' },
    { agent: ['claude', 'codex'], model: { claude: 'opus', codex: 'gpt-5' } },
    { model: 'opus', agentBin: ['/usr/bin/true'] },
    { maxIterations: 3, timeout: '1h', delay: 0, logLimit: '1MB', maxCost: 0.5, maxUsage: '80%' },
    { edit: true, askBack: false, until: 'npm test' },
  ])('%j', async (options) => {
    expect(await plan(options)).toBe('stopped');
  });
});

describe('the types and the run refuse', () => {
  test.for<RunTaskOptions>([
    // @ts-expect-error: a number is no text
    { promise: 5 },
    // @ts-expect-error: nor is it a command
    { until: 1 },
    // @ts-expect-error: a word is no switch
    { edit: 'please' },
    // @ts-expect-error: nor is a number
    { baseline: 2 },
    // @ts-expect-error: a word is no number
    { confirm: 'twice' },
    // @ts-expect-error: a check has a command
    { verify: [{ name: 'unit' }] },
    // @ts-expect-error: it is none of the choices
    { match: 'exactly' },
    // @ts-expect-error: it is no agent
    { agent: 'ralph' },
    // @ts-expect-error: it is for the command line
    { dryRun: true },
    // @ts-expect-error: it is no option
    { maxIteration: 3 },
  ])('%j', async (options) => {
    expect(await plan(options)).toBeInstanceOf(UsageError);
  });

  test('a setting of the command line, with what to do instead', async () => {
    const error = await plan({ resumeIfOpen: true } as RunTaskOptions);
    expect((error as UsageError).problems).toEqual([
      'resumeIfOpen is for the command line: resume names the task to resume.',
    ]);
  });
});

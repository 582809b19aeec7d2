import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readFlags } from '../../../src/cli/flags/flags.ts';
import { collectSettings } from '../../../src/cli/settings/collect.ts';
import { parseDuration } from '../../../src/core/settings/duration.ts';
import { settingsFromEnvironment } from '../../../src/core/settings/environment.ts';
import { parseSize } from '../../../src/core/settings/parse-value.ts';
import {
  isRepeatable,
  keyOf,
  SETTINGS,
  type SettingName,
  settingNames,
  variableOf,
} from '../../../src/core/settings/settings.ts';
import { settingsProblems } from '../../../src/core/settings/settings-problems.ts';
import { isPayment, TASK_TYPES } from '../../../src/core/settings/task-type.ts';
import { checks } from '../../helpers/checks.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';
import { writeTrusted } from '../../helpers/trusted-config.ts';

interface WrittenDown {
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** The text of a configuration file in the folder ralph is started in. */
  readonly config?: string;
}

/** What is made of settings that are written in these places. */
async function collect({ flags = [], env = {}, config }: WrittenDown) {
  const folder = await tempFolder();
  const home = env.HOME ?? folder;
  if (config !== undefined) await writeTrusted(join(folder, 'ralph.config.yaml'), config, home);
  const read = readFlags(flags);
  expect(read.problems).toEqual([]);
  return collectSettings({
    flags: read.layer,
    env: { HOME: home, ...env },
    startDir: folder,
  });
}

/** Collects them, and the problems of limits and the like with those of the values. */
async function problemsOf(written: WrittenDown): Promise<readonly string[]> {
  const collected = await collect(written);
  return [...collected.problems, ...settingsProblems({ ...collected, passthrough: [] })];
}

/** Three texts for a setting, and what becomes of them. */
function samples(name: SettingName): readonly (readonly [written: string, becomes: unknown])[] {
  const { type } = SETTINGS[name];
  switch (type.kind) {
    case 'text':
    case 'command':
      return (
        name === 'taskType' ? ['coding', 'weekly_audit', 'email_processing'] : ['one', 'two', 'x y']
      ).map((text) => [text, text]);
    case 'texts':
      return ['src/*.ts', 'b', 'c d'].map((text) => [text, [text]]);
    case 'checks':
      return ['npm test', 'b', 'c  d'].map((text) => [text, checks(text)]);
    case 'count':
      return ['7', '8', '9'].map((text) => [text, Number(text)]);
    case 'duration':
      return ['61s', '1m2s', '63s'].map((text) => [text, parseDuration(text)]);
    case 'size':
      return ['7KB', '8MB', '9'].map((text) => [text, parseSize(text)]);
    case 'cost':
      return ['0.50', '2', '3'].map((text) => [text, Number(text)]);
    case 'percent':
      return ['70', '80', '90'].map((text) => [text, Number(text)]);
    case 'choice':
      return [0, 1, 2].map((index) => {
        const choice = type.choices[index % type.choices.length] ?? '';
        return [choice, choice];
      });
    case 'choices':
      return ['codex', 'claude,codex', 'gemini'].map((text) => [text, text.split(',')]);
    case 'agent-texts':
      return ['one', 'codex=two', 'x y'].map((text) => [text, [text]]);
    case 'switch':
      return [
        ['', true],
        ['false', false],
        ['true', true],
      ];
  }
}

const LIMITS_OF_A_TYPE = {
  maxIterations: { text: '30', becomes: 30 },
  iterationTimeout: { text: '30m', becomes: 1_800_000 },
  timeout: { text: '8h', becomes: 28_800_000 },
} as const;

function limitOfCoding(name: SettingName): { becomes: number } | null {
  return name === 'maxIterations' || name === 'iterationTimeout' || name === 'timeout'
    ? LIMITS_OF_A_TYPE[name]
    : null;
}

test('every setting but a few has a variable and a key', () => {
  expect(settingNames().filter((name) => variableOf(name) === null)).toEqual(['noJudge', 'taskId']);
  expect(settingNames().filter((name) => keyOf(name) === null)).toEqual([
    'noJudge',
    'taskId',
    'keyFile',
    'config',
  ]);
});

describe('the first source that has a setting wins, from the flag down to the default:', () => {
  // A file that is not there would be one more problem.
  const walked = settingNames().filter((name) => name !== 'config');

  test.for(walked)('%s', async (name) => {
    const [byFlag, byVariable, byKey] = samples(name);
    const { flag, type } = SETTINGS[name];
    const variable = variableOf(name);
    const key = keyOf(name);
    const written: { flags?: string[]; env?: Record<string, string>; config?: string } = {};
    const expectFound = async (value: unknown, kind: string, where: string): Promise<void> => {
      const { settings, sources, bad, problems } = await collect(written);
      expect({ value: settings[name], source: sources[name], bad: [...bad], problems }).toEqual({
        value,
        source: { kind, where },
        bad: [],
        problems: [],
      });
    };

    const nothing = await collect({});
    expect(nothing.sources[name]).toEqual({ kind: 'default', where: 'default' });
    const { default: fallback } = SETTINGS[name];
    if (fallback !== undefined) expect(`${nothing.settings[name]}`).toBe(`${readable(fallback)}`);
    else expect(nothing.settings[name] || null).toEqual(isRepeatable(SETTINGS[name]) ? [] : null);

    if (key !== null) {
      written.config = `# the second line has it\n${key}: ${byKey?.[0]}\n`;
      await expectFound(byKey?.[1], 'config', `ralph.config.yaml:2 ${key}`);
    }
    const limit = limitOfCoding(name);
    if (limit !== null) {
      written.flags = ['--task-type', 'coding'];
      await expectFound(limit.becomes, 'task-type', 'task type coding');
    }
    if (variable !== null) {
      written.env = { [variable]: byVariable?.[0] ?? '' };
      await expectFound(byVariable?.[1], 'variable', variable);
    }
    written.flags = [
      ...(written.flags ?? []),
      flag,
      ...(type.kind === 'switch' ? [] : [byFlag?.[0] ?? '']),
    ];
    await expectFound(byFlag?.[1], 'flag', flag);

    function readable(text: string): unknown {
      if (type.kind === 'duration') return parseDuration(text);
      return type.kind === 'size' ? parseSize(text) : text;
    }
  });

  test('config', async () => {
    const folder = await tempFolder();
    const files = ['flag.yaml', 'variable.yaml'].map((name) => join(folder, name));
    for (const [index, file] of files.entries()) await writeFile(file, `retries: ${index}\n`);
    const [flag = '', variable = ''] = files;
    const found = 'retries: 9\n';
    expect((await collect({ config: found })).settings).toMatchObject({ retries: 9, config: null });
    const env = { RALPH_CONFIG: variable };
    const byVariable = await collect({ config: found, env });
    expect(byVariable.settings).toMatchObject({ retries: 1, config: variable });
    expect(byVariable.sources.retries.where).toBe('variable.yaml:1 retries');
    const byFlag = await collect({ config: found, env, flags: ['--config', flag] });
    expect(byFlag.settings).toMatchObject({ retries: 0, config: flag });
    expect(byFlag.sources.config).toEqual({ kind: 'flag', where: '--config' });
  });

  test.for<[string, WrittenDown]>([
    ['--config', { flags: ['--config', 'nowhere.yaml'] }],
    ['RALPH_CONFIG', { env: { RALPH_CONFIG: 'nowhere.yaml' } }],
  ])('a file that is named by %s has to exist', async ([where, written]) => {
    const { problems } = await collect(written);
    expect(problems).toEqual([
      expect.stringMatching(new RegExp(`^${where} expects a file that can be read; .*nowhere`)),
    ]);
  });

  test('a letter, and the further names of a setting', async () => {
    const { settings, sources } = await collect({ flags: ['-n', '3', '-p', 'Do it'] });
    expect(settings).toMatchObject({ maxIterations: 3, prompt: 'Do it' });
    expect(sources.maxIterations.where).toBe('--max-iterations');
    const ways: readonly WrittenDown[] = [
      { flags: ['--completion-promise', 'DONE'] },
      { env: { RALPH_COMPLETION_PROMISE: 'DONE' } },
      { config: 'completion_promise: DONE\n' },
    ];
    for (const way of ways) expect((await collect(way)).settings.promise).toBe('DONE');
  });
});

describe('variables', () => {
  test('contain several texts, one on each line', async () => {
    const env = { RALPH_ALLOWED_TOOLS: 'Edit\n\nBash(npm test:*)\n' };
    const { settings } = await collect({ env, config: 'allowed_tools: [Read]\n' });
    expect(settings.allowedTools).toEqual(['Edit', 'Bash(npm test:*)']);
  });

  test.for([
    ['1', true],
    ['yes', true],
    ['ON', true],
    ['0', false],
    ['no', false],
    ['', false],
  ] as const)('switch with %j', async ([text, value]) => {
    expect((await collect({ env: { RALPH_QUIET: text } })).settings.quiet).toBe(value);
  });

  test('RALPH_TIMEOUT_MINUTES is another name of RALPH_TIMEOUT, which overrides it', async () => {
    const minutes = { RALPH_TIMEOUT_MINUTES: '45' };
    const { settings, sources } = await collect({ env: minutes, config: 'timeout: 1h\n' });
    expect(settings.timeout).toBe(45 * 60_000);
    expect(sources.timeout).toEqual({ kind: 'variable', where: 'RALPH_TIMEOUT_MINUTES' });
    const both = await collect({ env: { ...minutes, RALPH_TIMEOUT: '2h' } });
    expect(both.settings.timeout).toBe(7_200_000);
    expect(both.notices).toEqual([]);
  });

  test.for(['abc', '', '0', '1.2.3', '-5'])('RALPH_TIMEOUT_MINUTES=%s is refused', async (text) => {
    const { problems } = await collect({ env: { RALPH_TIMEOUT_MINUTES: text } });
    expect(problems).toEqual([expect.stringMatching(/^RALPH_TIMEOUT_MINUTES expects a duration/)]);
  });

  test('that are unknown are a warning with the nearest name', () => {
    const { layer, warnings } = settingsFromEnvironment({
      RALPH_MAX_ITERATION: '3',
      RALPH_TIMEOUT_MINUTE: '3',
      RALPH_XYZZY_PLUGH: '3',
      RALPHIE: '3',
      MY_RALPH_DELAY: '3',
    });
    expect(layer).toEqual({});
    expect(warnings).toEqual([
      'ralph does not know the variable RALPH_MAX_ITERATION; did you mean RALPH_MAX_ITERATIONS?',
      'ralph does not know the variable RALPH_TIMEOUT_MINUTE; did you mean RALPH_TIMEOUT_MINUTES?',
      'ralph does not know the variable RALPH_XYZZY_PLUGH',
    ]);
  });

  const IDENTITY = {
    RALPH_TASK_ID: 'outer',
    RALPH_ITERATION: '9',
    RALPH_MAX_ITERATIONS: '1',
    RALPH_STATE_FILE: '/nowhere/outer.json',
  };

  test('inside a loop five identify the task, and all others are settings', () => {
    const env = { ...IDENTITY, RALPH_RUN_ID: 'outer', RALPH_DELAY: '9s', RALPH_DELAI: '9s' };
    const { layer, warnings } = settingsFromEnvironment(env);
    expect(Object.keys(layer)).toEqual(['delay']);
    expect(warnings).toEqual([expect.stringContaining('RALPH_DELAI')]);
  });

  test('outside a loop the limit is a setting, and the other four mean nothing', () => {
    const { layer, warnings } = settingsFromEnvironment(IDENTITY);
    expect(Object.keys(layer)).toEqual(['maxIterations']);
    expect(warnings).toHaveLength(3);
  });
});

describe('problems', () => {
  test('of all sources are reported at once, each with its source', async () => {
    const { settings, bad, problems } = await collect({
      flags: ['--max-iterations', 'abc', '--match', 'regex'],
      env: { RALPH_DELAY: 'soon', RALPH_QUIET: 'perhaps' },
      config: 'retries: many\ntimout: 5m\nlog_limit: [1]\n',
    });
    expect(problems).toEqual([
      "--match expects one of statement, tag, contains; found 'regex'.",
      "--max-iterations expects a whole number, at least 1; found 'abc'.",
      "RALPH_DELAY expects a duration such as 500ms, 90s, 30m or 1h30m; found 'soon'.",
      "RALPH_QUIET expects true or false; found 'perhaps'.",
      "ralph.config.yaml:1 retries expects a whole number, at least 0; found 'many'.",
      'ralph.config.yaml:3 log_limit expects a size such as 64KB, 500MB or 1GB; found [1].',
      'ralph.config.yaml:2 timout is not a setting of ralph; did you mean timeout?',
    ]);
    // So that whatever else is wrong can be told as well.
    expect(settings).toMatchObject({ maxIterations: 5, delay: 2_000, retries: 5 });
    expect([...bad].sort()).toEqual([
      'delay',
      'logLimit',
      'match',
      'maxIterations',
      'quiet',
      'retries',
    ]);
  });

  test('of a value that another source overrides are reported, too', async () => {
    const { settings, bad, problems } = await collect({
      flags: ['--delay', '3s'],
      config: 'delay: soon\n',
    });
    expect(problems).toEqual([expect.stringContaining('ralph.config.yaml:1 delay expects')]);
    expect(settings.delay).toBe(3_000);
    expect([...bad]).toEqual([]);
  });
});

describe('settings that replace one another are taken from one source', () => {
  test('a prompt by flag replaces the prompt file of the configuration', async () => {
    const written = { flags: ['-p', 'Do it'], config: 'prompt_file: task.md\n' };
    expect((await collect(written)).settings).toMatchObject({ prompt: 'Do it', promptFile: null });
  });

  test('claude by flag replaces the command of the configuration', async () => {
    const written = { flags: ['--agent', 'claude'], config: 'agent_command: codex exec -\n' };
    expect((await collect(written)).settings).toMatchObject({
      agent: ['claude'],
      agentCommand: null,
    });
    expect(await problemsOf(written)).toEqual([]);
  });

  test('--proof strict needs a check and a baseline', async () => {
    const check = ['--verify', 'npm test'];
    expect(await problemsOf({ flags: ['--proof', 'strict', ...check] })).toEqual([]);
    expect(await problemsOf({ flags: ['--proof', 'strict'] })).toEqual([
      '--proof strict expects a check, by --verify or checks: in the configuration; found none.',
    ]);
    expect(
      await problemsOf({ flags: [...check, '--no-baseline'], config: 'proof: strict\n' }),
    ).toEqual([
      'ralph.config.yaml:1 proof strict and --no-baseline exclude each other: without a baseline, nobody knows what the checks said before the work.',
    ]);
  });

  test('--edit stands for a permission mode, and overrides that of a configuration', async () => {
    const config = 'permission_mode: plan\ndangerously_skip_permissions: true\n';
    const written = { flags: ['--edit'], config };
    expect((await collect(written)).settings).toMatchObject({
      ...{ edit: true, permissionMode: null, dangerouslySkipPermissions: false },
    });
    expect(await problemsOf(written)).toEqual([]);
    expect(await problemsOf({ flags: ['--edit', '--permission-mode', 'acceptEdits'] })).toEqual([]);
    expect(
      await problemsOf({
        flags: ['--edit', '--permission-mode', 'plan', '--dangerously-skip-permissions'],
      }),
    ).toEqual([
      '--edit and --permission-mode plan exclude each other: each says what the agent may do. Leave one of them out.',
      '--edit and --dangerously-skip-permissions exclude each other: each says what the agent may do. Leave one of them out.',
    ]);
  });

  test('--verbose overrides the quiet of a configuration made for cron', async () => {
    const written = { flags: ['--verbose'], config: 'quiet: true\n' };
    expect((await collect(written)).settings).toMatchObject({ verbose: true, quiet: false });
    expect(await problemsOf(written)).toEqual([]);
    expect(await problemsOf({ flags: ['--verbose', '--quiet'] })).toEqual([
      '--quiet and --verbose exclude each other.',
    ]);
  });
});

describe('task types', () => {
  test('are those of the table', () => {
    const common = { iterationTimeout: '180s', timeout: '30m' };
    expect(TASK_TYPES).toEqual({
      email_processing: { maxIterations: '5', ...common },
      invoice_generation: { maxIterations: '3', ...common },
      social_media_posting: { maxIterations: '3', ...common },
      weekly_audit: { maxIterations: '10', ...common },
      coding: { maxIterations: '30', iterationTimeout: '30m', timeout: '8h', proof: 'hold' },
      default: { maxIterations: '5', ...common },
    });
  });

  test.for<[string, WrittenDown]>([
    ['--task-type', { flags: ['--task-type', 'weekly_audit'] }],
    ['RALPH_TASK_TYPE', { env: { RALPH_TASK_TYPE: 'weekly_audit' } }],
    ['the configuration', { config: 'task_type: weekly_audit\n' }],
  ])('may be named by %s', async ([, written]) => {
    const { settings, taskType, sources } = await collect(written);
    expect({ taskType, max: settings.maxIterations }).toEqual({
      taskType: 'weekly_audit',
      max: 10,
    });
    expect(sources.maxIterations.where).toBe('task type weekly_audit');
  });

  test('of the configuration are added, and override the built-in ones', async () => {
    const config = `task_types:
  coding: { max_iterations: 50 }
  nightly: { timeout: 10h }
max_iterations: 7
iteration_timeout: 4m
`;
    const coding = await collect({ config, flags: ['--task-type', 'coding'] });
    expect(coding.settings).toMatchObject({
      maxIterations: 50,
      iterationTimeout: 1_800_000,
      timeout: 28_800_000,
    });
    // What a type leaves open is left to the configuration.
    const nightly = await collect({ config, env: { RALPH_TASK_TYPE: 'nightly' } });
    expect(nightly.settings).toMatchObject({
      maxIterations: 7,
      iterationTimeout: 240_000,
      timeout: 36_000_000,
    });
  });

  test('called default in the configuration set the limits that no other source sets', async () => {
    const types = 'task_types:\n  default: { max_iterations: 2, timeout: 1m }\n';
    const { settings, sources, taskType } = await collect({ config: types });
    expect(taskType).toBe('default');
    expect(settings).toMatchObject({ maxIterations: 2, timeout: 60_000 });
    expect(sources.timeout.where).toBe('task type default');
    const other = await collect({ config: `${types}timeout: 2m\n`, flags: ['-n', '9'] });
    expect(other.settings).toMatchObject({ maxIterations: 9, timeout: 120_000 });
    const named = await collect({ config: types, flags: ['--task-type', 'weekly_audit'] });
    expect(named.settings).toMatchObject({ maxIterations: 10, timeout: 1_800_000 });
  });

  test.for([
    ['codign', /'codign' is not a task type; did you mean coding\?/],
    ['weekly-audit', /did you mean weekly_audit\?/],
    ['xyzzy plugh', /expected one of email_processing, .*coding, default, nightly$/],
    ['', /'' is not a task type; expected one of/],
    ['toString', /'toString' is not a task type/],
    ['__proto__', /'__proto__' is not a task type/],
  ] as const)('that are unknown are refused with the nearest: %j', async ([type, said]) => {
    const config = 'task_types:\n  nightly: {}\n';
    const { problems } = await collect({ config, flags: ['--task-type', type] });
    expect(problems).toEqual([expect.stringMatching(said)]);
    expect(problems[0]).toMatch(/^--task-type '/);
  });

  test('of a source that another one overrides are not checked', async () => {
    const { problems } = await collect({
      flags: ['--task-type', 'coding'],
      config: 'task_type: of another version\n',
    });
    expect(problems).toEqual([]);
  });
});

describe('a payment', () => {
  const PAYMENTS = [
    'payment',
    'Payments',
    'PAYMENT',
    'vendor_payment',
    'make-payment',
    'payment run',
    'pay_the-Payments now',
    'vendor__payment',
    ' payment ',
    'a\u00a0payment',
    'a\tpayment',
  ];

  test.for(PAYMENTS)('is refused as a type by flag, variable and key: %j', async (type) => {
    expect(isPayment(type)).toBe(true);
    const ways: readonly (readonly [string, WrittenDown])[] = [
      ['--task-type', { flags: ['--task-type', type] }],
      ['RALPH_TASK_TYPE', { env: { RALPH_TASK_TYPE: type } }],
      ['ralph.config.yaml:1 task_type', { config: `task_type: ${JSON.stringify(type)}\n` }],
    ];
    for (const [where, written] of ways) {
      const { problems, sources } = await collect(written);
      expect(problems).toEqual([
        `${where} '${type}' is refused: ralph never automates payments; leave it to a person.`,
      ]);
      expect(sources.maxIterations.kind).toBe('default');
    }
  });

  test('is refused even where a configuration defines it', async () => {
    const config = 'task_types:\n  vendor_payment: { max_iterations: 3 }\n';
    const { problems } = await collect({ config, flags: ['--task-type', 'vendor_payment'] });
    expect(problems).toEqual([
      'ralph.config.yaml:2 task_types.vendor_payment is refused: ralph never automates payments.',
      expect.stringContaining("--task-type 'vendor_payment' is refused"),
    ]);
  });

  test.for(['repayments', 'paymentish', 'prepayment_plan', 'pay', 'email_processing'])(
    'is not meant by %s',
    (type) => {
      expect(isPayment(type)).toBe(false);
    },
  );
});

describe('an iteration longer than the whole task', () => {
  test.for<[string, WrittenDown]>([
    ['--iteration-timeout', { flags: ['--iteration-timeout', '2h'] }],
    ['RALPH_ITERATION_TIMEOUT', { env: { RALPH_ITERATION_TIMEOUT: '2h' } }],
    ['ralph.config.yaml:1 iteration_timeout', { config: 'iteration_timeout: 2h\n' }],
  ])('is refused where %s asks for it', async ([where, written]) => {
    expect(await problemsOf(written)).toEqual([
      `${where} (7200s) is longer than the time for the whole task (1800s, default); lower the one or raise the other.`,
    ]);
  });

  test.for<[string, WrittenDown]>([
    ['the default', { flags: ['--timeout', '1m'] }],
    ['a built-in type', { flags: ['--timeout', '1m', '--task-type', 'coding'] }],
    [
      'a type of the configuration',
      { flags: ['--timeout', '1m'], config: 'task_types:\n  default: { iteration_timeout: 2h }\n' },
    ],
  ])('is no problem where %s has it', async ([, written]) => {
    expect(await problemsOf(written)).toEqual([]);
  });
});

describe('a limit that can never be reached', () => {
  test.for<[string, WrittenDown, RegExp]>([
    [
      'silence longer than an iteration',
      { env: { RALPH_IDLE_TIMEOUT: '4m' } },
      /^RALPH_IDLE_TIMEOUT \(240s\) is longer than an iteration may last \(180s, default\)/,
    ],
    [
      'silence longer than the whole task',
      { config: 'idle_timeout: 2m\n', flags: ['--timeout', '1m'] },
      /^ralph\.config\.yaml:1 idle_timeout \(120s\) is longer than .*\(60s/,
    ],
    [
      'a pause as long as the whole task',
      { config: 'delay: 30m\n' },
      /^ralph\.config\.yaml:1 delay \(1800s\) leaves no time .*\(1800s, default\)/,
    ],
  ])('is refused: %s', async ([, written, said]) => {
    expect(await problemsOf(written)).toEqual([expect.stringMatching(said)]);
  });

  test('is no problem if it is a default, or if there is only one iteration', async () => {
    expect(await problemsOf({ flags: ['--timeout', '1s'] })).toEqual([]);
    expect(await problemsOf({ flags: ['--delay', '1h', '-n', '1'] })).toEqual([]);
    expect(await problemsOf({ flags: ['--idle-timeout', '3m'] })).toEqual([]);
  });

  test('is not reported if one of the limits is invalid', async () => {
    const problems = await problemsOf({ flags: ['--timeout', 'soon', '--delay', '9h'] });
    expect(problems).toEqual([expect.stringMatching(/^--timeout expects a duration/)]);
  });
});

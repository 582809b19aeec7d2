import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { resolveSettings } from '../../../src/core/settings/resolve-settings.ts';
import type { Layer } from '../../../src/core/settings/setting-source.ts';
import { SETTINGS, type SettingName, settingNames } from '../../../src/core/settings/settings.ts';
import { planRun, type RunRequest } from '../../../src/effects/plan/run-plan.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

/** Values as they are written on the command line. */
type WrittenSettings = Readonly<Partial<Record<SettingName, unknown>>>;

async function plan(written: WrittenSettings, more: Partial<RunRequest> = {}) {
  const layer: Layer = Object.fromEntries(
    settingNames()
      .filter((name) => written[name] !== undefined)
      .map((name) => {
        const where = SETTINGS[name].flag;
        return [name, { value: written[name], source: { kind: 'flag', where } }];
      }),
  );
  const { settings, sources, bad, problems } = resolveSettings([layer]);
  expect(problems).toEqual([]);
  return planRun({
    settings,
    sources,
    bad,
    taskType: 'default',
    passthrough: [],
    startDir: '/',
    env: {},
    readStdin: async () => {
      throw new Error('standard input was read');
    },
    newTaskId: () => 'made-up',
    ...more,
  });
}

async function sound(written: WrittenSettings, more: Partial<RunRequest> = {}) {
  const planned = await plan({ prompt: 'Do it.', ...written }, more);
  if ('problems' in planned) throw new Error(planned.problems.join('\n'));
  return planned.plan;
}

async function problems(written: WrittenSettings, more: Partial<RunRequest> = {}) {
  const planned = await plan({ prompt: 'Do it.', ...written }, more);
  return 'problems' in planned ? planned.problems : [];
}

describe('paths', () => {
  test('are those of the folder ralph was started in, where nothing is said', async () => {
    const startDir = await tempFolder();
    expect(await sound({}, { startDir })).toMatchObject({
      vault: startDir,
      cwd: startDir,
      stateDir: join(startDir, '.ralph_state'),
      donePath: null,
      promptFile: null,
      taskId: 'made-up',
    });
  });

  test('of vault and working folder begin where ralph was started', async () => {
    const startDir = await tempFolder();
    await mkdir(join(startDir, 'work'));
    const found = await sound({ vault: 'notes/vault', cwd: 'work' }, { startDir });
    expect(found).toMatchObject({
      vault: join(startDir, 'notes/vault'),
      cwd: join(startDir, 'work'),
    });
    // A folder is made only when something is written into it.
    expect(existsSync(join(startDir, 'notes'))).toBe(false);
  });

  test('of everything else begin in the working folder', async () => {
    const startDir = await tempFolder();
    await mkdir(join(startDir, 'work'));
    await writeFile(join(startDir, 'work', 'prompt.md'), 'from the working folder');
    await writeFile(join(startDir, 'prompt.md'), 'from where ralph was started');
    const found = await sound(
      { prompt: undefined, promptFile: 'prompt.md', cwd: 'work' },
      { startDir },
    );
    expect(found.promptFile).toBe(join(startDir, 'work', 'prompt.md'));
    expect(Buffer.from(found.prompt).toString()).toBe('from the working folder');
  });

  test('of the state folder begins in the working folder', async () => {
    const startDir = await tempFolder();
    await mkdir(join(startDir, 'work'));
    const at = async (written: WrittenSettings) =>
      (await sound({ cwd: 'work', vault: 'vault', ...written }, { startDir })).stateDir;
    expect(await at({})).toBe(join(startDir, 'vault', '.ralph_state'));
    expect(await at({ stateDir: 'state' })).toBe(join(startDir, 'work', 'state'));
    expect(await at({ stateDir: '/var/state' })).toBe('/var/state');
  });

  describe('of the watched file and the done folder', () => {
    async function stage() {
      const startDir = await tempFolder();
      const [vault, cwd] = [join(startDir, 'vault'), join(startDir, 'work')];
      await mkdir(vault);
      await mkdir(cwd);
      const found = (written: WrittenSettings) =>
        sound({ vault: 'vault', cwd: 'work', ...written }, { startDir });
      return { vault, cwd, found };
    }

    test('the file is expected in the done folder of the vault', async () => {
      const { vault, found } = await stage();
      const { donePath, policy } = await found({ watchFile: 'Needs_Action/task.md' });
      expect(donePath).toBe(join(vault, 'Done', 'task.md'));
      expect(policy).toMatchObject({ watchFile: 'Needs_Action/task.md', promise: null });
    });

    test.for([
      ['in both', ['vault', 'cwd'], 'vault'],
      ['in the vault', ['vault'], 'vault'],
      ['in the working folder', ['cwd'], 'cwd'],
      ['nowhere yet', [], 'vault'],
    ] as const)('a done folder that is %s', async ([, there, expected]) => {
      const { vault, cwd, found } = await stage();
      const places = { vault, cwd };
      for (const place of there) await mkdir(join(places[place], 'out'));
      const { donePath } = await found({ watchFile: 'task.md', doneFolder: 'out' });
      expect(donePath).toBe(join(places[expected], 'out', 'task.md'));
    });

    test('absolute ones stay as they are', async () => {
      const { found } = await stage();
      const elsewhere = await tempFolder();
      const { donePath } = await found({ watchFile: '/a/task.md', doneFolder: elsewhere });
      expect(donePath).toBe(join(elsewhere, 'task.md'));
    });
  });

  test.for(['cwd', 'vault'])('%s is refused if it is no folder', async (name) => {
    const startDir = await tempFolder();
    await writeFile(join(startDir, 'file'), '');
    expect(await problems({ [name]: 'file' }, { startDir })).toEqual([
      expect.stringMatching(new RegExp(`^--${name} expects .*${join(startDir, 'file')}`)),
    ]);
  });

  test.for(['gone', 'file/below', `${'x'.repeat(300)}`])(
    'a working folder at %s is refused',
    async (cwd) => {
      const startDir = await tempFolder();
      await writeFile(join(startDir, 'file'), '');
      expect(await problems({ cwd }, { startDir })).toEqual([
        expect.stringMatching(/^--cwd expects an existing folder/),
      ]);
    },
  );
});

describe('the prompt', () => {
  test('is the text of the flag, byte for byte', async () => {
    const prompt = ' /cost @x\r\n"$(true)` \u{1F600}';
    expect(Buffer.from((await sound({ prompt })).prompt).toString()).toBe(prompt);
  });

  test('is standard input for a dash alone', async () => {
    const bytes = Buffer.from([0x20, 0xff, 0x01, 0x0d]);
    const found = await sound({ prompt: '-' }, { readStdin: async () => bytes });
    expect(Buffer.from(found.prompt).equals(bytes)).toBe(true);
    expect(found.promptFile).toBe(null);
    expect(Buffer.from((await sound({ prompt: '- x' })).prompt).toString()).toBe('- x');
  });

  test('is given once', async () => {
    const one = /exactly one of --prompt TEXT, --prompt-file FILE and --task-file FILE/;
    expect(await problems({ prompt: undefined })).toEqual([expect.stringMatching(one)]);
    expect(await problems({ promptFile: 'x' })).toEqual([expect.stringMatching(one)]);
  });

  test.for(['', ' \n'])('is not empty (%j)', async (prompt) => {
    expect(await problems({ prompt })).toEqual([expect.stringMatching(/^The prompt is empty/)]);
    expect(
      await problems({ prompt: '-' }, { readStdin: async () => Buffer.from(prompt) }),
    ).toHaveLength(1);
  });

  test('is 1 MB long at most, wherever it comes from', async () => {
    const startDir = await tempFolder();
    await writeFile(join(startDir, 'long'), Buffer.alloc(1024 * 1024 + 1, 'x'));
    await writeFile(join(startDir, 'fits'), Buffer.alloc(1024 * 1024, 'x'));
    const fromFile = (promptFile: string) =>
      problems({ prompt: undefined, promptFile }, { startDir });
    expect(await fromFile('fits')).toEqual([]);
    expect(await fromFile('long')).toEqual([expect.stringMatching(/1048577 bytes/)]);
    const readStdin = async () => Buffer.alloc(1024 * 1024 + 1, 'x');
    expect(await problems({ prompt: '-' }, { readStdin })).toHaveLength(1);
  });

  test.for(['gone', 'folder'])('is not read from what cannot be read (%s)', async (promptFile) => {
    const startDir = await tempFolder();
    await mkdir(join(startDir, 'folder'));
    expect(await problems({ prompt: undefined, promptFile }, { startDir })).toEqual([
      expect.stringMatching(/^--prompt-file expects a file that can be read; found: E[A-Z]+/),
    ]);
  });
});

describe('completion', () => {
  test('is by TASK_COMPLETE where nothing is said', async () => {
    expect((await sound({})).policy).toMatchObject({
      promise: 'TASK_COMPLETE',
      match: 'statement',
    });
  });

  test('is by no promise where there is another condition, unless one is given', async () => {
    expect((await sound({ watchGlob: ['*.md'] })).policy.promise).toBe(null);
    expect((await sound({ watchGlob: ['*.md'], promise: 'DONE' })).policy.promise).toBe('DONE');
  });

  test('takes a promise without its tags', async () => {
    expect((await sound({ promise: '<promise>ALL DONE</promise>' })).policy.promise).toBe(
      'ALL DONE',
    );
  });

  test.for(['', '  ', '<promise></promise>', '<promise> \n</promise>'])(
    'is never by an empty promise (%j)',
    async (promise) => {
      expect(await problems({ promise })).toEqual([expect.stringMatching(/^--promise expects/)]);
    },
  );

  test.for<[string, WrittenSettings]>([
    ['--watch-existing', { watchExisting: true }],
    ['--done-folder', { doneFolder: 'out' }],
  ])('%s is refused where it has no sense', async ([flag, written]) => {
    expect(await problems(written)).toEqual([expect.stringMatching(new RegExp(`^${flag} `))]);
  });
});

describe('limits', () => {
  test('of an iteration above that of the task are a mistake if somebody wrote them', async () => {
    expect(await problems({ iterationTimeout: '1h', timeout: '30m' })).toEqual([
      expect.stringMatching(/^--iteration-timeout .*--timeout/),
    ]);
    expect(await problems({ iterationTimeout: '30m', timeout: '30m' })).toEqual([]);
  });

  test('of an iteration are lowered to that of the task where they are a default', async () => {
    const { policy, taskTimeoutMs } = await sound({ timeout: '90s' });
    expect([policy.iterationTimeoutMs, taskTimeoutMs]).toEqual([90_000, 90_000]);
  });
});

describe('the agent', () => {
  test('is claude', async () => {
    const found = await sound({ model: 'opus' }, { passthrough: ['--max-turns', '3'] });
    expect(found).toMatchObject({
      policy: { agent: 'claude' },
      passthrough: ['--max-turns', '3'],
    });
  });

  test('is a command, split into words as a shell does', async () => {
    for (const agent of ['command', undefined]) {
      const found = await sound({ agent, agentCommand: `sh -c 'a "b"' "c d" $e` });
      expect(found).toMatchObject({
        policy: { agent: 'command' },
      });
    }
  });

  test.for<[string, WrittenSettings]>([
    ['has a quote that is not closed', { agentCommand: "sh -c 'x" }],
    ['needs --agent-command', { agent: 'command' }],
    ['needs --agent-command', { agentCommand: '  ' }],
    ['goes with --agent command', { agent: 'claude', agentCommand: 'sh' }],
  ])('is refused where it %s', async ([words, written]) => {
    expect(await problems(written)).toEqual([expect.stringContaining(words)]);
  });

  test.for<[string, WrittenSettings]>([
    ['--agent-bin', { agentBin: 'x' }],
    ['--model', { model: 'x' }],
    ['--permission-mode', { permissionMode: 'plan' }],
    ['--allowed-tools', { allowedTools: ['Edit'] }],
    ['--dangerously-skip-permissions', { dangerouslySkipPermissions: true }],
  ])('that is a command takes no %s', async ([flag, written]) => {
    expect(await problems({ agentCommand: 'sh', ...written })).toEqual([
      expect.stringMatching(
        new RegExp(`^${flag} is for --agent claude.*; found --agent command.$`),
      ),
    ]);
  });

  test.for<[agent: string, WrittenSettings, string]>([
    ['codex', { allowedTools: ['Edit'] }, '--allowed-tools is for'],
    ['gemini', { allowedTools: ['Edit'] }, '--allowed-tools is for'],
    ['opencode', { allowedTools: ['Edit'] }, '--allowed-tools is for'],
    ['codex', { maxCost: '1' }, '--max-cost is for --agent claude or opencode'],
    ['gemini', { maxCost: '1' }, '--max-cost is for'],
    ['qwen', { maxCost: '1' }, '--max-cost is for'],
    ['copilot', { maxCost: '1' }, '--max-cost is for'],
    ['codex', { maxCostPerDay: '1' }, '--max-cost-per-day is for --agent claude or opencode'],
    ['codex', { maxUsage: '50' }, '--max-usage is for --agent claude;'],
    ['opencode', { permissionMode: 'plan' }, 'its plan agent runs commands that write'],
    ['opencode', { permissionMode: 'yolo' }, 'has no permission modes'],
    ['copilot', { permissionMode: 'plan' }, 'has no permission modes'],
  ])('%s refuses what it lacks: %o', async ([agent, written, words]) => {
    expect(await problems({ agent, ...written })).toEqual([expect.stringContaining(words)]);
  });

  test.for<[agent: string, WrittenSettings]>([
    ['codex', { permissionMode: 'workspace-write', session: 'continue', model: 'm' }],
    ['gemini', { permissionMode: 'plan', acceptRefused: ['*'] }],
    ['opencode', { permissionMode: 'acceptEdits', maxCost: '1', maxCostPerDay: '9' }],
    ['qwen', { permissionMode: 'yolo', allowedTools: ['x'] }],
    ['copilot', { permissionMode: 'acceptEdits', allowedTools: ['shell'] }],
  ])('%s takes %o', async ([agent, written]) => {
    expect(await problems({ agent, ...written })).toEqual([]);
  });

  test('reads no more than it can: the prompt is refused, and the earlier output is cut', async () => {
    const prompt = (length: number) => 'x'.repeat(length);
    const wrong = await problems({ agent: 'codex', prompt: prompt(1_020_000) });
    expect(wrong).toEqual([expect.stringMatching(/too long for codex, which reads 1048576 char/)]);
    expect(await problems({ agent: 'gemini', prompt: prompt(1_020_000) })).toEqual([]);
    const long = await sound({ agent: 'codex', prompt: prompt(1_000_000) });
    expect(long.policy.contextChars).toBe(3_808);
    expect((await sound({ agent: 'codex' })).policy.contextChars).toBe(20_000);
  });

  test('may be a list, and each has its own model and program', async () => {
    const written = {
      agent: 'claude, codex',
      model: ['claude=opus', 'codex=gpt'],
      agentBin: { codex: '/opt/codex' },
      permissionMode: 'acceptEdits',
    };
    expect(await sound(written)).toMatchObject({
      policy: { agent: 'claude', agents: ['claude', 'codex'] },
      settings: { agentBin: ['codex=/opt/codex'] },
    });
  });

  test.for<[string, WrittenSettings, RegExp]>([
    ['the agent command', { agent: 'claude,command', agentCommand: 'sh' }, /without command/],
    ['an agent twice', { agent: 'codex,codex' }, /each agent once; found codex twice/],
    ['a model for nobody', { model: 'opus' }, /AGENT=NAME for a list of agents; found 'opus'/],
    ['a program for nobody', { agentBin: '/x' }, /AGENT=PATH for a list .*; found '\/x'/],
    ['a model for another', { model: 'gemini=x' }, /names gemini; found --agent claude,codex/],
    ['own permission words', { permissionMode: 'workspace-write' }, /acceptEdits or plan/],
    ['tools that one cannot allow', { allowedTools: ['Edit'] }, /is for .*found --agent codex/],
    ['a budget that one cannot keep', { maxCost: '2' }, /is for .*; found --agent codex/],
    [
      'a mode that one has not',
      { agent: 'claude,opencode', permissionMode: 'plan' },
      /plan agent runs commands that write/,
    ],
  ])('of a list is refused with %s', async ([, written, words]) => {
    expect(await problems({ agent: 'claude,codex', ...written })).toContainEqual(
      expect.stringMatching(words),
    );
  });

  test('of a list takes nothing after --', async () => {
    const found = await problems({ agent: 'claude,codex' }, { passthrough: ['--x'] });
    expect(found).toEqual([expect.stringMatching(/no words after --/)]);
  });

  test('of a list has to read the whole prompt', async () => {
    const prompt = 'x'.repeat(1_020_000);
    expect(await problems({ prompt })).toEqual([]);
    expect(await problems({ prompt, agent: 'claude,codex' })).toEqual([
      expect.stringContaining('too long for codex'),
    ]);
  });

  test.for([
    ['--output-format', 'text'],
    ['--output-format=text'],
    ['--input-format=text'],
  ] as const)('that is claude takes no %s after --', async (passthrough) => {
    expect(await problems({}, { passthrough })).toEqual([
      expect.stringMatching(/^--(out|in)put-format after --/),
    ]);
  });

  test.for(['command', undefined])(
    'that is a command (--agent %s) takes anything after --',
    async (agent) => {
      const passthrough = ['--output-format', 'text'];
      expect(await problems({ agent, agentCommand: 'sh' }, { passthrough })).toEqual([]);
    },
  );
});

describe('the task id', () => {
  test.for(['a', 'T.1_x-2', '2026', 'x'.repeat(128)])('may be %s', async (taskId) => {
    expect((await sound({ taskId })).taskId).toBe(taskId);
  });

  test.for([
    '',
    '.',
    '..',
    '../x',
    'a/b',
    '-x',
    '.x',
    'ü',
    'a b',
    'x'.repeat(129),
    'history',
    'a\n',
  ])('may not be %j', async (taskId) => {
    expect(await problems({ taskId })).toEqual([expect.stringMatching(/^--task-id expects/)]);
  });
});

test('everything that is wrong is said at once', async () => {
  const startDir = await tempFolder();
  await writeFile(join(startDir, 'file'), '');
  const found = await problems(
    {
      prompt: '',
      cwd: 'gone',
      vault: 'file',
      taskId: '../x',
      promise: '',
      watchExisting: true,
      doneFolder: 'out',
      iterationTimeout: '2h',
      timeout: '1h',
      agent: 'claude',
      agentCommand: 'sh',
    },
    { startDir, passthrough: ['--output-format=json'] },
  );
  const flags = found.map((sentence) => /--[a-z-]+|The prompt/.exec(sentence)?.[0]);
  expect(flags.sort()).toEqual(
    [
      'The prompt',
      '--cwd',
      '--vault',
      '--task-id',
      '--promise',
      '--watch-existing',
      '--done-folder',
      '--iteration-timeout',
      '--agent-command',
      '--output-format',
    ].sort(),
  );
});

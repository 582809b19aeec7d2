import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type AgentTurn, locate } from '../../../src/effects/agents/agent.ts';
import { claudeAgent, claudeArguments } from '../../../src/effects/claude/claude-agent.ts';
import { agentOptions } from '../../helpers/agent-options.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

/** A start like any other. */
const PLAIN_TURN: AgentTurn = { resumeSession: null, budgetUsd: null };

const PLAIN = agentOptions();

describe('the arguments', () => {
  test('are what ralph needs and nothing else, where nothing was asked for', () => {
    expect(claudeArguments(PLAIN, PLAIN_TURN)).toEqual([
      '--print',
      '--verbose',
      '--output-format',
      'stream-json',
    ]);
  });

  test('end with what the user gave after --, unchanged', () => {
    const passthrough = ['--max-turns', '3', '', 'a b', '--', '$x'];
    const args = claudeArguments(
      agentOptions(
        {
          model: 'opus',
          permissionMode: 'acceptEdits',
          allowedTools: ['Edit', 'Bash(npm test:*)'],
          dangerouslySkipPermissions: true,
        },
        { prefixArgs: ['script.js'], passthrough },
      ),
      PLAIN_TURN,
    );
    expect(args[0]).toBe('script.js');
    expect(args[1]).toBe('--print');
    expect(args.slice(-passthrough.length)).toEqual(passthrough);
    const own = args.slice(2, -passthrough.length);
    expect(own.toSorted()).toEqual([
      '--allowedTools=Edit,Bash(npm test:*)',
      '--dangerously-skip-permissions',
      '--model=opus',
      '--output-format',
      '--permission-mode=acceptEdits',
      '--verbose',
      'stream-json',
    ]);
  });

  test('hold a value in one word with its flag, so that none is taken for a flag of its own', () => {
    const bad = '--dangerously-skip-permissions';
    const allowedTools = ['Read', bad, bad];
    const options = agentOptions({ model: bad, permissionMode: bad, allowedTools });
    const args = claudeArguments(options, { ...PLAIN_TURN, resumeSession: bad });
    expect(args.filter((word) => word.includes(bad))).toEqual([
      `--allowedTools=Read,${bad},${bad}`,
      `--model=${bad}`,
      `--permission-mode=${bad}`,
      `--resume=${bad}`,
    ]);
  });

  test('are those that it is started with', async () => {
    const bin = await putProgram(await tempFolder(), 'claude');
    const options = agentOptions({ agentBin: bin, model: 'opus' });
    expect(locate(claudeAgent(options), PLAIN_TURN, options)).toEqual({
      file: bin,
      args: claudeArguments(options, PLAIN_TURN),
    });
  });

  test('resume a session and keep to a budget where they are told to, before the words of the user', () => {
    const options = agentOptions({ allowedTools: ['Edit'] }, { passthrough: ['--max-turns', '3'] });
    const plain = claudeArguments(options, PLAIN_TURN);
    const args = (turn: Partial<AgentTurn>) => claudeArguments(options, { ...PLAIN_TURN, ...turn });
    const own = plain.slice(0, -2);
    expect(args({ resumeSession: 'a-b' })).toEqual([...own, '--resume=a-b', '--max-turns', '3']);
    for (const [budgetUsd, written] of [
      [2, '2.0000'],
      [0.123456, '0.1235'],
      [0.01, '0.0100'],
      [12345.5, '12345.5000'],
    ] as const) {
      expect(args({ budgetUsd })).toEqual([
        ...own,
        '--max-budget-usd',
        written,
        '--max-turns',
        '3',
      ]);
    }
    expect(args({ resumeSession: 'a-b', budgetUsd: 1 })).toEqual([
      ...own,
      ...['--resume=a-b', '--max-budget-usd', '1.0000', '--max-turns', '3'],
    ]);
    expect(plain.join(' ')).not.toMatch(/--resume|--max-budget-usd/);
  });

  test('are those of the turn that it is started for', async () => {
    const bin = await putProgram(await tempFolder(), 'claude');
    const turn = { resumeSession: 'a-b', budgetUsd: 0.5 };
    const options = agentOptions({ agentBin: bin });
    const agent = claudeAgent(options);
    for (const each of [turn, PLAIN_TURN]) {
      const expected = { file: bin, args: claudeArguments(PLAIN, each) };
      expect(locate(agent, each, options)).toEqual(expected);
    }
  });
});

async function putProgram(folder: string, name: string, mode = 0o755): Promise<string> {
  const file = join(folder, name);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, '#!/bin/sh\n', { mode });
  return file;
}

describe('where claude is', () => {
  /** A home and two folders for PATH, all of them empty. */
  async function stage() {
    const folder = await tempFolder();
    const [home, one, two, cwd] = ['home', 'one', 'two', 'cwd'].map((name) => join(folder, name));
    if (!home || !one || !two || !cwd) throw new Error('unreachable');
    for (const place of [home, one, two, cwd]) await mkdir(place);
    const usual = { HOME: home, PATH: `${one}:${two}` };
    const find = ({
      env = usual,
      bin = null,
    }: {
      env?: NodeJS.ProcessEnv;
      bin?: string | null;
    } = {}) => {
      const options = agentOptions({ agentBin: bin }, { env, cwd });
      return locate(claudeAgent(options), PLAIN_TURN, options);
    };
    return { home, one, two, cwd, find };
  }
  const at = (file: string) => expect.objectContaining({ file });

  test('on PATH: the first one', async () => {
    const { one, two, find } = await stage();
    const second = await putProgram(two, 'claude');
    expect(find()).toEqual(at(second));
    const first = await putProgram(one, 'claude');
    expect(find()).toEqual(at(first));
  });

  test('where its installers put it, if it is not on PATH', async () => {
    const { home, two, find } = await stage();
    const older = await putProgram(home, '.claude/local/claude');
    expect(find()).toEqual(at(older));
    const newer = await putProgram(home, '.local/bin/claude');
    expect(find()).toEqual(at(newer));
    const onPath = await putProgram(two, 'claude');
    expect(find()).toEqual(at(onPath));
  });

  test('nowhere: it is said where it was looked for, each place once', async () => {
    const { home, one, two, find } = await stage();
    expect(find({ env: { HOME: home, PATH: `${one}:${two}:${one}` } })).toEqual({
      missing: `claude was not found in ${one}, ${two}, ${home}/.local/bin, ${home}/.claude/local, /usr/local/bin, /opt/homebrew/bin`,
    });
  });

  test('behind a link', async () => {
    const { one, cwd, find } = await stage();
    await symlink(await putProgram(cwd, 'real'), join(one, 'claude'));
    expect(find()).toEqual(at(join(one, 'claude')));
  });

  test('not where a file is not executable, a folder has its name or a link leads nowhere', async () => {
    const { home, one, two, find } = await stage();
    await putProgram(one, 'claude', 0o644);
    await mkdir(join(two, 'claude'));
    await mkdir(join(home, '.local/bin'), { recursive: true });
    await symlink('/nowhere', join(home, '.local/bin/claude'));
    const last = await putProgram(home, '.claude/local/claude');
    expect(find()).toEqual(at(last));
  });

  test('not in the working folder, whatever empty words PATH has: the agent could have put it there', async () => {
    const { home, two, cwd, find } = await stage();
    await putProgram(cwd, 'claude');
    for (const PATH of ['', ':', `:${two}`, `${two}::`]) {
      expect(find({ env: { HOME: home, PATH } }), PATH).toHaveProperty('missing');
    }
    const real = await putProgram(two, 'claude');
    expect(find({ env: { HOME: home, PATH: `:${two}:` } })).toEqual(at(real));
  });

  test('without a PATH: in the usual places', async () => {
    const { home, find } = await stage();
    expect(find({ bin: 'sh', env: { HOME: home } })).toEqual(at('/usr/bin/sh'));
    const found = await putProgram(home, '.local/bin/claude');
    expect(find({ env: { HOME: home } })).toEqual(at(found));
  });

  test('without a HOME: the home of whoever runs it', async () => {
    const { one, find } = await stage();
    expect(find({ env: { PATH: one } })).toEqual({
      missing: expect.stringContaining(join(homedir(), '.local', 'bin')),
    });
  });

  test('with an empty HOME: not in the working folder either', async () => {
    const { one, cwd, find } = await stage();
    await putProgram(cwd, '.local/bin/claude');
    await putProgram(cwd, '.claude/local/claude');
    expect(find({ env: { HOME: '', PATH: one } })).toHaveProperty('missing');
  });

  test('where the user says: a path from the working folder, or a name on PATH alone', async () => {
    const { home, one, cwd, find } = await stage();
    const mine = await putProgram(cwd, 'tools/claude');
    expect(find({ bin: 'tools/claude' })).toEqual(at(mine));
    expect(find({ bin: mine })).toEqual(at(mine));
    await putProgram(home, '.local/bin/claude-next');
    expect(find({ bin: 'claude-next' })).toHaveProperty('missing');
    const named = await putProgram(one, 'claude-next');
    expect(find({ bin: 'claude-next' })).toEqual(at(named));
    expect(find({ bin: './nothing' })).toEqual({
      missing: expect.stringContaining(join(cwd, 'nothing')),
    });
  });
});

describe('what its output tells of the process', () => {
  const RETRY = { type: 'system', subtype: 'api_retry', attempt: 1, max_retries: 10 };
  const retry = (error_status: number | null, retry_delay_ms: number | null = 500) => ({
    ...RETRY,
    error_status,
    retry_delay_ms,
    error: 'x',
  });
  const text = (words: string) => ({
    type: 'assistant',
    message: { id: words, model: 'm', role: 'assistant', content: [{ type: 'text', text: words }] },
  });
  const result = {
    type: 'result',
    subtype: 'success',
    is_error: false,
    result: 'Done.',
    num_turns: 1,
    total_cost_usd: 0.5,
    usage: { input_tokens: 1, output_tokens: 1 },
  };

  function read(...events: readonly object[]) {
    const signs: string[] = [];
    const heard: string[] = [];
    const reader = claudeAgent(PLAIN).read(
      {
        activity: ({ kind }) => heard.push(`activity ${kind}`),
        retry: ({ status }) => heard.push(`retry ${status}`),
        text: (words) => heard.push(`text ${words}`),
        did() {},
      },
      {
        resultGiven: () => signs.push('result given'),
        retrying: (delayMs) => signs.push(`retrying ${delayMs}`),
        working: () => signs.push('working'),
        hopeless: (cause) => signs.push(`hopeless ${cause}`) > 0,
      },
    );
    const lines = events.map((event) => `${JSON.stringify(event)}\n`).join('');
    // Cut anywhere: in the midst of a line, of a word, of a character.
    for (let at = 0; at < lines.length; at += 7) reader.push(Buffer.from(lines.slice(at, at + 7)));
    reader.end();
    return { signs, heard, facts: reader.facts() };
  }

  test('that it works, and that it has given its result', () => {
    const { signs, heard, facts } = read(text('Hello.'), result);
    expect(signs).toEqual(['working', 'result given']);
    expect(heard.sort()).toEqual(['activity text', 'text Hello.']);
    expect(facts).toMatchObject({ finalMessage: 'Done.', usage: { cost_usd: 0.5 } });
  });

  test('that it waits, for how long, and that it works again', () => {
    const { signs, heard } = read(retry(529), retry(null, null), text('Back.'));
    expect(signs).toEqual(['retrying 500', 'retrying null', 'working']);
    expect(heard.slice(0, 2)).toEqual(['retry 529', 'retry null']);
  });

  test.for([401, 403])('that it is hopeless: at the second %i', (status) => {
    expect(read(retry(status)).signs).toEqual(['retrying 500']);
    expect(read(retry(status), retry(status)).signs).toEqual([
      'retrying 500',
      'hopeless hopeless-retries',
    ]);
  });

  test('that it is not, where the model spoke between the two', () => {
    expect(read(retry(401), text('Back.'), retry(401)).signs).toEqual([
      'retrying 500',
      'working',
      'retrying 500',
    ]);
  });

  test('and it is never hopeless over faults that pass', () => {
    const { signs } = read(...[429, 500, 529, 502].map((status) => retry(status)));
    expect(new Set(signs)).toEqual(new Set(['retrying 500']));
  });
});

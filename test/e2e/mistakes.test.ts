import { describe, expect, test } from 'vitest';
import type { AgentName } from '../../src/core/agent/agents/agents.ts';
import { endingFacts, remedyFor } from '../../src/report/ending-lines.ts';
import { carryOutAll } from '../helpers/many-lines.ts';
import { makeScene } from '../helpers/scene.ts';

const COMMANDS_WITH_AN_ID = [
  ...['status', 'logs', 'stop', 'pause', 'tell', 'approve', 'reject', 'resume'],
];

describe('a mistyped word is answered with the one that was probably meant', () => {
  test('or with what helps, and nothing is started', async () => {
    const rows: readonly (readonly [string, RegExp])[] = [
      ['statsu', /statsu is not a command of ralph; did you mean status\?/],
      ['help rnu', /rnu is not a command of ralph; did you mean run\?/],
      ['--verison', /--verison is not a flag of ralph; did you mean --version\?/],
      ['run -p x --promt y', /--promt is not a flag of ralph run; did you mean --prompt\?/],
      ['run -p x --no-prevent-slep', /did you mean --no-prevent-sleep\?/],
      ['resume --tiemout +3m', /is not a flag of ralph resume; did you mean --timeout\?/],
      ['watch --intervl 3s', /is not a flag of ralph watch; did you mean --interval\?/],
      ['status --jsno', /--jsno is not a flag of ralph status; did you mean --json\?/],
      ['run -p x --agent claud', /found 'claud' \(did you mean claude\?\)/],
      ['run -p x --match statment', /found 'statment' \(did you mean statement\?\)/],
      ['run -p x --session fersh', /found 'fersh' \(did you mean fresh\?\)/],
      ['run -p x --task-type codign', /did you mean coding\?/],
      ['completion bsh', /expects one of bash, zsh, fish; found 'bsh'; did you mean bash\?/],
      [
        'run --zzzzzzzzzz',
        /--zzzzzzzzzz is not a flag of ralph run; ralph run --help lists them\./,
      ],
      ['logs --zzzzzzzzzz x', /is not a flag of ralph logs; ralph logs --help lists them\./],
      ['zzzzzzzzzz', /is not a command of ralph; expected one of .*run/],
      ['stop', /ralph stop needs the id of a task; ralph status lists them\./],
      ['tell t', /ralph tell needs a hint, but none was given: ralph tell \[options\] <id> <hint>/],
      ['completion', /ralph completion needs one of bash, zsh, fish/],
      ['status a b', /one word too many, 'b': ralph status .*\. Quote/],
      ['logs t --iteration', /--iteration needs a value/],
      ['-p x', /-p is a flag of ralph run: ralph run -p x/],
      ['--prompt x', /--prompt is a flag of ralph run: ralph run --prompt x/],
    ];
    const scene = await makeScene();
    const ends = await carryOutAll(rows.map(([words]) => ({ scene, args: words.split(' ') })));
    expect(rows.map(([words], index) => ({ words, ...ends[index] }))).toEqual(
      rows.map(([words, message]) => ({
        words,
        exitCode: 2,
        signal: null,
        stdout: '',
        stderr: expect.stringMatching(message),
        left: [],
      })),
    );
  });

  test('the id of a task, to each command that takes one', async () => {
    const scene = await makeScene([{ text: 'Working.' }, { text: 'TASK_COMPLETE' }]);
    await scene.ralph(['run', '-p', 'x', '--task-id', 'nightly', '-n', '1']);
    await scene.ralph(['run', '-p', 'x', '--task-id', 'weekly']);
    const rows = COMMANDS_WITH_AN_ID.flatMap((command) =>
      (
        [
          ['nigthly', 'did you mean nightly\\?'],
          ['wekly', 'did you mean weekly\\?'],
          ['zzzzzzzz', 'check the id and --vault'],
        ] as const
      ).map(([typed, help]) => {
        const line = [command, typed, ...(command === 'tell' ? ['hint'] : [])];
        return [line, new RegExp(`ralph: there is no task '${typed}' in .*; ${help}`)] as const;
      }),
    );
    const ends = await carryOutAll(rows.map(([args]) => ({ scene, args })));
    expect(rows.map(([line], index) => ({ line, ...ends[index] }))).toMatchObject(
      rows.map(([line, message]) => ({
        line,
        exitCode: 1,
        stderr: expect.stringMatching(message),
      })),
    );
  });
});

describe('every end that is not a completion says what to do', () => {
  // Written out here: they are the causes of the contract. A command cannot fail by the four between.
  test.for<[cause: string, agents: readonly AgentName[]]>([
    ['agent-not-found', ['claude', 'command']],
    ['not-logged-in', ['claude']],
    ['slash-command', ['claude']],
    ['bad-option', ['claude']],
    ['root-refused', ['claude']],
    ['no-credit', ['claude', 'command']],
    ['refused-request', ['claude', 'command']],
    ['aborted', ['claude', 'command']],
  ])('failed:%s', ([cause, agents]) => {
    for (const agent of agents) {
      expect(remedyFor('failed', `failed:${cause}`, agent, 'words')).toMatch(/.{20}/);
    }
  });

  const task = {
    taskId: 't',
    vault: '/v',
    stateDir: '/v/.ralph_state',
    keyFlag: null,
    needsTrust: false,
  };
  const fields = {
    at: '2026-01-02T03:04:05.678Z',
    task_id: 't',
    exit_code: 1,
    iterations_used: 1,
    usage: { cost_usd: 0, input_tokens: 0, output_tokens: 0 },
    evidence: null,
    changes: null,
    git: { snapshots: null, work_tree: null },
    final_message: null,
    note: null,
    state_file: '/v/.ralph_state/t.json',
    log_dir: '/v/.ralph_state/t',
  };

  test.for([
    [
      {
        event: 'max_iterations_reached',
        status: 'max_iterations_reached',
        exit_reason: 'max_iterations',
        max_iterations: 3,
      },
      '--max-iterations +5',
    ],
    [{ event: 'task_timeout', status: 'timeout', exit_reason: 'timeout' }, '--timeout +30m'],
    [
      { event: 'task_budget_spent', status: 'budget_spent', exit_reason: 'budget', until: null },
      '--max-cost +2',
    ],
    [
      {
        event: 'task_budget_spent',
        status: 'budget_spent',
        exit_reason: 'day_budget',
        until: null,
      },
      '',
    ],
    [{ event: 'task_stalled', status: 'stalled', exit_reason: 'no-progress', error: null }, ''],
    [
      {
        event: 'task_usage_limited',
        status: 'usage_limited',
        exit_reason: 'usage_limit',
        until: null,
      },
      '',
    ],
    [{ event: 'task_stopped', status: 'stopped', exit_reason: 'stopped:SIGINT' }, ''],
    [{ event: 'task_paused', status: 'paused', exit_reason: 'paused', final: true }, ''],
    [
      {
        event: 'task_paused',
        status: 'paused_awaiting_approval',
        exit_reason: 'approval-pending',
        final: true,
      },
      '',
    ],
    [{ event: 'task_failed', status: 'failed', exit_reason: 'failed:no-credit', error: 'x' }, ''],
  ] as const)('%j', ([ending, more]) => {
    const facts = endingFacts({ ...fields, ...ending }, { agent: 'claude', task });
    const next = facts.find(({ label }) => label === 'next');
    expect(next?.text).toBe(
      ['ralph resume t', more, '--vault /v'].filter((word) => word !== '').join(' '),
    );
  });
});

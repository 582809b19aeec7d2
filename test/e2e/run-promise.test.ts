import { describe, expect, test } from 'vitest';
import type { Turn } from '../helpers/fake-turn.ts';
import { PATIENCE_MS } from '../helpers/patience.ts';
import { makeScene, type Scene } from '../helpers/scene.ts';

const TAG = '<promise>COMPLETE</promise>';
const PROMISE = ['--promise', 'COMPLETE'];

test('the agent promises on its third call', async () => {
  const final = `All tests pass.\n\n${TAG}`;
  const scene = await makeScene([
    { text: 'I found the cause in @src/app.ts and @/etc/passwd.' },
    { text: 'I repaired it.' },
    { text: final },
  ]);
  const { exitCode, stdout } = await scene.ralph([
    ...['run', '--prompt', 'Fix it', ...PROMISE, '--delay', '0'],
  ]);
  expect(exitCode).toBe(0);
  expect(stdout).toBe(`${final}\n`);
  const calls = scene.fake.calls();
  expect(calls).toHaveLength(3);
  const [first, second, third] = calls.map(({ stdin }) => stdin);
  expect(first).toMatch(/^Fix it\n/);
  expect(first).not.toContain('NOT yet complete');
  expect(second).toMatch(/^Fix it\n/);
  expect(second).toContain('I found the cause in');
  expect(second).toContain(
    `The task is NOT yet complete. Please continue and ensure '${TAG}' is satisfied.`,
  );
  // Nothing of the output may pull files into the prompt.
  expect(second).toContain('\\@src/app.ts and \\@/etc/passwd');
  expect(second).not.toMatch(/(?<!\\)@/);
  expect(third).toContain('I repaired it.');
  expect(third).not.toContain('I found the cause');
  // The same at every call, so that the agent's prompt cache holds; and short.
  const note = first?.slice('Fix it'.length).trim() ?? '';
  expect(note.length).toBeLessThan(900);
  expect(second).toContain(note);
  expect(third).toContain(note);
});

test('without a condition the promise is TASK_COMPLETE', async () => {
  const scene = await makeScene([{ text: 'COMPLETE' }, { text: 'Well done.\n\nTASK_COMPLETE' }]);
  const { exitCode } = await scene.run();
  expect(exitCode).toBe(0);
  expect(scene.fake.calls()).toHaveLength(2);
  expect(scene.fake.calls()[0]?.stdin).toContain('<promise>TASK_COMPLETE</promise>');
});

test.for([['--promise', TAG] as const, ['--completion-promise', ' COMPLETE '] as const])(
  'the promise is taken as it is meant: %s %s',
  async ([flag, value]) => {
    const scene = await makeScene({ text: TAG });
    const { exitCode } = await scene.run([flag, value, '-n', '1']);
    expect(exitCode).toBe(0);
    expect(scene.state().completion_promise).toBe('COMPLETE');
  },
);

const SUB_AGENT = JSON.stringify({
  type: 'assistant',
  parent_tool_use_id: 'toolu_1',
  message: { id: 'msg_sub', role: 'assistant', content: [{ type: 'text', text: TAG }] },
});

/** How often a message is a near miss: words of the final message that ralph can tell the agent about. */
const NEAR = 1;
const NOT_AT_ALL = 0;

/** For a run of many iterations. */
const LONG_MS = 2 * PATIENCE_MS;
/** Nothing of an iteration is told to the next one, and none of them is one too many. */
const EACH_BY_ITSELF = ['--context', 'none', '--no-progress-limit', '0', '--delay', '0'];

describe('none of these completes', () => {
  test('whatever is mentioned, quoted, or said elsewhere than in the final message', async () => {
    const rows: readonly (readonly [string, Turn, number])[] = [
      ['inside a longer word', { text: 'INCOMPLETE' }, NOT_AT_ALL],
      ['in another case', { text: '<promise>Complete</promise>' }, NOT_AT_ALL],
      [
        'in a tool result',
        { tools: [{ name: 'Bash', result: TAG }], text: 'Tests fail.' },
        NOT_AT_ALL,
      ],
      [
        'in a tool call',
        { tools: [{ name: 'Bash', input: { command: `echo '${TAG}'` } }], text: 'Tests fail.' },
        NOT_AT_ALL,
      ],
      ['in thinking', { thinking: TAG, text: 'Tests fail.' }, NOT_AT_ALL],
      ['in thinking alone', { thinking: TAG }, NOT_AT_ALL],
      ['on standard error', { stderr: `${TAG}\n`, text: 'Tests fail.' }, NOT_AT_ALL],
      ['outside the events', { raw: [TAG], text: 'Tests fail.' }, NOT_AT_ALL],
      ['in an earlier message', { before: [TAG], text: 'On reflection, no.' }, NOT_AT_ALL],
      ['in an earlier message alone', { before: [TAG, 'No.'] }, NOT_AT_ALL],
      ['by a sub-agent', { raw: [SUB_AGENT], text: 'It says it is done.' }, NOT_AT_ALL],
      ['by a sub-agent alone', { raw: [SUB_AGENT] }, NOT_AT_ALL],
      ['in a tool result of a sub-agent', subAgentTool(TAG), NOT_AT_ALL],
      ['denied', { text: `I am NOT outputting ${TAG} because tests fail.` }, NEAR],
      ['in an open fence', { text: `Like this:\n\n\`\`\`xml\n${TAG}` }, NEAR],
      ['quoted', { text: `> ${TAG}` }, NEAR],
      ['as a question', { text: `${TAG}?` }, NEAR],
      ['bare in a sentence', { text: 'The work is not COMPLETE.' }, NEAR],
      ['in printed thinking', { text: `<think>\n${TAG}\n</think>\n\nTests fail.` }, NEAR],
    ];
    const scene = await makeScene(rows.map(([, turn]) => turn));
    const { exitCode, stdout, stderr } = await scene.run(
      [...PROMISE, ...EACH_BY_ITSELF, '-n', String(rows.length)],
      { timeoutMs: LONG_MS },
    );
    const { iterations } = scene.state();
    const seen = rows.map(([name], index) => [
      name,
      iterations[index]?.completed,
      nearMissesOf(scene, index + 1),
      iterations[index]?.near_miss,
    ]);
    expect(seen).toEqual(
      rows.map(([name, , nearMisses]) => [name, false, nearMisses, nearMisses > 0]),
    );
    expect(stderr).toMatch(/iterations ran out/);
    expect({ exitCode, stdout }).toEqual({ exitCode: 3, stdout: '' });
  });

  // These are asked back, by a second call in the same iteration.
  test.for([
    ['announced', `I shall end with:\n\n${TAG}`],
    ['bare, as the closing sentence', 'All tests pass. COMPLETE'],
  ] as const)('%s', async ([, text]) => {
    const scene = await makeScene({ text });
    const { exitCode, stdout } = await scene.run([...PROMISE, '-n', '1']);
    expect({ exitCode, stdout }).toEqual({ exitCode: 3, stdout: '' });
    expect(nearMissesOf(scene, 1)).toBe(NEAR);
    expect(scene.state().iterations[0].near_miss).toBe(true);
  });

  test('the promise of a call that failed', async () => {
    const rows: readonly (readonly [string, Turn])[] = [
      ['is_error', { before: ['On it.'], isError: true, text: `Done.\n\n${TAG}`, exitCode: 0 }],
      ['is_error and exit code 1', { before: ['On it.'], isError: true, text: TAG }],
      ['a non-zero exit', { text: TAG, exitCode: 3 }],
      ['no result line', { text: TAG, noResult: true }],
      ['its own turn limit', { before: [TAG], subtype: 'error_max_turns', isError: true }],
    ];
    const scene = await makeScene(rows.map(([, turn]) => turn));
    const { exitCode, stdout } = await scene.run([
      ...[...PROMISE, ...EACH_BY_ITSELF, '-n', String(rows.length)],
    ]);
    const { iterations } = scene.state();
    expect(rows.map(([name], index) => [name, iterations[index]?.completed])).toEqual(
      rows.map(([name]) => [name, false]),
    );
    expect({ exitCode, stdout }).toEqual({ exitCode: 3, stdout: '' });
  });

  test('untagged, where the rule is tag', async () => {
    const scene = await makeScene({ text: 'COMPLETE' });
    const { exitCode } = await scene.run([...PROMISE, '--match', 'tag', '-n', '1']);
    expect(exitCode).toBe(3);
    expect(scene.journal()).toContainEqual(
      expect.objectContaining({ event: 'near_miss', why: 'untagged', line: 'COMPLETE' }),
    );
  });
});

/** How many near misses of an iteration the journal tells. */
function nearMissesOf(scene: Scene, iteration: number): number {
  return scene
    .journal()
    .filter((each) => each.event === 'near_miss' && each.iteration === iteration).length;
}

function subAgentTool(result: string): Turn {
  return { tools: [{ name: 'Bash', result, parent: 'toolu_9' }], text: 'It ran something.' };
}

describe('all of these complete', () => {
  test.for<[string, string]>([
    ['the tag on the last line', `All good.\n${TAG}\n`],
    ['with CRLF and colour', `Good.\r\n\u001b[32m${TAG}\u001b[0m\r\n`],
    ['bare, as the last line', 'All good.\n\nCOMPLETE'],
  ])('%s', async ([, text]) => {
    const scene = await makeScene({ before: ['Working.'], text });
    const { exitCode, stderr } = await scene.run([...PROMISE, '-n', '1']);
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
    expect(scene.state()).toMatchObject({ status: 'completed', evidence: { kind: 'promise' } });
  });

  test('anywhere, where the rule is contains', async () => {
    const scene = await makeScene({ text: 'It is not COMPLETE_LY done' });
    const { exitCode } = await scene.run([...PROMISE, '--match', 'contains', '-n', '1']);
    expect(exitCode).toBe(0);
  });

  test('a promise of several words, and one that looks like a pattern', async () => {
    const words = 'All (100%) of it.* is $done$ \\o/';
    const scene = await makeScene([
      { text: 'All X100%Y of its is done o' },
      { text: `Good.\n\n<promise>All (100%)\n of it.* is $done$ \\o/</promise>` },
    ]);
    const { exitCode } = await scene.run(['--promise', words, '-n', '2']);
    expect(exitCode).toBe(0);
    expect(scene.fake.calls()).toHaveLength(2);
  });
});

test('a near miss is shown, and told to the agent', async () => {
  const scene = await makeScene([
    { text: `I will state ${TAG} soon, says @boss.` },
    { text: `Good.\n\n${TAG}` },
  ]);
  const { exitCode, stderr } = await scene.run(PROMISE);
  expect(exitCode).toBe(0);
  expect(stderr).toMatch(
    /not counted: the promise is inside a sentence: I will state <promise>COMPLETE<\/promise> soon/,
  );
  const { stdin } = scene.fake.calls()[1] ?? { stdin: '' };
  const reminder = stdin.slice(stdin.indexOf('The task is NOT yet complete'));
  expect(reminder).toMatch(/mentioned the promise without stating it.*I will state/);
  expect(reminder).toContain('\\@boss');
});

test('a question is answered with: nobody answers', async () => {
  const scene = await makeScene([{ text: 'Shall I go on?' }, { text: TAG }]);
  expect((await scene.run(PROMISE)).exitCode).toBe(0);
  expect(scene.fake.calls()[1]?.stdin).toMatch(/NOT yet complete[\s\S]*Nobody answers questions/);
});

test('a prompt that states the promise on a line of its own is warned about', async () => {
  const prompt = `Fix it. When done, say:\n${TAG}\n`;
  const scene = await makeScene({ text: 'No.' });
  const warned = await scene.ralph(['run', '-p', prompt, ...PROMISE, '-n', '1']);
  expect(warned.stderr).toMatch(/prompt itself states the promise/);
  const plain = await scene.ralph([
    'run',
    '-p',
    `Fix it. At the end: ${TAG}`,
    ...PROMISE,
    '-n',
    '1',
  ]);
  expect(plain.stderr).not.toMatch(/prompt itself states the promise/);
});

describe('an agent that only echoes never completes', () => {
  // Each iteration another kind of echo; what one leaves is the context of the next.
  const ECHOES = [
    'cat',
    'cat',
    'cat',
    "sed 's/^/> /'",
    "tr '\\n' ' '",
    "tr ' ' '\\n'",
    'fold -s -w 40',
    'tail -n 2',
    'tail -n 1',
    'tail -c 400',
    "grep -A1 -B1 'promise'",
    'cat; echo; cat',
    'tac',
    "sed 's/^Fix it$//'",
    'cat',
  ];
  const echo = ECHOES.map((command, index) => `${index + 1}) ${command};;`).join(' ');

  test.for([
    ['statement'],
    ['tag'],
    ['contains'],
    ['statement', '--context', 'none'],
    ['contains', '--context-chars', '300'],
    ['statement', '--context-chars', '700'],
  ])('--match %s', async (match) => {
    const scene = await makeScene();
    const agent = ['--agent', 'command', '--agent-command', 'sh ./echo.sh'];
    await scene.write('echo.sh', `case $RALPH_ITERATION in ${echo} esac`);
    const { exitCode, stderr } = await scene.run([
      ...[...agent, ...PROMISE, '--match', ...match, '-n', String(ECHOES.length)],
    ]);
    expect(stderr).not.toMatch(/^ralph: completed/m);
    expect(exitCode).toBe(3);
    expect(scene.state().iterations).toHaveLength(ECHOES.length);
  });

  test('cat, given as the command itself', async () => {
    const scene = await makeScene();
    for (const match of ['statement', 'tag', 'contains']) {
      const agent = ['--agent', 'command', '--agent-command', 'cat', '--match', match];
      const { exitCode } = await scene.run([...agent, ...PROMISE, '-n', '3']);
      expect({ match, exitCode }).toEqual({ match, exitCode: 3 });
    }
  });
});

import { describe, expect, test } from 'vitest';
import { carryOutAll, type LineEnd } from '../helpers/many-lines.ts';
import { makeScene } from '../helpers/scene.ts';

const DONE = { text: 'TASK_COMPLETE' };
const PROMPT = ['--prompt', 'Fix it'];

/** Carries the lines out and expects of each a usage error that started and left nothing. */
async function refusals(lines: readonly (readonly string[])[]): Promise<readonly LineEnd[]> {
  const scene = await makeScene(DONE);
  const ends = await carryOutAll(lines.map((args) => ({ scene, args })));
  expect(ends).toHaveLength(lines.length);
  expect(scene.fake.calls()).toEqual([]);
  expect(scene.names()).toEqual([]);
  expect(scene.names('../home')).toEqual([]);
  return ends;
}

/** The lines of a usage error. */
function linesOf({ exitCode, stdout, stderr, left }: LineEnd): readonly string[] {
  expect({ exitCode, stdout, stderr, left }).toMatchObject({ exitCode: 2, stdout: '', left: [] });
  expect(stderr).toMatch(/^(ralph: .+\n)+$/);
  return stderr.trimEnd().split('\n');
}

test('everything that is wrong is said at once', async () => {
  const scene = await makeScene(DONE);
  const args = [
    'run',
    '--promis=x',
    ...['-n', '0'],
    ...['--timeout', 'soon'],
    ...['--match', 'regex'],
    ...['--task-id', '../x'],
    ...['--cwd', 'nowhere'],
    ...['--promise', ''],
    ...['--agent', 'command'],
    '--watch-existing',
    '--done-folder',
  ];
  const { stdout, stderr, exitCode } = await scene.ralph(args);
  expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 2 });
  expect(scene.fake.calls()).toEqual([]);
  expect(scene.names()).toEqual([]);
  expect(scene.names('../home')).toEqual([]);
  const lines = stderr.trimEnd().split('\n');
  const said = lines.join('\n');
  for (const pattern of [
    /--promis is not a flag.*--promise/,
    /--max-iterations expects.*'0'/,
    /--timeout expects a duration.*'soon'/,
    /--match expects one of statement, tag, contains.*'regex'/,
    /--task-id expects.*'\.\.\/x'/,
    /--cwd expects.*nowhere/,
    /--promise expects/,
    /--agent command needs --agent-command/,
    /--watch-existing needs --watch-glob/,
    /--done-folder needs a value/,
    /exactly one of --prompt.*none/,
  ]) {
    expect(said).toMatch(pattern);
  }
  // One sentence each, and none that is not true.
  expect(lines).toHaveLength(11);
});

describe('one thing is wrong, and one thing is said', () => {
  const rows: readonly (readonly [readonly string[], RegExp])[] = [
    // Flags that are not there.
    [['--max-iteration', '3'], /--max-iteration is not a flag.*did you mean --max-iterations\?/],
    [['--promt-file=x'], /--promt-file is not a flag.*--prompt-file/],
    [['--xyzzy'], /--xyzzy is not a flag/],
    [['-x'], /-x is not a flag/],
    [['--verfy', 'npm test'], /--verfy is not a flag.*--verify/],
    // Conditions, gates and limits.
    ...['--verify', '--until', '--after', '--on-end'].map((flag): [string[], RegExp] => [
      [flag, ' '],
      new RegExp(`${flag} expects a shell command`),
    ]),
    [['--signal', ''], /--signal expects/],
    [['--abort-promise', ' '], /--abort-promise expects/],
    [['--confirm', '0'], /--confirm expects/],
    [['--confirm', '3', '-n', '2'], /--confirm \(3\) is more than the iterations there are \(2/],
    [['--min-iterations', '3', '-n', '2'], /--min-iterations \(3\) is more than .*\(2/],
    [['--session', 'resume'], /--session expects one of fresh, continue; found 'resume'/],
    ...['0', '-1', 'two', '$2'].map((cost): [string[], RegExp] => [
      ['--max-cost', cost],
      /--max-cost expects/,
    ]),
    ...['0', '101', '80 percent'].map((percent): [string[], RegExp] => [
      ['--max-usage', percent],
      /--max-usage expects/,
    ]),
    [['--no-progress-limit', '-1'], /--no-progress-limit expects/],
    [['--same-error-limit', 'x'], /--same-error-limit expects/],
    // Values.
    [['--promise'], /--promise needs a value/],
    [['-n'], /-n needs a value/],
    [['--watch-existing=yes', '--watch-glob', 'x'], /--watch-existing (takes|expects) no value/],
    [['--promise', ''], /--promise expects/],
    [['--promise', ' \t'], /--promise expects/],
    [['--promise', '<promise> </promise>'], /--promise expects/],
    [['--completion-promise', ''], /--completion-promise expects/],
    ...['0', '-1', '1.5', 'three', '', '1e3', '0x10', '99999999999999999999'].map(
      (count): [string[], RegExp] => [['-n', count], /--max-iterations expects a whole number/],
    ),
    ...['5', 'soon', '-5s', '5 minutes', '1m30', '', '0', '0s', 'NaN', '1e3s', '5S'].map(
      (time): [string[], RegExp] => [['--timeout', time], /--timeout expects a duration/],
    ),
    [['--iteration-timeout', '0s'], /--iteration-timeout expects a duration.*more than 0/],
    [['--delay', '-1s'], /--delay expects a duration/],
    [['--context-chars', '0'], /--context-chars expects/],
    [['--context', 'all'], /--context expects one of last, none; found 'all'/],
    [['--match', 'Statement'], /--match expects one of/],
    [['--iteration-timeout', '2h'], /--iteration-timeout \(7200s\) is longer than/],
    [
      ['--iteration-timeout', '2m', '--timeout', '1m'],
      /--iteration-timeout \(120s\) is longer than .*\(60s/,
    ],
    [['--delay', '1h', '--timeout', '30m'], /--delay \(3600s\)/],
    [['--watch-glob', ''], /--watch-glob expects/],
    [['--watch-file', ''], /--watch-file expects/],
    [['--watch-existing'], /--watch-existing needs --watch-glob/],
    [['--done-folder', 'Done'], /--done-folder needs --watch-file/],
    [['--cwd', 'nowhere'], /--cwd expects an existing folder.*nowhere/],
    [['--vault', '/dev/null'], /--vault expects a folder/],
    // Task ids.
    ...['..', '../x', 'a/b', '.x', '-x', '', 'a b', 'a\n', 'ü', 'history', 'x'.repeat(129)].map(
      (id): [string[], RegExp] => [['--task-id', id], /--task-id expects/],
    ),
    // Agents.
    [
      ['--agent', 'other'],
      /--agent expects one of claude, codex, .*, command, or several .*; found 'other'/,
    ],
    [['--agent', 'command'], /--agent command needs --agent-command/],
    [['--agent', 'command', '--agent-command', '  '], /--agent command needs --agent-command/],
    [['--agent', 'command', '--agent-command', "sh -c 'x"], /quote that is not closed/],
    [['--agent', 'claude', '--agent-command', 'cat'], /--agent-command goes with --agent command/],
    ...[
      ['--model', 'opus'],
      ['--claude-bin', '/x'],
      ['--permission-mode', 'plan'],
      ['--allowed-tools', 'Edit'],
      ['--dangerously-skip-permissions'],
      ['--max-cost', '2'],
      ['--max-usage', '80'],
      ['--session', 'continue'],
      ['--accept-refused', '*'],
    ].map((flag): [string[], RegExp] => [
      ['--agent', 'command', '--agent-command', 'cat', ...flag],
      new RegExp(`${flag[0]} is for --agent claude`),
    ]),
    ...['--model', '--permission-mode', '--allowed-tools'].flatMap((flag) =>
      ['--settings', '-p', ' --x'].map((value): [string[], RegExp] => [
        [`${flag}=${value}`],
        new RegExp(`${flag} expects no value that begins with a dash; found '${value}'`),
      ]),
    ),
    [
      ['--allowed-tools', 'Read', '--allowed-tools=--settings'],
      /--allowed-tools expects no value that begins with a dash; found '--settings'/,
    ],
    [['--', '--output-format', 'json'], /--output-format after --/],
    [['--', '--input-format=stream-json'], /--input-format after --/],
    // Stray words.
    [['fix', '--json'], /takes one prompt, found "fix" beside --prompt: remove one of them/],
    [['--jsom', 'fix'], /--jsom is not a flag of ralph run; did you mean --json\?/],
    // A bad value brings no second sentence about what was put in its place.
    [['--agent', 'comand', '--agent-command', 'cat'], /--agent expects one of/],
    [['--timeout', 'soon', '--iteration-timeout', '2h'], /--timeout expects a duration/],
  ];
  let ends: Promise<readonly LineEnd[]> | undefined;
  const numbered = rows.map(([args, message], index) => [args, message, index] as const);

  test.for(numbered)('%j', async ([, message, index]) => {
    ends ??= refusals(rows.map(([args]) => ['run', ...PROMPT, ...args]));
    const said = (await ends).slice(index, index + 1).map(linesOf);
    expect(said).toEqual([[expect.stringMatching(message)]]);
  });
});

describe('what looks wrong and is not', () => {
  test.for<[readonly string[]]>([
    [['--task-id', 'x'.repeat(128)]],
    [['--task-id', '_A.b-9']],
    [['--timeout', '1h30m', '--iteration-timeout', '1h30m', '--delay', '0']],
    [['--iteration-timeout', '1d', '--timeout', '7d', '--delay', '500ms']],
    [['--timeout', '60s']],
    [['-n5']],
    [['--max-iterations=5', '--context=none', '--no-color']],
    [['--agent-command', 'sh -c "echo TASK_COMPLETE"', '--agent', 'command']],
    [['--agent-command', 'echo TASK_COMPLETE', '--', '--output-format', 'json.\n\nTASK_COMPLETE']],
    [['--vault', 'deep/not/yet/there']],
  ])('%j', async ([args]) => {
    const scene = await makeScene(DONE);
    const { exitCode, stderr } = await scene.ralph(['run', ...PROMPT, ...args]);
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
  });
});

test('no task can touch the files of another by its id', async () => {
  const scene = await makeScene({ text: 'No.' });
  await scene.ralph(['run', ...PROMPT, '-n', '1', '--task-id', 'a']);
  for (const id of ['a.json', 'events.jsonl', 'events', 'history']) {
    await scene.ralph(['run', ...PROMPT, '-n', '1', '--task-id', id]);
  }
  expect(scene.state('a').task_id).toBe('a');
  expect(scene.read('.ralph_state/a/prompt.md')).toBe('Fix it');
  const events = scene.journal().filter(({ task_id }) => task_id === 'a');
  expect(events[0].event).toBe('task_started');
  expect(events.at(-1).event).toBe('max_iterations_reached');
});

describe('the command itself', () => {
  test.for<[readonly string[], RegExp]>([
    [[], /a command is needed/],
    [['rnu'], /rnu is not a command.*did you mean run\?/],
    [['frobnicate'], /frobnicate is not a command.*run/],
    [['--frobnicate'], /--frobnicate/],
    [['demo', '--frobnicate'], /--frobnicate/],
    [['demo', 'now'], /now|argument/],
  ])('%j is a usage error', async ([args, message]) => {
    const scene = await makeScene(DONE);
    const { exitCode, stdout, stderr } = await scene.ralph(args);
    expect(stderr).toMatch(message);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(scene.names()).toEqual([]);
  });

  test('help and version are on standard output, exit 0', async () => {
    const scene = await makeScene(DONE);
    for (const args of [['--help'], ['run', '--help'], ['run', '-n', '0', '-h'], ['demo', '-h']]) {
      const { exitCode, stdout, stderr } = await scene.ralph(args);
      expect({ args, exitCode, stderr }).toEqual({ args, exitCode: 0, stderr: '' });
      expect(stdout).toMatch(/^Usage: ralph/);
    }
    for (const flag of ['--version', '-V']) {
      const { exitCode, stdout } = await scene.ralph([flag]);
      expect(exitCode).toBe(0);
      expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    }
  });
});

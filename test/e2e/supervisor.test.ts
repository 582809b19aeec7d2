import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Turn } from '../helpers/fake-turn.ts';
import { isDead } from '../helpers/processes.ts';
import { type Json, makeScene, type Scene } from '../helpers/scene.ts';

// What goes wrong inside one iteration ends it, and honest work goes on.

type Tool = NonNullable<Turn['tools']>[number];

const RED: Tool = { name: 'Bash', input: { command: 'npm test' }, result: 'red', isError: true };
const DONE: Turn = { text: 'Done.\n\nTASK_COMPLETE' };

/** An agent that makes these calls and then never ends. */
function stuck(tools: readonly Tool[], more: Turn = {}): Turn {
  return { tools, hangs: true, ...more };
}

function times(count: number, tool: Tool): readonly Tool[] {
  return Array.from({ length: count }, () => tool);
}

function supervised(scene: Scene): readonly Json[] {
  return scene.journal().filter(({ event }) => event === 'supervisor');
}

describe('the same failing call, again and again', () => {
  test('is told, then ends the iteration, and the next prompt names it', async () => {
    const scene = await makeScene([stuck(times(60, RED)), DONE]);
    const end = await scene.run(['-n', '3', '--delay', '0']);
    expect(end).toMatchObject({ exitCode: 0 });
    expect(supervised(scene)).toMatchObject([
      { iteration: 1, sign: 'same-failing-call', action: 'told', count: 5 },
      { iteration: 1, sign: 'same-failing-call', action: 'cut', count: 20 },
    ]);
    expect(end.stderr).toContain(
      'ralph: ending the iteration: 20 repeated calls failed and nothing new worked, the last one Bash: npm test',
    );
    expect(scene.state().iterations).toMatchObject([
      { outcome: 'cut', cut_by: 'same-failing-call' },
      { outcome: 'answered' },
    ]);
    const [first, second] = scene.fake.calls();
    expect(second?.stdin).toContain('20 repeated calls failed');
    expect(second?.stdin).toContain('Bash: npm test');
    expect(second?.stdin).toContain('Do not try that again');
    expect(isDead(first?.pid ?? 0)).toBe(true);
  });

  test('in two iterations running, the task is stalled, with a note', async () => {
    const scene = await makeScene(stuck(times(60, RED)));
    const end = await scene.run(['-n', '9', '--delay', '0']);
    expect(end).toMatchObject({ exitCode: 5 });
    expect(scene.fake.calls()).toHaveLength(2);
    expect(scene.state()).toMatchObject({
      status: 'stalled',
      exit_reason: 'supervisor:same-failing-call',
    });
    expect(scene.notes()).toMatchObject([{ frontMatter: { type: 'ralph_stalled' } }]);
    expect(end.stderr).toContain('--same-failing-limit 0');
  });

  test.for([['--same-failing-limit', '0'], ['--no-supervise']])(
    'goes on with %s',
    async (flags) => {
      const scene = await makeScene({ tools: times(60, RED), ...DONE });
      expect(await scene.run(flags)).toMatchObject({ exitCode: 0 });
      expect(supervised(scene)).toEqual([]);
    },
  );

  test('of a sub-agent ends the iteration while the main agent gets on', async () => {
    const parent = 'toolu_main';
    const tools = Array.from({ length: 60 }, (_, index) => [
      { ...RED, parent },
      { name: 'Edit', input: { file_path: 'a.ts', new_string: `line ${index}` } },
    ]).flat();
    const scene = await makeScene([stuck(tools), DONE]);
    expect(await scene.run(['--delay', '0'])).toMatchObject({ exitCode: 0 });
    expect(scene.state().iterations).toMatchObject([{ outcome: 'cut' }, { outcome: 'answered' }]);
  });
});

test('a red test after each of 40 edits is honest work', async () => {
  const tools = Array.from({ length: 40 }, (_, index) => [
    { name: 'Edit', input: { file_path: 'a.ts', new_string: `line ${index}` } },
    RED,
  ]).flat();
  const scene = await makeScene({ tools, ...DONE });
  expect(await scene.run()).toMatchObject({ exitCode: 0 });
  expect(supervised(scene)).toEqual([]);
});

test('calls that nobody allows end the iteration', async () => {
  const denials = Array.from({ length: 30 }, (_, index) => ({
    name: 'Write',
    input: { file_path: `${index}.txt` },
  }));
  const scene = await makeScene([{ denials, hangs: true }, DONE]);
  expect(await scene.run(['--delay', '0'])).toMatchObject({ exitCode: 0 });
  expect(supervised(scene)).toMatchObject([
    { sign: 'refused', action: 'told', count: 5 },
    { sign: 'refused', action: 'cut', count: 20 },
  ]);
  expect(scene.fake.calls()[1]?.stdin).toContain('Nobody allows these calls');
});

describe('limits that are off by default', () => {
  test('--max-iteration-tokens', async () => {
    const scene = await makeScene([stuck(times(9, RED)), DONE]);
    await scene.run(['--max-iteration-tokens', '500', '--delay', '0']);
    expect(supervised(scene)).toMatchObject([{ sign: 'tokens', action: 'cut' }]);
    expect(scene.state().iterations[0]).toMatchObject({ outcome: 'cut', cut_by: 'tokens' });
  });

  test('--max-subagents: so many may start, and the next one ends the iteration', async () => {
    const starts = (count: number): readonly string[] =>
      Array.from({ length: count }, (_, index) =>
        JSON.stringify({
          type: 'system',
          subtype: 'task_started',
          task_id: `a${index}`,
          task_type: 'local_agent',
          tool_use_id: `toolu_${index}`,
        }),
      );
    const scene = await makeScene([
      { raw: starts(3), hangs: true },
      { raw: starts(2), text: 'Not yet.' },
      DONE,
    ]);
    expect(await scene.run(['--max-subagents', '2', '--delay', '0'])).toMatchObject({
      exitCode: 0,
    });
    expect(supervised(scene)).toMatchObject([{ sign: 'subagents', action: 'cut', count: 3 }]);
    expect(scene.state().iterations).toMatchObject([
      { cut_by: 'subagents' },
      { outcome: 'answered' },
      { outcome: 'answered' },
    ]);
  });
});

/** An agent that works without end, and tells after each step that it has cost 30 cents. */
const ENDLESS = `#!/bin/sh
cat >/dev/null
step() { printf '{"type":"%s","sessionID":"ses_1","part":%s}\\n' "$1" "$2"; }
while :; do
  step step_start '{"type":"step-start"}'
  step step_finish '{"type":"step-finish","reason":"tool-calls","tokens":{"input":60,"output":20,"cache":{"write":0,"read":0}},"cost":0.3}'
  sleep 0.05
done
`;

test('an agent that tells its cost as it goes ends at the task’s cap', async () => {
  const scene = await makeScene(DONE);
  const program = join(scene.folder, 'opencode');
  writeFileSync(program, ENDLESS);
  chmodSync(program, 0o755);
  const end = await scene.run(['--agent', 'opencode', '--agent-bin', program, '--max-cost', '1']);
  expect(end).toMatchObject({ exitCode: 8 });
  const { status, usage, iterations } = scene.state();
  expect({ status, iterations }).toMatchObject({
    status: 'budget_spent',
    iterations: [{ outcome: 'cut', cut_by: 'money' }],
  });
  expect(usage.cost_usd).toBeGreaterThanOrEqual(1);
  expect(usage.cost_usd).toBeLessThan(3);
});

const CEILING = 'CLAUDE_CODE_PRINT_BG_WAIT_CEILING_MS';

test('sub-agents in the background have the time of the iteration, less ten seconds', async () => {
  const scene = await makeScene(DONE);
  await scene.run(['--iteration-timeout', '100s']);
  expect(scene.fake.calls()[0]?.env[CEILING]).toBe('90000');
  await scene.run(['--iteration-timeout', '100s'], { env: { [CEILING]: '5' } });
  expect(scene.fake.calls()[1]?.env[CEILING]).toBe('5');
  await scene.run(['--iteration-timeout', '40d', '--timeout', '50d']);
  expect(scene.fake.calls()[2]?.env[CEILING]).toBe(String(2 ** 31 - 1));
  await scene.run(['--iteration-timeout', '10s']);
  expect(scene.fake.calls()[3]?.env[CEILING]).toBe('1000');
});

test('the dry run says what ends an iteration, and which agent does not tell it', async () => {
  const scene = await makeScene(DONE);
  const { stdout } = await scene.run([
    ...['--agent', 'codex', '--max-iteration-tokens', '9', '--dry-run', '--verbose'],
  ]);
  expect(stdout).toContain('  same-failing-call: told at 5, ended at 20\n');
  expect(stdout).toContain('  tokens: ended at 9; off for codex, which does not tell it\n');
  expect(stdout).toContain('  subagents: no limit\n');
  expect(stdout).toContain('--max-iteration-tokens has no effect on codex');
});

test('shell commands in the background are no sub-agents at work', async () => {
  const raw = ['local_bash', 'local_agent'].map((task_type) =>
    JSON.stringify({ type: 'system', subtype: 'task_started', task_id: task_type, task_type }),
  );
  const scene = await makeScene({ raw, ...DONE });
  const { stdout } = await scene.run(['--json', '-n', '1']);
  expect(stdout.match(/"kind":"sub-agents","working":\d/g)).toEqual([
    '"kind":"sub-agents","working":1',
  ]);
});

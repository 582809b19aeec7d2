import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { playedAgent } from '../helpers/played-agent.ts';
import { makeScene } from '../helpers/scene.ts';

/** A scene, and beside it an agent that plays recordings. */
async function played(agent: string, recordings: Parameters<typeof playedAgent>[2]) {
  const scene = await makeScene({ text: 'not asked' });
  return { scene, ...playedAgent(scene.folder, agent, recordings) };
}

const EVENT_AGENTS = ['codex', 'gemini', 'opencode', 'qwen', 'copilot'];
const DONE = ['--promise', 'DONE', '--no-ask-back'];

describe.for(EVENT_AGENTS)('--agent %s', (agent) => {
  test('goes on after an early promise, and completes by the final message', async () => {
    const { scene, bin, calls } = await played(agent, [
      { file: 'early-promise-then-denial' },
      { file: 'promise' },
    ]);
    const { exitCode, stdout } = await scene.run(['--agent', agent, '--agent-bin', bin, ...DONE]);
    expect({ exitCode, stdout }).toEqual({
      exitCode: 0,
      stdout: 'All done.\n\n<promise>DONE</promise>\n',
    });
    expect(calls()).toHaveLength(2);
    const logs = await scene.ralph(['logs', 't']);
    expect(logs.stdout).toContain('Two tests still fail.');
    expect(logs.stdout).not.toContain('{"type"');
  });

  test('is held where tools were refused, and the ending names the tool', async () => {
    const { scene, bin } = await played(agent, [{ file: 'refused-then-promise' }]);
    const { exitCode } = await scene.run(['--agent', agent, '--agent-bin', bin, ...DONE]);
    expect(exitCode).toBe(5);
    const { iterations } = scene.state();
    expect(iterations[0]?.refused[0]).toMatch(/write_file|bash|command/);
  });

  test('ends at the first bad key, with what to do', async () => {
    const { scene, bin, calls } = await played(agent, [{ file: 'unauthorized-401', exitCode: 1 }]);
    const { exitCode, stderr } = await scene.run(['--agent', agent, '--agent-bin', bin, ...DONE]);
    expect({ exitCode, calls: calls().length }).toEqual({ exitCode: 1, calls: 1 });
    expect(stderr).toMatch(/not-logged-in.*log in/s);
  });
});

test('a resumed session is counted once', async () => {
  const { scene, bin, calls } = await played('codex', [
    { file: 'early-promise-then-denial' },
    { file: 'promise' },
  ]);
  const words = ['--agent', 'codex', '--agent-bin', bin, '--session', 'continue', ...DONE];
  expect((await scene.run(words)).exitCode).toBe(0);
  expect(calls()[1]).toMatch(/resume [\da-f-]{36} -$/);
  expect(scene.state().usage).toMatchObject({ input_tokens: 200, output_tokens: 40 });
});

test('what an agent may do is said where nothing was given', async () => {
  const { scene, bin } = await played('codex', [{ file: 'promise' }]);
  const args = ['--agent', 'codex', '--agent-bin', bin, ...DONE];
  expect((await scene.run(args)).stderr).toContain('read-only sandbox');
  const free = await scene.run([...args, '--permission-mode', 'acceptEdits']);
  expect(free.stderr).not.toContain('read-only sandbox');
});

test('a file that the prompt names with an @ is said', async () => {
  const { scene, bin } = await played('gemini', [{ file: 'promise' }]);
  writeFileSync(join(scene.folder, 'notes.md'), 'x');
  const prompt = 'Read @notes.md and me@example.com and @nothing.md';
  const args = ['--agent', 'gemini', '--agent-bin', bin, ...DONE];
  const { stderr } = await scene.ralph(['run', '--prompt', prompt, ...args]);
  expect(stderr).toContain('with an @ (@notes.md)');
});

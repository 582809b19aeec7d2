import { expect, test } from 'vitest';
import { playedAgent } from '../helpers/played-agent.ts';
import { makeScene } from '../helpers/scene.ts';

test('the log of each iteration is read as its agent wrote it, also after a resume with another', async () => {
  const scene = await makeScene({ text: 'not asked' });
  const codex = playedAgent(scene.folder, 'codex', [{ file: 'early-promise-then-denial' }]);
  const opencode = playedAgent(scene.folder, 'opencode', [{ file: 'promise' }]);
  const first = ['--agent', 'codex', '--agent-bin', codex.bin, '--promise', 'DONE'];
  expect((await scene.run([...first, '--max-iterations', '1'])).exitCode).toBe(3);
  const then = ['--agent', 'opencode', '--agent-bin', opencode.bin, '--max-iterations', '2'];
  expect((await scene.ralph(['resume', 't', ...then])).exitCode).toBe(0);
  const { stdout } = await scene.ralph(['logs', 't']);
  expect(stdout).toContain('Two tests still fail.');
  expect(stdout).toContain('> bash: echo hi > out.txt; ls');
});

test('tools that an environment allows to other agents do not hide what codex may do', async () => {
  const scene = await makeScene({ text: 'not asked' });
  const { bin } = playedAgent(scene.folder, 'codex', [{ file: 'promise' }]);
  const args = ['--agent', 'codex', '--agent-bin', bin, '--promise', 'DONE'];
  const { stderr } = await scene.run(args, { env: { RALPH_ALLOWED_TOOLS: 'Edit' } });
  expect(stderr).toContain('read-only sandbox');
});

test('a limit of cost that codex cannot hold is said, where it is no mistake', async () => {
  const scene = await makeScene({ text: 'not asked' });
  const { bin } = playedAgent(scene.folder, 'codex', [{ file: 'promise' }]);
  const args = ['--agent', 'codex', '--agent-bin', bin, '--promise', 'DONE'];
  const { stderr } = await scene.run(args, { env: { RALPH_MAX_COST: '1' } });
  expect(stderr).toContain('RALPH_MAX_COST has no effect: codex reports no cost.');
});

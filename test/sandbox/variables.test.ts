import { expect, test } from 'vitest';
import { runInSandbox } from '../helpers/run-in-sandbox.ts';
import { outside, type SandboxScene, sandboxScene } from '../helpers/sandbox-scene.ts';

const ENV = { AWS_SECRET_ACCESS_KEY: 'x', DB_PASSWORD: 'pw', MAX_THINKING_TOKENS: '4096' };
const SECRET = /^AWS_SECRET_ACCESS_KEY=x$/m;

/** Runs a task whose agent and whose check write down what they find in their environment. */
async function seenBy(scene: SandboxScene, ...flags: readonly string[]) {
  const script = 'env > of-agent; echo "<promise>TASK_COMPLETE</promise>"';
  const args = ['--verify', 'env > of-check', ...flags];
  const { exitCode, stderr } = await runInSandbox(scene, script, args, { env: ENV });
  expect(exitCode, stderr).toBe(0);
  return {
    stderr,
    agent: await outside(scene, 'cat of-agent'),
    check: await outside(scene, 'cat of-check'),
  };
}

test('the start says which variables are not passed on, and what of the home can be read', async () => {
  const scene = await sandboxScene();
  await outside(scene, 'cd "$HOME" && mkdir -p data go lib');
  const { stderr, agent, check } = await seenBy(scene);
  expect(stderr).toContain(
    'Your home can be read but for its dot files: agent, data, go and 1 more (--deny-read ~ hides them).',
  );
  expect(stderr.split('\n')).toContainEqual(
    expect.stringMatching(
      /Not passed on: AWS_SECRET_ACCESS_KEY, DB_PASSWORD \(--keep-env NAME passes one on\)\.$/,
    ),
  );
  for (const seen of [agent, check]) {
    expect(seen).toMatch(/^MAX_THINKING_TOKENS=4096$/m);
    expect(seen).not.toMatch(/^(?:AWS_SECRET_ACCESS_KEY|DB_PASSWORD)=/m);
  }
});

test('--keep-env passes one on, to the checks as well', async () => {
  const kept = ['--keep-env', 'AWS_SECRET_ACCESS_KEY'];
  const { stderr, agent, check } = await seenBy(await sandboxScene(), ...kept);
  expect(stderr).toContain('Not passed on: DB_PASSWORD (--keep-env NAME passes one on).');
  expect(agent).toMatch(SECRET);
  expect(check).toMatch(SECRET);
  expect(agent).not.toContain('DB_PASSWORD');
});

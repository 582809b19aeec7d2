import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Reply, text } from '../helpers/api-replies.ts';
import { makeAgentScene, shell } from '../helpers/real-agents.ts';
import { makeRepository } from '../helpers/scene.ts';
import { playCases } from './play-cases.ts';

playCases('opencode');

test('as a judge it runs no command, though its user allows all of them', async () => {
  let judged = 0;
  const scene = await makeAgentScene('opencode', ({ body }): Reply => {
    const nonce = /nonce: (verdict-\w+)/.exec(JSON.stringify(body))?.[1];
    if (nonce === undefined) return text('All good.\n\nTASK_COMPLETE');
    judged += 1;
    if (judged === 1) return shell('opencode', 'echo evil > "$HOME/evil"');
    const criteria = [{ id: 'c1', verdict: 'met', evidence: 'ok', where: [{ file: 'a.txt' }] }];
    return text(JSON.stringify({ nonce, criteria }));
  });
  await scene.write('a.txt', 'ok\n');
  await scene.write('.gitignore', '.ralph_state\n');
  makeRepository(scene.folder, scene.home);
  mkdirSync(join(scene.home, '.config', 'opencode'), { recursive: true });
  const allowed = { '*': 'allow', bash: 'allow' };
  writeFileSync(
    join(scene.home, '.config', 'opencode', 'opencode.json'),
    JSON.stringify({ permission: allowed, agent: { build: { permission: allowed } } }),
  );
  const args = ['--verify', 'grep -q ok a.txt', '--judge', 'opencode', '--accept-empty'];
  const { exitCode, stderr } = await scene.run(args);
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
  expect(stderr).toContain('judged by opencode: 1 of 1 met');
  expect(judged).toBeGreaterThan(1);
  expect(existsSync(join(scene.home, 'evil'))).toBe(false);
});

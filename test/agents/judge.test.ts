import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Reply, text } from '../helpers/api-replies.ts';
import { makeAgentScene, shell } from '../helpers/real-agents.ts';
import { makeRepository } from '../helpers/scene.ts';

// The real `codex` as judge: its read-only sandbox keeps it from writing, and ralph reads its answer.

test('codex judges, and cannot write', async () => {
  let judged = 0;
  const scene = await makeAgentScene('codex', ({ body }): Reply => {
    const nonce = /nonce: (verdict-\w+)/.exec(JSON.stringify(body))?.[1];
    if (nonce === undefined) return text('All good.\n\nTASK_COMPLETE');
    judged += 1;
    if (judged === 1) return shell('codex', 'echo evil > evil.txt; touch "$HOME/evil"; cat a.txt');
    const where = [{ file: 'a.txt', line: 1, missing: null }];
    const criteria = [{ id: 'c1', verdict: 'met', evidence: 'a.txt says ok', where }];
    return text(JSON.stringify({ nonce, criteria }));
  });
  await scene.write('a.txt', 'ok\n');
  await scene.write('.gitignore', '.ralph_state\n');
  makeRepository(scene.folder, scene.home);
  // The words after `--` that tie the worker to the stand-in never reach a judge.
  mkdirSync(join(scene.home, '.codex'), { recursive: true });
  writeFileSync(
    join(scene.home, '.codex', 'config.toml'),
    `model = "gpt-5"
model_provider = "loop"
[analytics]
enabled = false
[model_providers.loop]
name = "loop"
base_url = "${scene.api.url}/v1"
env_key = "LOOP_KEY"
wire_api = "responses"
`,
  );
  const args = ['--verify', 'grep -q ok a.txt', '--judge', 'codex', '--accept-empty'];
  const { exitCode, stderr } = await scene.run(args);
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
  expect(stderr).toContain('judged by codex: 1 of 1 met');
  expect(judged).toBe(2);
  expect(existsSync(join(scene.home, 'evil'))).toBe(false);
  expect(scene.api.wasSent('Read-only file system')).toBe(true);
});

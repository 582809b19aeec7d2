import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Attempt, HELD, NOT_COVERED } from '../helpers/escape-attempts.ts';
import { outsideWorld } from '../helpers/outside-world.ts';
import {
  asUser,
  driver,
  holdsOutside,
  readDriven,
  type SandboxScene,
  sandboxScene,
  started,
} from '../helpers/sandbox-scene.ts';

const ATTEMPTS = [...HELD, ...NOT_COVERED];

test('of all attempts to get out, exactly those come through that are named as not covered', async () => {
  const scene = await sandboxScene();
  const world = await outsideWorld(scene);
  const inside = { ...scene, env: { ...scene.env, ...world } };
  const command = driver(scene, {
    fixed: [join(scene.work, 'prompt.md'), join(scene.work, 'guarded', 'test.txt')],
    asked: { allowNet: [{ value: `127.0.0.1:${world.ALLOWED_PORT}`, from: '--allow-net' }] },
    scripts: ATTEMPTS.map(({ script }) => ({ script, as: 'agent' })),
  });
  const { ran, refusal } = readDriven(await onTerminal(inside, command));
  expect(refusal).toBeNull();
  const through: string[] = [];
  for (const [index, attempt] of ATTEMPTS.entries()) {
    if (await hasLanded(inside, attempt, ran[index]?.stdout ?? '')) through.push(attempt.name);
  }
  expect(ran).toHaveLength(ATTEMPTS.length);
  expect(through).toEqual(NOT_COVERED.map(({ name }) => name));
  expect(ATTEMPTS.length).toBeGreaterThanOrEqual(60);
});

test('each attempt lands without a sandbox', async () => {
  const template = await sandboxScene();
  const world = await outsideWorld(template);
  const missed: string[] = [];
  for (const attempt of ATTEMPTS) {
    const scene = await sandboxScene(template);
    const bare = { ...scene, env: { ...world, ...scene.env } };
    const command = asUser(['/bin/sh', '-c', `cd "$WORK"; ${attempt.script}`]);
    const stdout =
      attempt.terminal === true
        ? await onTerminal(bare, command)
        : await started(bare, command).catch(stdoutOf);
    if (!(await hasLanded(bare, attempt, stdout))) missed.push(attempt.name);
  }
  await holdsOutside({ ...template, env: { ...world, ...template.env } }, CLEAN_UP);
  expect(missed).toEqual([]);
});

const CLEAN_UP =
  'rm -f "/tmp/new-$TAG" "/var/tmp/new-$TAG" "/dev/shm/new-$TAG"; pkill -KILL -f "sleep 30[.]$NUMBER"';

async function hasLanded(scene: SandboxScene, attempt: Attempt, stdout: string): Promise<boolean> {
  return attempt.proof === undefined
    ? stdout.includes('landed')
    : holdsOutside(scene, attempt.proof);
}

/** Runs a command with a terminal of its own, which an agent could type into; how it ends does not matter. */
async function onTerminal(scene: SandboxScene, command: readonly string[]): Promise<string> {
  const folder = join(scene.base, 'terminal-output');
  await mkdir(folder, { recursive: true });
  const out = join(folder, 'out');
  const words = command.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
  const line = `${words} > '${out}' 2> '${out}.err'`;
  await started(scene, ['script', '-qec', line, '/dev/null']).catch(stdoutOf);
  return readFile(out, 'utf8');
}

function stdoutOf(error: unknown): string {
  return error instanceof Error && 'stdout' in error ? String(error.stdout) : '';
}

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ralphAsUser } from '../helpers/run-in-sandbox.ts';
import { asUser, outside, type SandboxScene } from '../helpers/sandbox-scene.ts';
import {
  DONE,
  newRun,
  ralphCommand,
  ranIn,
  ranRalph,
  type SandboxedRuns,
  sandboxedRuns,
  stateOf,
} from '../helpers/sandboxed-ralph.ts';

// A configuration that lies in the work folder lifts no wall before a person has trusted its content.

/** An agent that tries each wall, and notes in `passed` the keys of those that gave way. */
const TRIES = `
system(<<'TRIES');
: > passed
(echo x > "$HOME/shared/landed") 2>/dev/null && echo allow_write >> passed
grep -q SECRET "$HOME/.ssh/id_rsa" 2>/dev/null && echo allow_read >> passed
test -n "$SOME_TOKEN" && echo keep_env >> passed
curl -s --max-time 5 --noproxy "" "http://127.0.0.1:$PORT/" | grep -q SERVER && echo allow_net >> passed
perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0) or exit 1' && echo allow_unix_sockets >> passed
TRIES
${DONE}`;

/** A scene whose agent tries each wall, with a server that it may not reach. */
async function tryingScene(): Promise<SandboxedRuns> {
  const scene = await sandboxedRuns(TRIES);
  await outside(scene, 'mkdir "$HOME/shared"');
  const server = createServer((_, response) => response.end('SERVER'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const env = { ...scene.env, PORT: String(port), SOME_TOKEN: 'ghp_0123456789abcdefABCDEF' };
  return { ...scene, env };
}

const configure = (scene: SandboxScene, text: string, folder = '.'): Promise<string> =>
  outside(scene, `mkdir -p '${folder}'; printf '%s\\n' '${text}' > '${folder}/ralph.config.yaml'`);

/** What gave way; null if the agent was not started. */
async function passed(scene: SandboxScene): Promise<readonly string[] | null> {
  const text = await outside(scene, 'cat passed 2>/dev/null || echo none');
  return text === 'none\n' ? null : text.split('\n').slice(0, -1);
}

test.for<[key: string, value: string]>([
  ['allow_write', '~/shared'],
  ['allow_read', '~/.ssh/id_rsa'],
  ['keep_env', 'SOME_TOKEN'],
  ['allow_net', '127.0.0.1:$PORT'],
  ['allow_unix_sockets', 'true'],
])('%s of a found configuration is in force only once it is trusted', async ([key, value]) => {
  const scene = await tryingScene();
  await configure(scene, `${key}: ${value.replace('$PORT', scene.env.PORT ?? '')}`);
  const refused = await ranRalph(scene, newRun(scene));
  expect(refused.exitCode).toBe(2);
  expect(refused.stderr).toContain(
    `sets ${key}, and it is new, or has changed since you trusted it`,
  );
  expect(await passed(scene)).toBeNull();
  expect((await ralphAsUser(scene, ['trust'])).exitCode).toBe(0);
  expect((await ranRalph(scene, newRun(scene))).exitCode).toBe(0);
  expect(await passed(scene)).toEqual([key]);
});

test('checks outside the sandbox need trust, too', async () => {
  const scene = await sandboxedRuns(DONE);
  const args = newRun(scene, '--verify', 'echo x > "$HOME/checked"');
  await configure(scene, 'sandbox_checks: false');
  const refused = await ranRalph(scene, args);
  expect(refused).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('sandbox_checks') });
  expect(await outside(scene, 'ls "$HOME"')).not.toContain('checked');
  expect((await ralphAsUser(scene, ['trust'])).exitCode).toBe(0);
  expect((await ranRalph(scene, args)).exitCode).toBe(0);
  expect(await outside(scene, 'ls "$HOME"')).toContain('checked');
});

test('sandbox: false of a found configuration needs trust, and a flag or a variable overrides it', async () => {
  const scene = await tryingScene();
  const unasked = newRun(scene).filter((word) => word !== '--sandbox');
  const byVariable = { ...scene, env: { ...scene.env, RALPH_SANDBOX: '1' } };
  await configure(scene, 'sandbox: false');
  for (const [each, args] of [
    [scene, unasked],
    [scene, newRun(scene)],
    [byVariable, unasked],
  ] as const) {
    const { exitCode, stderr } = await ranRalph(each, args);
    expect({ exitCode, stderr }).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining(
        'sets sandbox, and it is new, or has changed since you trusted it',
      ),
    });
  }
  expect(await passed(scene)).toBeNull();
  expect((await ralphAsUser(scene, ['trust'])).exitCode).toBe(0);
  expect((await ranRalph(scene, newRun(scene))).exitCode).toBe(0);
  expect(await passed(scene)).toEqual([]);
  expect((await ranRalph(byVariable, [...unasked, '--task-id', 'T2'])).exitCode).toBe(0);
  expect(await passed(scene)).toEqual([]);
  expect((await ranRalph(scene, [...unasked, '--task-id', 'T3'])).exitCode).toBe(0);
  expect(await passed(scene)).toContain('allow_write');
});

test('a nearer configuration does not turn the sandbox off, nor a changed one', async () => {
  const scene = await tryingScene();
  const args = newRun(scene).filter((word) => word !== '--sandbox');
  const codeIn = async (cwd: string) =>
    (await ranIn(scene, asUser(ralphCommand(scene, args)), { cwd })).exitCode;
  await configure(scene, 'sandbox: true');
  await configure(scene, 'sandbox: false', 'src');
  expect(await codeIn(join(scene.work, 'src'))).toBe(2);
  expect(await passed(scene)).toBeNull();
  expect(await codeIn(scene.work)).toBe(0);
  expect(await passed(scene)).toEqual([]);
  await configure(scene, 'sandbox: false');
  expect(await codeIn(scene.work)).toBe(2);
});

test('a resume keeps its rules, even if a found configuration has changed since', async () => {
  const scene = await tryingScene();
  await outside(scene, `sed -i 's/<promise>.*<.promise>/not yet/' '${scene.agent}'`);
  expect((await ranRalph(scene, newRun(scene, '--max-iterations', '1'))).exitCode).toBe(3);
  await configure(scene, 'sandbox: false\nallow_write: ~/shared\nsandbox_checks: false');
  const resumed = await ranRalph(scene, ['resume', 'T1', '--max-iterations', '+1']);
  expect(resumed.exitCode, resumed.stderr).toBe(3);
  expect(await passed(scene)).toEqual([]);
  expect((await stateOf(scene)).sandbox).toMatchObject({ is: 'on', changes: [] });
});

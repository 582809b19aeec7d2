import { writeFileSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeScene } from '../helpers/scene.ts';
import { tempFolder } from '../helpers/temp-folder.ts';
import { writeTrusted } from '../helpers/trusted-config.ts';

// What a person sets and sees of the sandbox without one being opened.

const DONE = { text: 'Done.\n\nTASK_COMPLETE' };
const SKIPS = '--dangerously-skip-permissions';
const ADVICE = 'The agent can do anything you can: --sandbox keeps it in this folder.';

test.for<[args: readonly string[], env: Readonly<Record<string, string>>, times: number]>([
  [[SKIPS], {}, 1],
  [['--permission-mode', 'bypassPermissions'], {}, 1],
  [['--', SKIPS], {}, 1],
  [[SKIPS, '--no-sandbox'], {}, 0],
  [[SKIPS], { RALPH_SANDBOX: '0' }, 0],
  [['--permission-mode', 'acceptEdits'], {}, 0],
])('with %j and %j the advice is given %i times', async ([args, env, times]) => {
  const scene = await makeScene([{ text: 'Not yet.' }, DONE]);
  const { exitCode, stderr } = await scene.run(['--delay', '0', ...args], { env });
  expect(exitCode).toBe(0);
  expect(stderr.split(ADVICE)).toHaveLength(times + 1);
});

test('a run without the sandbox says so in its first event, its state and its status', async () => {
  const scene = await makeScene({ text: 'Not yet.' });
  await scene.run(['-n', '1']);
  expect(scene.journal()[0]).toMatchObject({ event: 'task_started', sandbox: 'off' });
  expect(scene.state().sandbox).toBeNull();
  expect(scene.notes()[0]?.text).toContain('\nSandbox: off.\n');
  const [shown] = JSON.parse((await scene.ralph(['status', '--json'])).stdout);
  expect(shown).toMatchObject({ task_id: 't', sandbox: 'off' });
  expect((await scene.ralph(['status', 't'])).stdout).toMatch(/^sandbox {5}off$/m);
  expect((await scene.ralph(['report'])).stdout).toContain('| sandbox | why |');
});

test.for<[args: readonly string[], sentence: string]>([
  [['--allow-net', 'a.example.com'], '--allow-net needs --sandbox, and it was not given.'],
  [
    ['--sandbox', '--allow-net', '*'],
    "--allow-net '*' would allow every host: name the hosts, such as api.example.com or *.example.com.",
  ],
  [
    ['--sandbox', '--keep-background'],
    '--keep-background cannot be kept with --sandbox: everything in it ends with the agent.',
  ],
])('%j is refused, and nothing is started', async ([args, sentence]) => {
  const scene = await makeScene(DONE);
  const { exitCode, stderr } = await scene.run(args);
  expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: `ralph: ${sentence}\n` });
  expect(scene.fake.calls()).toEqual([]);
});

test('a found configuration may ask for the sandbox and deny more, but lift no wall', async () => {
  const scene = await makeScene(DONE);
  const config = 'sandbox: true\ndeny_read: ["~"]\nsandbox_checks: true\nallow_net: []\n';
  await scene.write('ralph.config.yaml', config);
  const settings = async (args: readonly string[] = []) => {
    const { stdout } = await scene.run(['--dry-run', '--json', ...args]);
    const { settings: all, warnings } = JSON.parse(stdout);
    const sandbox = all.find(({ name }: { name: string }) => name === 'sandbox');
    return { sandbox, warnings: warnings.filter((each: string) => each.includes('trust')) };
  };
  const source = expect.stringContaining('sandbox');
  expect(await settings()).toEqual({
    sandbox: { name: 'sandbox', value: true, source },
    warnings: [],
  });
  expect(await settings(['--no-sandbox'])).toEqual({
    sandbox: { name: 'sandbox', value: false, source: '--no-sandbox' },
    warnings: [],
  });
  await scene.write('ralph.config.yaml', `${config.replace('[]', 'a.example.com')}`);
  const { exitCode, stderr } = await scene.run(['--no-sandbox']);
  expect(exitCode).toBe(2);
  expect(stderr).toContain('sets allow_net, and it is new, or has changed since you trusted it');
  const trusting = 'sandbox: true\nallow_net: a.example.com\n';
  await writeTrusted(join(scene.folder, 'ralph.config.yaml'), trusting, scene.home);
  const trusted = await scene.run(['--no-sandbox']);
  expect(trusted.exitCode).toBe(0);
  expect(trusted.stderr).toContain('ralph.config.yaml sets allow_net.\n');
});

/** A folder with stand-ins for the programs of the component; `rg` finds nothing. */
async function tools(): Promise<string> {
  const folder = await tempFolder();
  for (const name of ['bwrap', 'socat', 'rg']) {
    writeFileSync(join(folder, name), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
  }
  return folder;
}

test('a dry run shows every rule with where it came from, and tells the agent of its walls', async () => {
  const scene = await makeScene(DONE);
  const { folder, home } = scene;
  await scene.write('spec.md', 'The spec.');
  const args = [
    ...[
      '--dry-run',
      '--verbose',
      '--sandbox',
      '--allow-net',
      'a.example.com',
      '--deny-read',
      '~/notes',
    ],
    ...['--protect', 'spec.md', '--allow-unix-sockets'],
  ];
  const options = {
    path: [scene.fake.dir, await tools()],
    env: { RALPH_ALLOW_WRITE: join(home, 'cache'), SECRET_TOKEN: 'x' },
  };
  const before = scene.names();
  const { exitCode, stdout } = await scene.run(args, options);
  // The machine of the test may have no sandbox.
  const isRefused = stdout.startsWith('The task t (type default) would be refused');
  expect(exitCode).toBe(isRefused ? 2 : 0);
  expect(isRefused).toBe(stdout.includes('\nIt would be refused because:\n  --sandbox '));
  const temporary = /TMPDIR=(.+\/ralph-sandbox-XXXXXX\/tmp) /.exec(stdout)?.[1] ?? 'none';
  for (const [what, value, from] of [
    ['may write', folder, 'default'],
    ['may write', join(home, 'cache'), 'RALPH_ALLOW_WRITE'],
    ['may not write', join(folder, 'spec.md'), 'default'],
    ['may not write', scene.fake.path, 'default'],
    ['may not read', join(home, '.ssh'), 'default'],
    ['may not read', join(home, 'notes'), '--deny-read'],
    ['may reach', 'a.example.com', '--allow-net'],
    ['lacks the variable', 'SECRET_TOKEN', 'default'],
    ['may write', temporary, 'a new folder of the run'],
    ['gets the variable', `TMPDIR=${temporary}`, 'a new folder of the run'],
    ['gets the variable', `npm_config_cache=${temporary}/npm`, 'a new folder of the run'],
  ]) {
    expect(stdout.replace(/ +/g, ' ')).toContain(`\n ${what} ${value} (${from})\n`);
  }
  expect(stdout).toContain(
    '  sockets in the file system are allowed, and the temporary folders hidden',
  );
  expect(stdout).toContain('  checks run in the sandbox, without the login of the agent\n');
  expect(stdout).not.toContain('hunter2');
  expect(stdout.split('You work in a sandbox.')).toHaveLength(3);
  expect(scene.names()).toEqual(before);
  expect(scene.fake.calls()).toEqual([]);
});

test('a dry run says why the sandbox would be refused', async () => {
  const scene = await makeScene(DONE);
  const options = { path: [scene.fake.dir, await tools()] };
  const plan = async (args: readonly string[]) => {
    const { stdout } = await scene.run(['--dry-run', '--json', ...args], options);
    return JSON.parse(stdout).sandbox;
  };
  const { rules, refusals } = await plan(['--sandbox', '--allow-write', '~']);
  expect(rules).toBeNull();
  expect(refusals).toContainEqual(expect.stringMatching(/^--allow-write ~ takes in ~\/\.ssh/));
  expect(await plan([])).toBeNull();
});

test('doctor says what a start would refuse, and starts no program that the agent may have written', async () => {
  const scene = await makeScene(DONE);
  await scene.write('bin/claude', '#!/bin/sh\ntouch ran-outside\necho 2.1.197\n');
  await chmod(join(scene.folder, 'bin', 'claude'), 0o755);
  const doctor = async (env: Record<string, string>) =>
    (await scene.ralph(['doctor'], { path: [join(scene.folder, 'bin'), await tools()], env }))
      .stdout;
  const confined = await doctor({ RALPH_SANDBOX: '1', RALPH_ALLOW_WRITE: '~' });
  expect(confined).toContain(
    'problem  sandbox: RALPH_ALLOW_WRITE: --allow-write ~ takes in ~/.ssh',
  );
  expect(confined).toContain(`agent: ${scene.folder}/bin/claude\n`);
  expect(scene.names()).not.toContain('ran-outside');
  expect(await doctor({})).toContain(`agent: ${scene.folder}/bin/claude, 2.1.197\n`);
});

test.for<[after: string, isWarned: boolean]>([
  ['npm run push', true],
  ['./push.sh --force', true],
  ['sh scripts/../push.sh', true],
  ['git fetch && npm publish', true],
  ['git push', false],
  ['git add push.sh', false],
  ['/usr/bin/env true', false],
])('--after %s: is warned of, %j', async ([after, isWarned]) => {
  const scene = await makeScene(DONE);
  await scene.write('push.sh', 'git push\n');
  const warnings = async (args: readonly string[]): Promise<readonly string[]> => {
    const { stdout } = await scene.run(['--dry-run', '--json', '--after', after, ...args]);
    return JSON.parse(stdout).warnings.filter((each: string) => each.includes('outside'));
  };
  expect(await warnings([])).toEqual([]);
  const sentence = `--after '${after}' runs outside the sandbox, and executes what the agent may have written.`;
  expect(await warnings(['--sandbox'])).toEqual(isWarned ? [sentence] : []);
});

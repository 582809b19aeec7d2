import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startProgram, until, untilLine } from '../helpers/processes.ts';
import {
  driver,
  inSandbox,
  outside,
  type SandboxScene,
  sandboxScene,
} from '../helpers/sandbox-scene.ts';

const isRoot = process.getuid?.() === 0;

/** Starts a ralph whose agent leaves a daemon with a wiped environment; resolves when that runs. */
async function startWithDaemon(scene: SandboxScene, mark: string) {
  const script = `setsid env -i sleep 3${mark} & echo daemon; sleep 3${mark}`;
  const [file = '', ...args] = driver(scene, {
    scripts: [{ script, as: 'agent', until: 'daemon' }],
    stay: true,
  });
  const ralph = startProgram(file, args, {
    env: { ...scene.env, RALPH_RUN_ID: mark },
    cwd: scene.base,
  });
  await untilLine(ralph.stdout, /"ready":true/);
  return ralph;
}

/** Returns the command lines of living processes of a run: those with its mark, and its daemon. */
function alive(mark: string): readonly string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ');
        const environment = `\0${readFileSync(`/proc/${name}/environ`, 'utf8')}`;
        const isOfRun =
          environment.includes(`\0RALPH_RUN_ID=${mark}\0`) || command.includes(`sleep 3${mark}`);
        // A zombie has no command line.
        return isOfRun && command !== '' ? [command] : [];
      } catch {
        return [];
      }
    });
}

test('kill -9 of ralph ends everything inside, the helper and its bridge; the next run removes what is left', async () => {
  const scene = await sandboxScene();
  const before = readdirSync(scene.work).sort();
  const mark = `${process.pid}1`;
  const ralph = await startWithDaemon(scene, mark);
  const names = alive(mark).join('\n');
  for (const name of [/sandbox-helper/, /socat/, /bwrap/, /sleep/]) expect(names).toMatch(name);
  expect(await outside(scene, 'git status --porcelain')).toBe('');
  ralph.kill('SIGKILL');
  await until(
    () => alive(mark).length === 0,
    () => `the end of ${alive(mark).join('\n')}`,
  );
  expect(await outside(scene, 'git status --porcelain && cat .git/commondir')).toBe('.\n');
  const next = await inSandbox(scene, { scripts: [{ script: 'true', as: 'agent' }] });
  expect(next.refusal).toBeNull();
  expect(readdirSync(join(scene.work, '.git'))).not.toContain('commondir');
  expect(readdirSync(scene.work).sort()).toEqual(before);
});

test('kill -9 of the helper ends its bridge, and the next command has another one', async () => {
  const scene = await sandboxScene();
  const mark = `${process.pid}2`;
  const ralph = await startWithDaemon(scene, mark);
  const [, pid] = await untilLine(ralph.stdout, /"ready":true,"helperPids":\[(\d+)\]/);
  const bridges = () => alive(mark).filter((command) => /socat.*UNIX-LISTEN/.test(command));
  const [bridge] = bridges();
  process.kill(Number(pid), 'SIGKILL');
  await until(
    () => bridges().length === 0,
    () => `the end of ${bridge}`,
  );
  ralph.stdin?.end(`${JSON.stringify({ script: 'echo again', as: 'agent' })}\n`);
  await untilLine(ralph.stdout, /"stdout":"again\\n"/);
  await untilLine(ralph.stdout, /"warning":"The helper of the sandbox has ended, and is started/);
  await untilLine(ralph.stdout, /"closed":true/);
});

test('a run that ends leaves what another one of the same repository relies on', async () => {
  const scene = await sandboxScene();
  const mark = `${process.pid}3`;
  const other = await startWithDaemon(scene, mark);
  await inSandbox(scene, { scripts: [{ script: 'true', as: 'agent' }] });
  expect(await outside(scene, 'cat .git/commondir; ls -d Approved')).toBe('.\nApproved\n');
  other.stdin?.end();
  await until(
    () => alive(mark).length === 0,
    () => `the end of ${alive(mark).join('\n')}`,
  );
  await until(
    () => !readdirSync(join(scene.work, '.git')).includes('commondir'),
    () => 'the end of the placeholders',
  );
  expect(readdirSync(scene.work)).not.toContain('Approved');
});

test.skipIf(!isRoot)('a fork bomb ends with its bwrap', async () => {
  const scene = await sandboxScene();
  const mark = `${process.pid}4`;
  const bomb = `bomb() { sleep 3${mark} & bomb & bomb; }; echo lit; bomb`;
  const [file = '', ...args] = driver(scene, {
    scripts: [
      { script: bomb, as: 'agent', killAfterMs: 1_500 },
      { script: 'echo alive', as: 'agent' },
    ],
  });
  // Only root can keep the user of the tests from taking all processes of the machine.
  const ralph = startProgram('prlimit', ['--nproc=400', file, ...args], {
    env: { ...scene.env, RALPH_RUN_ID: mark },
    cwd: scene.base,
  });
  await untilLine(ralph.stdout, /"stdout":"alive\\n"/);
  await untilLine(ralph.stdout, /"closed":true/);
  await until(
    () => alive(mark).length === 0,
    () => `the end of ${alive(mark).join('\n')}`,
  );
});

test('a folder and a list of placeholders that somebody made up remove nothing of the user', async () => {
  const scene = await sandboxScene();
  const id = `${process.pid}`.padStart(5, 'x');
  const [link, folder] = [`/tmp/ralph-sandbox-a${id}`, `/tmp/ralph-sandbox-b${id}`];
  onTestFinished(() => {
    for (const each of [link, folder]) rmSync(each, { recursive: true, force: true });
  });
  const made = JSON.stringify([{ kind: 'settings', path: join(scene.work, 'empty') }]);
  await outside(
    scene,
    `mkdir -p precious/outside ${folder}/outside && ln -s "$PWD/precious" ${link} && touch empty
    echo 999999999:1 | tee precious/outside/owner > ${folder}/outside/owner
    echo '${made}' > ${folder}/outside/made`,
  );
  await inSandbox(scene, { scripts: [{ script: 'true', as: 'agent' }] });
  expect(await outside(scene, `ls -d empty precious; ls -d ${folder} || echo gone`)).toBe(
    'empty\nprecious\ngone\n',
  );
});

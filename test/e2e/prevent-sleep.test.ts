import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { untilPid } from '../helpers/background.ts';
import type { Turn } from '../helpers/fake-turn.ts';
import { untilDead } from '../helpers/processes.ts';
import { HAS_PSEUDO_TERMINALS, onTerminal } from '../helpers/pseudo-terminal.ts';
import { makeScene, type Scene } from '../helpers/scene.ts';

const SESSION = { DBUS_SESSION_BUS_ADDRESS: 'unix:path=/run/user/1000/bus' };
/** The agent waits for the inhibitor, so that a test need not. */
const AWAITED = 'while [ ! -s inhibitor ]; do sleep 0.02; done';
const RUN = ['run', '-p', 'Fix it', '--task-id', 't', '--delay', '0'];

async function sceneWith(turn: Turn): Promise<Scene> {
  const scene = await makeScene([turn]);
  await scene.write(
    'bin/systemd-inhibit',
    `#!/bin/sh\necho $$ > ${scene.folder}/inhibitor.new\nmv ${scene.folder}/inhibitor.new ${scene.folder}/inhibitor\nwhile [ "$1" != cat ]; do shift; done\nexec "$@"\n`,
  );
  await chmod(join(scene.folder, 'bin/systemd-inhibit'), 0o755);
  return scene;
}

function pathOf(scene: Scene): string {
  return `${scene.folder}/bin:${scene.env.PATH}`;
}

describe.skipIf(process.platform !== 'linux')('the machine is kept awake', () => {
  test('where it is asked for, until the end', async () => {
    const scene = await sceneWith({ shell: AWAITED, text: 'TASK_COMPLETE' });
    const end = await scene.ralph([...RUN, '--prevent-sleep'], {
      path: [join(scene.folder, 'bin'), scene.fake.dir],
    });
    expect(end.exitCode).toBe(0);
    await untilDead(Number(scene.read('inhibitor')));
  });

  test('not after the death of ralph', async () => {
    const scene = await sceneWith({ shell: AWAITED, hangs: true });
    const ralph = await scene.start([...RUN, '--prevent-sleep'], {
      path: [join(scene.folder, 'bin'), scene.fake.dir],
    });
    await scene.fake.untilCalls(1);
    const pid = await untilPid(join(scene.folder, 'inhibitor'));
    ralph.child.kill('SIGKILL');
    await ralph.ended;
    await untilDead(pid);
  });

  test('not in a pipe or a job, unless it is asked for', async () => {
    const scene = await sceneWith({ text: 'TASK_COMPLETE' });
    const path = [join(scene.folder, 'bin'), scene.fake.dir];
    expect((await scene.ralph(RUN, { path, env: SESSION })).exitCode).toBe(0);
    expect(scene.has('inhibitor')).toBe(false);
  });

  test.skipIf(!HAS_PSEUDO_TERMINALS)(
    'by itself at a terminal, and Ctrl-C is not for it',
    async () => {
      const scene = await sceneWith({ shell: AWAITED, reportsOnSigint: true, hangs: true });
      const env = { ...SESSION, PATH: pathOf(scene) };
      const terminal = onTerminal(scene, 'ralph run -p x --task-id t', { env });
      await scene.fake.untilCalls(1);
      await terminal.until(/iteration 1/);
      const pid = await untilPid(join(scene.folder, 'inhibitor'));
      terminal.type('\u0003');
      expect(await terminal.ended).toBe(130);
      await untilDead(pid);
    },
  );

  test.skipIf(!HAS_PSEUDO_TERMINALS)('at a terminal not against --no-prevent-sleep', async () => {
    const scene = await sceneWith({ text: 'TASK_COMPLETE' });
    const env = { ...SESSION, PATH: pathOf(scene) };
    const terminal = onTerminal(scene, 'ralph run -p x --no-prevent-sleep', { env });
    expect(await terminal.ended).toBe(0);
    expect(scene.has('inhibitor')).toBe(false);
  });

  test('the last of the two flags counts', async () => {
    const scene = await makeScene();
    for (const [flags, value, source] of [
      [['--prevent-sleep', '--no-prevent-sleep'], false, '--no-prevent-sleep'],
      [['--no-prevent-sleep', '--prevent-sleep'], true, '--prevent-sleep'],
      [[], null, 'default'],
    ] as const) {
      const { stdout } = await scene.ralph([...RUN, ...flags, '--dry-run', '--json']);
      const { settings } = JSON.parse(stdout);
      expect(settings).toContainEqual({ name: 'prevent_sleep', value, source });
    }
  });
});

import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { preventSleep } from '../../../src/effects/processes/keep-awake.ts';
import { untilPid } from '../../helpers/background.ts';
import { untilDead } from '../../helpers/processes.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const SESSION = { DBUS_SESSION_BUS_ADDRESS: 'unix:path=/run/user/1000/bus' };

/** A folder for PATH with a program that notes its arguments and itself, and then runs what follows. */
async function withProgram(name: string, last: string) {
  const folder = await tempFolder();
  const bin = join(folder, 'bin');
  await mkdir(bin);
  const file = join(bin, name);
  await writeFile(
    file,
    `#!/bin/sh\necho "$@" > ${folder}/args\nenv > ${folder}/env\necho $$ > ${folder}/new && mv ${folder}/new ${folder}/pid\n${last}\n`,
  );
  await chmod(file, 0o755);
  const PATH = `${bin}:/usr/bin:/bin`;
  return {
    PATH,
    /** Once it runs. */
    pid: () => untilPid(join(folder, 'pid')),
    args: async () => (await readFile(join(folder, 'args'), 'utf8')).trim(),
    env: async () => await readFile(join(folder, 'env'), 'utf8'),
  };
}

const PASS_ON = 'while [ "$1" != cat ]; do shift; done; exec "$@"';

describe('on Linux', () => {
  test('systemd-inhibit lives until it is closed', async () => {
    const program = await withProgram('systemd-inhibit', PASS_ON);
    const env = { ...SESSION, PATH: program.PATH, RALPH_RUN_ID: 'outer' };
    const inhibitor = preventSleep({ taskId: 't', env, isAsked: false, platform: 'linux' });
    const pid = await program.pid();
    expect(await program.args()).toBe('--what=idle:sleep --who=ralph --why=task t runs cat');
    expect(await program.env()).not.toContain('RALPH_');
    // In a session of its own: no signal of the terminal reaches it.
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    expect(Number(stat.slice(stat.lastIndexOf(')')).split(' ')[4])).toBe(pid);
    inhibitor.close();
    await untilDead(pid);
  });

  test('one that does not read its pipe is ended too', async () => {
    const program = await withProgram('systemd-inhibit', 'exec sleep 60');
    const env = { ...SESSION, PATH: program.PATH };
    const inhibitor = preventSleep({ taskId: 't', env, isAsked: false, platform: 'linux' });
    const pid = await program.pid();
    inhibitor.close();
    await untilDead(pid);
  });

  test.for<[string, Record<string, string>, boolean, boolean]>([
    ['where nobody is logged in', {}, false, false],
    ['in CI', { ...SESSION, CI: 'true' }, false, false],
    ['where it is asked for by name', { CI: 'true' }, true, true],
  ])('%s', async ([, more, isAsked, isStarted]) => {
    const program = await withProgram('systemd-inhibit', PASS_ON);
    const env = { ...more, PATH: program.PATH };
    const inhibitor = preventSleep({ taskId: 't', env, isAsked, platform: 'linux' });
    if (isStarted) await program.pid();
    else expect(inhibitor).toBe(NOTHING);
    inhibitor.close();
  });
});

/** What there is where nothing was started. */
const NOTHING = preventSleep({ taskId: 't', env: {}, isAsked: true, platform: 'win32' });

test('on macOS caffeinate looks after this process', async () => {
  const program = await withProgram('caffeinate', 'exec cat');
  const env = { PATH: program.PATH };
  const inhibitor = preventSleep({ taskId: 't', env, isAsked: false, platform: 'darwin' });
  const pid = await program.pid();
  expect(await program.args()).toBe(`-i -w ${process.pid}`);
  inhibitor.close();
  await untilDead(pid);
});

test.for<[string, string]>([
  ['that fails at once', 'exit 1'],
  ['that is no program', '\u0000'],
])('a program %s troubles nobody', async ([, last]) => {
  const program = await withProgram('systemd-inhibit', last);
  const env = { ...SESSION, PATH: program.PATH };
  const inhibitor = preventSleep({ taskId: 't', env, isAsked: true, platform: 'linux' });
  await program.pid();
  inhibitor.close();
});

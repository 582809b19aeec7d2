import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { untilPid } from '../helpers/background.ts';
import { isDead } from '../helpers/processes.ts';
import { makeScene, type Scene } from '../helpers/scene.ts';
import { tempFolder } from '../helpers/temp-folder.ts';

// `--verify-clean`: the checks once more where nothing helps but what git keeps.

const CLAIM = 'All good.\n\nTASK_COMPLETE';

async function repository(turn: object): Promise<Scene> {
  const scene = await makeScene({ text: CLAIM, ...turn });
  await scene.write('.gitignore', '.ralph_state\nNeeds_Action\nout\n*.sock\n*.pid\n');
  await scene.write('build.sh', 'mkdir -p out && cp src.txt out/src.txt\n');
  scene.makeRepository();
  return scene;
}

function gates(scene: Scene): readonly string[] {
  const held = scene.journal().filter(({ event }) => event === 'claim_held');
  return held.map(({ gate }) => gate);
}

/** Where the checkouts of a scene are made. */
const checkouts = ({ folder }: Scene): string => `${folder}.ralph`;

describe('a work tree that passes only because of an ignored build output', () => {
  const BUILT = { shell: 'echo ok > src.txt; sh build.sh' };
  const ARGS = ['--verify-clean', '--verify', 'grep -q ok out/src.txt'];

  test('fails in the clean checkout, and the agent and the person hear of it', async () => {
    const scene = await repository(BUILT);
    const { exitCode, stderr } = await scene.run([...ARGS, '-n', '2']);
    expect(exitCode).toBe(3);
    expect(gates(scene)).toEqual(['clean-checkout', 'clean-checkout']);
    const [name = ''] = readdirSync(checkouts(scene));
    const folder = join(checkouts(scene), name);
    expect(name).toMatch(/^t\.clean-[0-9a-f]{12}$/);
    expect(stderr).toContain('in a clean checkout');
    expect(stderr).toContain(`(it is kept in ${folder})`);
    expect(scene.prompt(2)).toContain('checked once more in a fresh checkout');
    expect(scene.notes()[0]?.text).toContain(`is kept in \`${folder}\``);
    expect(existsSync(join(folder, 'src.txt'))).toBe(true);
    expect(existsSync(join(folder, 'out'))).toBe(false);
  });

  test('is proven with --setup that builds it, and nothing stays behind', async () => {
    const scene = await repository(BUILT);
    const { exitCode } = await scene.run([...ARGS, '--setup', 'sh build.sh']);
    expect(exitCode).toBe(0);
    expect(gates(scene)).toEqual([]);
    expect(scene.state().evidence.proof).toMatchObject({
      proven: true,
      text: expect.stringMatching(/ in a clean checkout$/),
    });
    expect(existsSync(checkouts(scene))).toBe(false);
  });

  test('is proven with --copy of it', async () => {
    const scene = await repository(BUILT);
    const { exitCode } = await scene.run([...ARGS, '--copy', 'out/**']);
    expect(exitCode).toBe(0);
  });

  test('is held by a set-up command that fails, with what that printed', async () => {
    const scene = await repository(BUILT);
    const setup = 'echo "first words"; echo "no such package."; exit 3';
    const { exitCode, stderr } = await scene.run([...ARGS, '--setup', setup, '-n', '2']);
    expect(exitCode).toBe(3);
    expect(stderr).toContain('its set-up command failed: no such package (it is kept in');
    expect(scene.prompt(2)).toContain('its set-up command failed: no such package. What was');
    expect(scene.prompt(2)).toContain('first words');
  });

  test('is asked of --until as well, in the folder that --cwd is in', async () => {
    const scene = await repository({ shell: 'echo ok > a; echo ok > out', text: 'Hm.' });
    await scene.write('sub/b', '');
    const args = ['--cwd', 'sub', '--verify-clean', '-n', '1', '--until'];
    expect((await scene.run([...args, 'test -s out'])).exitCode).toBe(3);
    expect(gates(scene)).toEqual(['clean-checkout']);
    const again = await scene.run([...args, 'test -s a', '--task-id', 'u']);
    expect(again.exitCode).toBe(0);
  });

  test('is a mistake without snapshots, and outside git', async () => {
    const scene = await makeScene({ text: CLAIM });
    const outside = await scene.run(ARGS);
    expect(outside).toMatchObject({ exitCode: 2 });
    scene.makeRepository();
    const without = await scene.run([...ARGS, '--no-snapshots']);
    expect(without).toMatchObject({ exitCode: 2 });
    expect(without.stderr).toContain('--verify-clean and --no-snapshots exclude each other');
  });
});

test.for<[what: string, args: readonly string[], held: readonly string[]]>([
  ['is ended before, so that the check fails there', [], ['clean-checkout']],
  ['is kept with --keep-background', ['--keep-background'], []],
])('a server that the agent left running %s', async ([, args, held]) => {
  // Absolute paths, so that both can be reached from the checkout.
  const place = await tempFolder();
  const [socket, pidFile] = [join(place, 's.sock'), join(place, 'pid')];
  const listening = `() => require("node:fs").writeFileSync("${pidFile}", process.pid + "\\n")`;
  const serve = `require("node:net").createServer((one) => one.end("ok")).listen("${socket}", ${listening})`;
  const connect = `require("node:net").connect("${socket}").on("error", () => process.exit(1)).on("data", () => process.exit(0))`;
  const scene = await repository({
    shell: 'echo new > new.txt',
    leaves: `exec > /dev/null 2>&1; exec node -e '${serve}'`,
  });
  const check = `until [ -s ${pidFile} ]; do sleep 0.05; done; node -e '${connect}'`;
  const { stderr } = await scene.run(['--verify-clean', '-n', '1', '--verify', check, ...args]);
  const pid = await untilPid(pidFile);
  expect(gates(scene)).toEqual(held);
  const isEnded = stderr.includes(`ended leftover background processes: ${pid} (`);
  expect([isEnded, isDead(pid)]).toEqual([held.length > 0, held.length > 0]);
});

test('a check that passed on a tree is run in the clean checkout all the same', async () => {
  const scene = await repository({ shell: 'echo ok > src.txt' });
  const ran = join(dirname(scene.folder), 'ran');
  const check = `echo x >> ${ran}; grep -q ok src.txt`;
  const { exitCode } = await scene.run(['--verify-clean', '--confirm', '2', '--verify', check]);
  expect(exitCode).toBe(0);
  expect(readdirSync(dirname(scene.folder)).filter((name) => name.endsWith('.ralph'))).toEqual([]);
});

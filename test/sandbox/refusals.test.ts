import { spawn } from 'node:child_process';
import { realpathSync, writeFileSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { COMPONENT, TOOLS } from '../../src/core/sandbox/refusals.ts';
import { until } from '../helpers/processes.ts';
import {
  driver,
  inSandbox,
  outside,
  readDriven,
  type SandboxScene,
  type SandboxWish,
  sandboxScene,
  started,
} from '../helpers/sandbox-scene.ts';

const isRoot = process.getuid?.() === 0;

/** The agent writes this if it was started. */
const AGENT: SandboxWish = { scripts: [{ script: 'touch agent-was-here', as: 'agent' }] };

/** Opens a sandbox that is refused, and returns why; the agent must not have been started. */
async function refusalOf(scene: SandboxScene, wish: Partial<SandboxWish>) {
  const { refusal } = await inSandbox(scene, { ...AGENT, ...wish });
  expect(await outside(scene, 'ls')).not.toContain('agent-was-here');
  expect(await outside(scene, 'ls .git')).not.toContain('commondir');
  return refusal;
}

test.for(['bwrap', 'socat', 'rg'] as const)('without %s it is refused', async (missing) => {
  const scene = await sandboxScene();
  const others = Object.keys(TOOLS).filter((name) => name !== missing);
  await outside(
    scene,
    `mkdir "$BASE/bin"; for each in git ${others.join(' ')}; do ln -s "$(command -v $each)" "$BASE/bin/"; done`,
  );
  expect(await refusalOf(scene, { env: { PATH: join(scene.base, 'bin') } })).toEqual({
    code: 'tools-missing',
    sentence: `--sandbox needs bubblewrap, socat and ripgrep; ${TOOLS[missing]} is missing: apt install ${TOOLS[missing]}`,
    exitCode: 2,
  });
});

test('without the package, or with another version of it, it is refused', async () => {
  const scene = await sandboxScene();
  const installation = await copiedInstallation(join(scene.base, 'installed'));
  const component = join(installation, 'node_modules', COMPONENT);
  writeFileSync(join(component, 'package.json'), '{"version":"0.0.83"}');
  // What the current folder and NODE_PATH have does not count.
  await cp(component, join(scene.work, 'node_modules', COMPONENT), { recursive: true });
  const env = { NODE_PATH: join(scene.work, 'node_modules') };
  const remedy = 'npm install --global @anthropic-ai/sandbox-runtime@0.0.78';
  const needs = '--sandbox needs the package @anthropic-ai/sandbox-runtime 0.0.78';
  expect((await refusalOf(scene, { installation, env }))?.sentence).toBe(
    `${needs} (found 0.0.83): ${remedy}`,
  );
  await started(scene, ['rm', '-rf', component]);
  expect(await refusalOf(scene, { installation, env })).toEqual({
    code: 'package-missing',
    sentence: `${needs}: ${remedy}`,
    exitCode: 2,
  });
});

test('a folder that cannot be made is told, and is not waited for', async () => {
  const scene = await sandboxScene();
  const asked = { allowWrite: [{ value: '/proc/nope/place', from: '--allow-write' }] };
  const refusal = await refusalOf(scene, { asked });
  expect(refusal).toMatchObject({ code: 'not-started', exitCode: 2 });
  expect(refusal?.sentence).toContain('/proc/nope');
});

test('ralph in a folder that the agent may write is refused', async () => {
  const scene = await sandboxScene();
  const installation = await copiedInstallation(scene.work);
  expect(await refusalOf(scene, { installation })).toEqual({
    code: 'ralph-inside',
    sentence: `The sandbox does not hold: ralph runs from ${scene.work}/node_modules, which the agent may write. Install it elsewhere: npm install --global ralph-headless`,
    exitCode: 2,
  });
});

test('a home folder as work folder is refused, and an allowed folder around it', async () => {
  const scene = await sandboxScene();
  const by = (value: string) => ({ allowWrite: [{ value, from: '--allow-write' }] });
  expect((await refusalOf(scene, { cwd: scene.home }))?.sentence).toBe(
    "The agent may write its work folder, and ~ takes in ~/.ssh and this driver's state: work in a folder below it, or use --no-sandbox.",
  );
  expect(await refusalOf(scene, { asked: by('~') })).toEqual({
    code: 'too-wide',
    sentence: "--allow-write ~ takes in ~/.ssh and this driver's state: name a folder below it.",
    exitCode: 2,
  });
  expect((await refusalOf(scene, { asked: by('..') }))?.code).toBe('too-wide');
  expect((await refusalOf(scene, { asked: by('~/.local') }))?.code).toBe('too-wide');
});

test('a .git file that leads to a repository which knows nothing of it is refused', async () => {
  const scene = await sandboxScene();
  await outside(
    scene,
    'mkdir "$BASE/fresh" && echo "gitdir: $BASE/neighbour/.git" > "$BASE/fresh/.git"',
  );
  const refusal = await refusalOf(scene, { cwd: join(scene.base, 'fresh') });
  expect(refusal?.code).toBe('wrong-path');
  expect(refusal?.sentence).toContain(`leads to ${scene.base}/neighbour/.git, which knows nothing`);
});

test.for([
  ['the answers', 'mkdir answers && ln -s answers Approved'],
  ['the state', 'mv .ralph_state states && ln -s states .ralph_state'],
  ['the folder of hooks of git', 'mv .git/hooks "$BASE/hooks" && ln -s "$BASE/hooks" .git/hooks'],
  ['the settings of git', 'mv .git/config "$BASE/config" && ln -s "$BASE/config" .git/config'],
  ['named hooks of git', 'ln -s "$BASE" .hooks && git config core.hooksPath .hooks/all'],
] as const)('%s behind a link is refused, since the link could be replaced', async ([, script]) => {
  const scene = await sandboxScene();
  await outside(scene, script);
  const refusal = await refusalOf(scene, {});
  expect(refusal?.code).toBe('wrong-path');
  expect(refusal?.sentence).toContain('since a link leads there');
});

test('what ralph trust noted behind a link is refused, since the link could be replaced', async () => {
  const scene = await sandboxScene();
  await outside(scene, 'mkdir -p ~/.config ~/notes && ln -s ../notes ~/.config/ralph');
  const asked = { allowWrite: [{ value: '~/.config', from: '--allow-write' }] };
  expect((await refusalOf(scene, { asked }))?.sentence).toContain('since a link leads there');
});

test('an allowed path that leads through a link of the work folder is refused', async () => {
  const scene = await sandboxScene();
  await outside(scene, 'mkdir "$BASE/data" && ln -s "$BASE" all && ln -s "$HOME/.npmrc" .npmrc');
  const by = (value: string) => [{ value, from: '--flag' }];
  expect((await refusalOf(scene, { asked: { allowWrite: by('all/data') } }))?.sentence).toBe(
    `--sandbox does not allow all/data, since ${scene.work}/all is a link that an agent may have made: name ${scene.base}/data itself if that is what you mean.`,
  );
  expect((await refusalOf(scene, { asked: { allowRead: by('.npmrc') } }))?.code).toBe('wrong-path');
});

test.for([
  ['out of the repository', '"$HOME/.bashrc" .git/logs/HEAD'],
  ['to nothing yet', '"$HOME/.new" .git/logs/HEAD'],
  ['to what is held', '../config .git/logs/HEAD'],
  ['into the work folder', '../src .git/lfs'],
] as const)(
  'a link of git that leads %s is refused, since git would write there',
  async ([, ends]) => {
    const scene = await sandboxScene();
    await outside(scene, `ln -sf ${ends}`);
    const refusal = await refusalOf(scene, {});
    expect(refusal?.code).toBe('wrong-path');
    expect(refusal?.sentence).toMatch(
      /^--sandbox cannot hold .*: the link .* leads there, and git/,
    );
  },
);

test('a folder that cannot be searched for repositories is refused', async () => {
  const scene = await sandboxScene();
  await outside(scene, 'mkdir "$BASE/closed" && chmod 0 "$BASE/closed"');
  const asked = { allowWrite: [{ value: '../closed', from: '--allow-write' }] };
  const refusal = await refusalOf(scene, { asked });
  expect(refusal).toMatchObject({ code: 'wrong-path', exitCode: 2 });
  expect(refusal?.sentence).toContain('/closed cannot be read');
});

test('a hook behind two links is refused, since the agent could replace the second one', async () => {
  const scene = await sandboxScene();
  await outside(
    scene,
    'echo true > src/hook && ln -s src/hook hook && ln -s ../../hook .git/hooks/pre-commit',
  );
  expect((await refusalOf(scene, {}))?.sentence).toContain('since a link leads there');
});

test.for([
  ['LD_LIBRARY_PATH', '/usr/lib:'],
  ['LD_LIBRARY_PATH', './lib'],
  ['LD_LIBRARY_PATH', './linked'],
  ['LD_PRELOAD', '/usr/lib/libc.so.6 ./lib/own.so'],
  ['NODE_OPTIONS', '--max-old-space-size=100 --require ./.pnp.cjs'],
] as const)('%s=%s is refused, since the agent may write what is loaded', async ([name, value]) => {
  const scene = await sandboxScene();
  const loads = { ...scene, env: { ...scene.env, RALPH_TEST_LOADS: value } };
  const [file = '', ...words] = driver(scene, AGENT);
  const command = [
    '-c',
    `export ${name}="$RALPH_TEST_LOADS"; cd "$WORK" && touch .pnp.cjs && ln -s /usr/lib linked; exec "$@"`,
  ];
  const answer = await started(loads, ['/bin/sh', ...command, 'sh', file, ...words]);
  expect(readDriven(answer).refusal).toMatchObject({ code: 'ralph-inside', exitCode: 2 });
  expect(readDriven(answer).refusal?.sentence).toContain(`with ${name}=${value}, ralph`);
});

test('variables that load only what no agent writes are no reason to refuse', async () => {
  const scene = await sandboxScene();
  const env = {
    LD_LIBRARY_PATH: '/usr/lib:/opt/lib',
    LD_PRELOAD: '',
    NODE_OPTIONS: '--max-old-space-size=4000',
  };
  expect((await inSandbox(scene, { ...AGENT, env })).refusal).toBeNull();
});

test('a path that the component takes for a pattern is refused', async () => {
  const scene = await sandboxScene();
  const fixed = [join(scene.work, 'src', '[id].ts')];
  expect((await refusalOf(scene, { fixed }))?.code).toBe('wrong-path');
});

test('a bwrap that cannot start is told in its own words', async () => {
  const scene = await sandboxScene();
  await stub(scene, 'bwrap', "echo 'bwrap: No permissions to create new namespace' >&2; exit 1");
  const refusal = await refusalOf(scene, { env: { PATH: `${scene.base}/bin:${scene.env.PATH}` } });
  expect(refusal?.code).toBe('not-started');
  expect(refusal?.sentence).toMatch(
    /^The sandbox could not be started: bwrap: No permissions to create new namespace\. /,
  );
});

test('a bwrap that holds nothing is seen through', async () => {
  const scene = await sandboxScene();
  await stub(scene, 'bwrap', 'while [ "$1" != -- ]; do shift; done; shift; exec "$@"');
  expect(
    await refusalOf(scene, {
      env: { TMPDIR: scene.base, PATH: `${scene.base}/bin:${scene.env.PATH}` },
    }),
  ).toEqual({
    code: 'does-not-hold',
    sentence: `The sandbox does not hold: a write to ${scene.home} went through. Nothing was started.`,
    exitCode: 2,
  });
  expect(await outside(scene, 'ls -A "$HOME"')).not.toContain('probe');
  // What the shell of the probe has started is ended with it.
  expect(await outside(scene, 'pgrep -af "[T]CP-LISTEN:3128.*$BASE" || echo none')).toBe('none\n');
});

test.skipIf(!isRoot)('it is refused for root', async () => {
  const scene = await sandboxScene();
  const [, , , , ...asRoot] = driver(scene, AGENT);
  const { refusal } = readDriven(await started(scene, asRoot));
  expect(refusal).toEqual({
    code: 'root',
    sentence:
      '--sandbox does not hold for root: kernel settings stay writable. Run as another user, or in a container with --no-sandbox.',
    exitCode: 2,
  });
});

test.skipIf(!isRoot)('it is refused where the kernel gives users no namespaces', async () => {
  const scene = await sandboxScene();
  const holder = spawn('unshare', ['--user', 'sleep', '1000'], { stdio: 'ignore' });
  const { pid } = holder;
  onTestFinished(() => void holder.kill('SIGKILL'));
  // A namespace takes its maps once; the one that the holder leaves has taken them.
  for (const name of ['uid_map', 'gid_map']) {
    await until(
      () => canWrite(`/proc/${pid}/${name}`, '0 0 100000\n'),
      () => `a new namespace, and its ${name}`,
    );
  }
  const { refusal } = readDriven(
    await started(scene, [
      ...['nsenter', '--user', `--target=${pid}`, '--preserve-credentials', '/bin/sh', '-c'],
      'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"',
      ...['sh', ...driver(scene, AGENT)],
    ]),
  );
  expect(refusal?.code).toBe('not-started');
  expect(refusal?.sentence).toMatch(/^The sandbox could not be started: bwrap: /);
  expect(await outside(scene, 'ls')).not.toContain('agent-was-here');
});

test('a sandbox that shares memory with other programs is refused', async () => {
  const scene = await sandboxScene();
  await outside(
    scene,
    `mkdir "$BASE/bin" && cat > "$BASE/bin/bwrap" <<'EOF' && chmod +x "$BASE/bin/bwrap"
#!/bin/bash
exec /usr/bin/bwrap "\${@/#--unshare-ipc/--unshare-uts}"
EOF`,
  );
  const PATH = `${join(scene.base, 'bin')}:${scene.env.PATH}`;
  const refusal = await refusalOf(scene, { env: { PATH } });
  expect(refusal).toMatchObject({
    code: 'does-not-hold',
    sentence:
      'The sandbox does not hold: it shares memory segments and message queues with this machine (namespace ipc). Nothing was started.',
  });
});

test('what the agent plants on PATH or as the package runs neither in this run nor in the next', async () => {
  const scene = await sandboxScene();
  const bin = 'node_modules/.bin';
  const planting = `
    mkdir -p ${bin} node_modules/${COMPONENT}/dist
    for each in git bwrap socat rg which sh bash node; do
      printf '#!/bin/sh\\ntouch "%s"\\nexec "/usr/bin/$(basename "$0")" "$@"\\n' "$WORK/ran-outside" > ${bin}/$each
      chmod +x ${bin}/$each
    done
    printf '{"version":"0.0.78","main":"dist/index.js"}' > node_modules/${COMPONENT}/package.json
    echo 'require("node:fs").writeFileSync(process.env.WORK + "/ran-outside", "")' > node_modules/${COMPONENT}/dist/index.js`;
  const env = {
    PATH: `${scene.work}/${bin}:./${bin}::${scene.env.PATH}`,
    NODE_PATH: join(scene.work, 'node_modules'),
  };
  await outside(scene, `mkdir -p ${bin}`);
  const first = await inSandbox(scene, { env, scripts: [{ script: planting, as: 'agent' }] });
  const next = await inSandbox(scene, { env, scripts: [{ script: '/bin/true', as: 'agent' }] });
  expect([first.refusal, next.refusal]).toEqual([null, null]);
  const folders = scene.env.PATH?.split(':').map((folder) => realpathSync(folder));
  expect(next.outerPath).toBe(folders?.join(':'));
  expect(await outside(scene, 'test -x node_modules/.bin/git && ls')).not.toContain('ran-outside');
});

function canWrite(file: string, text: string): boolean {
  try {
    writeFileSync(file, text);
    return true;
  } catch {
    return false;
  }
}

async function copiedInstallation(place: string): Promise<string> {
  const whole = process.env.RALPH_TEST_INSTALLATION ?? '';
  await cp(join(whole, 'node_modules'), join(place, 'node_modules'), { recursive: true });
  return place;
}

function stub(scene: SandboxScene, name: string, text: string): Promise<string> {
  return outside(
    scene,
    `mkdir -p "$BASE/bin"; printf '%s\\n' '#!/bin/sh' '${text.replaceAll("'", "'\\''")}' > "$BASE/bin/${name}"; chmod +x "$BASE/bin/${name}"`,
  );
}

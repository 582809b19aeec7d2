import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { guardOf } from '../helpers/guard-of.ts';
import { LIMIT } from '../helpers/patience.ts';
import { until } from '../helpers/processes.ts';
import { asUser, outside } from '../helpers/sandbox-scene.ts';
import {
  DONE,
  installedRalph,
  livingIn,
  newRun,
  ralphCommand,
  ranIn,
  ranRalph,
  sandboxedRuns,
  startRalph,
  stateOf,
} from '../helpers/sandboxed-ralph.ts';

const isRoot = process.getuid?.() === 0;

/** A daemon that has left everything by which it could be found. */
const daemon = (mark: string): string => `system('setsid env -i sleep 9${mark} &');`;

test('a run completes in the sandbox, and nothing else is left in the tree', async () => {
  const scene = await sandboxedRuns(`
    system('echo x > "$HOME/escaped"; echo x >> .git/config');
    system('echo work > work.txt && git add work.txt && git commit -qm work');
    open my $file, '>', 'prompt.txt'; print $file $prompt; close $file;
    open $file, '>', 'args.txt'; print $file "@ARGV"; close $file;
    ${DONE}`);
  const before = readdirSync(scene.work);
  const { exitCode, stdout } = await ranRalph(scene, newRun(scene, '--json'));
  expect(exitCode).toBe(0);
  expect(readdirSync(scene.home)).not.toContain('escaped');
  expect(await outside(scene, 'git log --format=%s -1')).toBe('work\n');
  const born = readdirSync(scene.work).filter((name) => !before.includes(name));
  expect(born.sort()).toEqual(['.ralph_state', 'args.txt', 'prompt.txt', 'work.txt']);
  const { sandbox, usage } = await stateOf(scene);
  expect(sandbox).toMatchObject({ is: 'on', version: '0.0.78', refused: [], planted: [] });
  expect(usage.cost_usd).toBe(0.25);
  expect(stdout).toContain('"sandbox":"on"');
  expect(await outside(scene, 'cat prompt.txt')).toContain(`You work in a sandbox.`);
  expect(await outside(scene, 'cat args.txt')).toContain(
    '--settings={"sandbox":{"enabled":false}}',
  );
  expect(livingIn(scene)).toEqual([]);
});

test('a snapshot that the agent has rewritten puts nothing where the agent may not write', async () => {
  const scene = await sandboxedRuns(`
    system(<<'SH');
    echo broken > src/main.c
    id=$(echo evil | git hash-object -w --stdin)
    export GIT_INDEX_FILE=$PWD/forged
    git read-tree HEAD
    for each in .husky/pre-commit .envrc .claude/settings.json; do git update-index --add --cacheinfo "100755,$id,$each"; done
    ref=$(git for-each-ref --format='%(refname)' 'refs/ralph/t@*/0')
    forged=$(git commit-tree -m "$(git log -1 --format=%B "$ref")" -p HEAD "$(git write-tree)")
    git update-ref "$ref" "$forged"
    rm -f forged
SH
    ${DONE}`);
  const flags = [
    '--task-id',
    't',
    '--revert-failed',
    '--verify',
    'false',
    '--verify-each',
    '-n',
    '1',
  ];
  const { stderr, exitCode } = await ranRalph(scene, newRun(scene, ...flags));
  expect([exitCode, stderr]).toEqual([
    3,
    expect.stringMatching(/refs\/ralph\/t@\w+\/0 names another commit/),
  ]);
  expect(stderr).toContain('took back what iteration 1 changed: 1 file');
  expect(await outside(scene, 'git diff -- .husky .envrc .claude src')).toBe('');
  expect(await outside(scene, 'ls -a')).not.toMatch(/\.husky|\.envrc/);
});

test('a prompt of a megabyte reaches the agent whole', async () => {
  const scene = await sandboxedRuns(`
    open my $file, '>', 'got.txt'; print $file $prompt; close $file;
    ${DONE}`);
  await outside(
    scene,
    `perl -e 'print "line $_ of a long prompt\n" for 1..34000' > "$BASE/long.md"; printf END >> "$BASE/long.md"`,
  );
  const args = newRun(scene).filter((word) => word !== '--prompt' && word !== 'Do it.');
  const prompt = ['--prompt-file', join(scene.base, 'long.md')];
  expect(await ranRalph(scene, [...args, ...prompt])).toMatchObject({ exitCode: 0 });
  const bytes = await outside(scene, 'wc -c < "$BASE/long.md"');
  expect(Number(bytes)).toBeGreaterThan(900_000);
  await outside(scene, `head -c ${Number(bytes)} got.txt | cmp - "$BASE/long.md"`);
});

test('inside, ralph progress says to report it in the message', async () => {
  const words = installedRalph(['progress', '--total', '5', '--done', '2', '--step', 'Lint']);
  const scene = await sandboxedRuns(`system('${words.join(' ')} 2> said'); ${DONE}`);
  const { exitCode } = await ranRalph(scene, newRun(scene));
  expect(exitCode).toBe(0);
  expect(await outside(scene, 'cat said')).toContain(
    'say <progress done="2" total="5">Lint</progress> in the final message',
  );
});

test('what keeps the machine awake is not taken from a folder of the agent', async () => {
  const scene = await sandboxedRuns(DONE);
  const bin = join(scene.work, 'node_modules', '.bin');
  const plant = `printf '#!/bin/sh\\ntouch "${scene.work}/ran-outside"\\n' > ${bin}/systemd-inhibit`;
  await outside(scene, `mkdir -p ${bin} && ${plant} && chmod 755 ${bin}/systemd-inhibit`);
  const env = { PATH: `${bin}:${scene.env.PATH}` };
  const args = newRun(scene).map((each) => each.replace('--no-prevent-sleep', '--prevent-sleep'));
  const { exitCode } = await ranIn(scene, asUser(ralphCommand(scene, args)), { env });
  expect(exitCode).toBe(0);
  expect(readdirSync(scene.work)).not.toContain('ran-outside');
});

test('an agent that is ended at its limit tells its cost, and nothing is left', async () => {
  const mark = `${process.pid}1`;
  const scene = await sandboxedRuns(`
    $SIG{INT} = sub { result('stopped', 0.5) };
    ${daemon(mark)}
    if (fork() == 0) { exec 'setsid', 'sleep', '9${mark}' }
    sleep 1 while 1;`);
  const args = newRun(scene, '--max-iterations', '1', '--iteration-timeout', LIMIT);
  const { exitCode, stderr } = await ranRalph(scene, args);
  expect(exitCode).toBe(3);
  const { iterations } = await stateOf(scene);
  expect(iterations).toMatchObject([{ outcome: 'timed-out', cost_usd: 0.5 }]);
  expect(stderr).not.toMatch(/bwrap|socat|left running/);
  expect(livingIn(scene, `9${mark}`)).toEqual([]);
});

test('an agent that is deaf to SIGINT and SIGTERM is ended with the sandbox', async () => {
  const mark = `${process.pid}2`;
  const scene = await sandboxedRuns(
    `$SIG{INT} = $SIG{TERM} = 'IGNORE'; ${daemon(mark)} sleep 1 while 1;`,
  );
  const args = newRun(scene, '--max-iterations', '1', '--iteration-timeout', LIMIT);
  expect((await ranRalph(scene, args)).exitCode).toBe(3);
  expect(livingIn(scene, `9${mark}`)).toEqual([]);
});

test.for(['ralph', 'ralph and its guard'] as const)(
  'kill -9 of %s ends everything, and a resume has the same rules',
  async (killed) => {
    const mark = `${process.pid}${killed === 'ralph' ? 3 : 4}`;
    const scene = await sandboxedRuns(`
    if (!-e 'waits') { ${DONE} }
    ${daemon(mark)}
    open my $file, '>', 'ready'; close $file;
    sleep 1 while 1;`);
    await outside(scene, 'touch waits');
    const ralph = startRalph(scene, newRun(scene, '--allow-net', 'registry.example:443'));
    await until(
      () => readdirSync(scene.work).includes('ready'),
      () => 'the agent',
    );
    const guard = await guardOf(ralph.pid);
    expect(livingIn(scene, `9${mark}`).join('\n')).toMatch(/socat[\s\S]*sleep 9/);
    if (killed !== 'ralph') process.kill(guard, 'SIGKILL');
    process.kill(ralph.pid, 'SIGKILL');
    await until(
      () => livingIn(scene, `9${mark}`).length === 0,
      () => `the end of ${livingIn(scene, `9${mark}`).join('\n')}`,
    );
    await outside(scene, 'rm waits');
    const resumed = await ranRalph(scene, ['resume', 'T1', '--json']);
    expect(resumed.exitCode).toBe(0);
    expect((await stateOf(scene)).sandbox).toMatchObject({
      is: 'on',
      rules: { allow_net: ['registry.example:443'] },
      changes: [],
    });
    expect(livingIn(scene)).toEqual([]);
    expect(readdirSync(join(scene.work, '.git'))).not.toContain('commondir');
  },
);

test('a resume without the sandbox is told, and kept in the state', async () => {
  const scene = await sandboxedRuns(`
    if (!-e "$ENV{HOME}/outside") { result('not yet', 0.1) }
    system('echo x > "$HOME/escaped"');
    ${DONE}`);
  expect((await ranRalph(scene, newRun(scene, '--max-iterations', '1'))).exitCode).toBe(3);
  await outside(scene, 'touch "$HOME/outside"');
  const args = ['resume', 'T1', '--no-sandbox', '--max-iterations', '+1'];
  const { exitCode, stderr } = await ranRalph(scene, args);
  expect(exitCode).toBe(0);
  expect(stderr).toContain('the sandbox is off');
  expect((await stateOf(scene)).sandbox).toMatchObject({
    is: 'off',
    changes: [{ what: 'the sandbox is off' }],
  });
  expect(readdirSync(scene.home)).toContain('escaped');
});

test('a refused host is told, with what would allow it, and the next prompt has it', async () => {
  const scene = await sandboxedRuns(`
    open my $file, '>>', 'prompts.txt'; print $file $prompt; close $file;
    if (-e 'asked') { result('still not', 0.1) }
    system('touch asked; curl -s --max-time 5 https://evil.example/');
    result('not yet', 0.1);`);
  const { exitCode, stdout, stderr } = await ranRalph(
    scene,
    newRun(scene, '--json', '--max-iterations', '2'),
  );
  expect(exitCode).toBe(3);
  expect(stdout).toMatch(
    /"event":"sandbox_refused".*"iteration":1,"host":"evil.example","port":443,"count":1/,
  );
  expect(stderr).toContain('refused: evil.example:443');
  expect(await outside(scene, 'cat Needs_Action/*.md')).toContain('--allow-net evil.example:443');
  const [, second] = (await outside(scene, 'cat prompts.txt')).split('Do it.').slice(1);
  expect(second).toContain('evil.example:443');
});

test('a server that the agent leaves ends with the iteration', async () => {
  const mark = `${process.pid}6`;
  const scene = await sandboxedRuns(`system('(setsid sleep 9${mark} &); (sleep 9${mark} &)');
    select undef, undef, undef, 1.5;
    result('not yet', 0.1);`);
  await ranRalph(scene, newRun(scene, '--no-progress-limit', '0'));
  expect(livingIn(scene, `9${mark}`)).toEqual([]);
});

test('without the flag nothing of the sandbox is opened', async () => {
  const scene = await sandboxedRuns(DONE);
  const place = join(scene.base, 'bare');
  await outside(
    scene,
    `mkdir -p '${place}/node_modules'; cp -a "${process.env.RALPH_TEST_INSTALLATION}/node_modules/ralph-headless" '${place}/node_modules/'; cd '${place}/node_modules/ralph-headless/dist'; ls | grep sandbox; rm *sandbox*`,
  );
  const args = newRun(scene, '--no-sandbox');
  const { exitCode, stderr } = await ranIn(scene, asUser(ralphCommand(scene, args, place)));
  expect(exitCode, stderr).toBe(0);
});

test('the library rejects with the error of the sandbox', async () => {
  const scene = await sandboxedRuns(DONE);
  const script = `
    import { runTask, SandboxError } from 'ralph-headless';
    const env = { ...process.env, PATH: '/nowhere' };
    await runTask({ prompt: 'x', vault: process.env.WORK, sandbox: true, claudeBin: '${scene.agent}', env }).catch(
      (error) => console.log(error instanceof SandboxError, error.code, error.message));`;
  const place = process.env.RALPH_TEST_INSTALLATION ?? '';
  await outside(scene, `ln -s '${place}/node_modules' "$BASE/node_modules"`);
  await outside(scene, `cat > "$BASE/use.mjs" <<'END'\n${script}\nEND`);
  const { stdout, stderr } = await ranIn(
    scene,
    asUser([process.execPath, join(scene.base, 'use.mjs')]),
  );
  expect(stderr).toBe('');
  expect(stdout).toMatch(/^true tools-missing --sandbox needs bubblewrap, socat and ripgrep; /);
});

test('a task in a work tree of its own has its sandbox there, and its set-up too', async () => {
  const scene = await sandboxedRuns(`
    system('echo work > work.txt && git add work.txt && git commit -qm work; echo x > "$ENV{WORK}/escaped"');
    ${DONE}`);
  const setup = ['--setup', 'touch "$HOME/escaped"; touch made; true', '--worktree'];
  const { exitCode } = await ranRalph(scene, newRun(scene, ...setup));
  expect(exitCode).toBe(0);
  expect(await outside(scene, 'git log --format=%s -1 ralph/T1; ls; ls "$HOME"')).toMatch(
    /^work\n(?![\s\S]*escaped)/,
  );
});

test('a helper that dies is started again before the next attempt', async () => {
  const scene = await sandboxedRuns(`
    if (-e 'goes') { ${DONE} }
    open my $file, '>', 'ready'; close $file;
    select undef, undef, undef, 0.05 until -e 'goes';
    result('not yet', 0.1);`);
  const ralph = startRalph(scene, newRun(scene, '--json'));
  await until(
    () => readdirSync(scene.work).includes('ready'),
    () => 'the agent',
  );
  const [helper = ''] = livingIn(scene, 'sandbox-helper').filter((line) =>
    line.includes('sandbox-helper.js'),
  );
  process.kill(Number.parseInt(helper, 10), 'SIGKILL');
  await outside(scene, 'touch goes');
  expect(await new Promise((resolve) => ralph.once('exit', resolve))).toBe(0);
});

test.for([
  ['without socat', 'tools-missing', 'socat is missing: apt install socat'],
  ['for root', 'root', 'does not hold for root'],
] as const)('%s a run is refused before anything is written', async ([how, , sentence]) => {
  const scene = await sandboxedRuns('system("touch agent-was-here"); result("", 0)');
  await outside(
    scene,
    'mkdir "$BASE/few"; for each in git bwrap rg; do ln -s "$(command -v $each)" "$BASE/few/"; done',
  );
  const before = await outside(scene, 'find . -path ./.git -prune -o -print | sort; ls .git');
  const env = how === 'for root' ? scene.env : { ...scene.env, PATH: join(scene.base, 'few') };
  const command = ralphCommand(scene, newRun(scene));
  if (how === 'for root' && !isRoot) return;
  const refused =
    how === 'for root'
      ? await ranIn(scene, command)
      : await ranRalph({ ...scene, env }, newRun(scene));
  expect(refused.stderr).toContain(sentence);
  expect(refused.exitCode).toBe(2);
  expect(await outside(scene, 'find . -path ./.git -prune -o -print | sort; ls .git')).toBe(before);
});

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { LIMIT } from '../helpers/patience.ts';
import { ralphAsUser, runInSandbox } from '../helpers/run-in-sandbox.ts';
import { outside, type SandboxScene, sandboxScene } from '../helpers/sandbox-scene.ts';

const DONE = 'echo "<promise>TASK_COMPLETE</promise>"';
/** Tries to write where nobody in the sandbox may, and says whether that went through. */
const ESCAPE = `if echo x > "$HOME/escaped" 2>/dev/null; then exit 9; fi`;

function hasEscaped({ home }: SandboxScene): boolean {
  return existsSync(join(home, 'escaped'));
}

test('a check that writes to the home writes nothing there, and its own exit code is the verdict', async () => {
  const scene = await sandboxScene();
  const scripts = JSON.stringify({ scripts: { test: 'echo x > $HOME/escaped; echo y >> made' } });
  const plant = `printf '%s' '${scripts}' > package.json`;
  const end = await runInSandbox(scene, `${plant}; ${DONE}`, ['--verify', 'npm test']);
  expect(end).toMatchObject({ exitCode: 0 });
  expect(hasEscaped(scene)).toBe(false);
  expect(readFileSync(join(scene.work, 'made'), 'utf8')).toBe('y\n');
  const red = await runInSandbox(scene, DONE, ['--task-id', 'u', '--verify', `${ESCAPE}; exit 3`]);
  // Two iterations, and the check fails after each.
  expect(red).toMatchObject({ exitCode: 3 });
  expect(hasEscaped(scene)).toBe(false);
});

test('what the last checks plant and are refused is told, and their links do not outlive them', async () => {
  const scene = await sandboxScene();
  const check = `rm .git/logs/HEAD; ln -s "$HOME/.bashrc" .git/logs/HEAD; mkdir .idea
    curl -s --max-time 5 http://evil.example/; true`;
  const flags = ['--worktree', '--verify', check.replaceAll('.git/', '"$WORK"/.git/')];
  const end = await runInSandbox(scene, `echo x > new; ${DONE}`, [...flags, '--commit']);
  expect(end).toMatchObject({ exitCode: 0 });
  expect(end.stderr).toMatch(/may run: [^\n]*\/\.idea/);
  expect(end.stderr).toMatch(/may run: [^\n]*\.git\/logs\/HEAD \(a link to .*; removed\)/);
  expect(end.stderr).toContain('refused: evil.example:80 (once)');
  const landed = await ralphAsUser(scene, ['land', 't', '--yes']);
  expect(landed).toMatchObject({ exitCode: 0 });
  expect(landed.stderr).toMatch(/may run: [^\n]*\.git\/logs\/HEAD \(a link to .*; removed\)/);
  expect(readFileSync(join(scene.home, '.bashrc'), 'utf8')).toBe('true\n');
});

test('a check finds nothing of the agent in its temporary folder and its caches, and leaves nothing there', async () => {
  const scene = await sandboxScene();
  const poison = 'mkdir -p "$XDG_CACHE_HOME" "$npm_config_cache"; echo x | tee';
  const places = '"$TMPDIR/bad" "$XDG_CACHE_HOME/bad" "$npm_config_cache/bad"';
  const look = `for each in ${places}; do if test -e "$each"; then exit 9; fi; done`;
  const end = await runInSandbox(scene, `${poison} ${places} > poisoned; ${DONE}`, [
    ...['--verify', `${look}; ${poison} ${places}; echo "$TMPDIR" > of-first`],
    ...['--verify', `${look}; test ! -e "$(cat of-first)"`],
  ]);
  expect(end).toMatchObject({ exitCode: 0 });
  expect(existsSync(join(scene.work, 'poisoned'))).toBe(true);
});

test('a check that puts a pipe in the place of its exit code has not passed, and holds nobody up', async () => {
  const scene = await sandboxScene();
  const found = `grep -aoE "$TMPDIR/[.]exit-[-0-9a-f]+" /proc/$PPID/cmdline | head -1`;
  const check = `file=$(${found}); mkfifo "$file" && touch made; cat "$file" > /dev/null &`;
  const end = await runInSandbox(scene, DONE, ['--verify', check, '--max-iterations', '1']);
  expect(end).toMatchObject({ exitCode: 3 });
  expect(existsSync(join(scene.work, 'made'))).toBe(true);
});

test('conditions run inside, and checks outside where the user says so', async () => {
  const scene = await sandboxScene();
  const until = await runInSandbox(scene, 'touch here', ['--until', `test -e here && ${ESCAPE}`]);
  expect(until).toMatchObject({ exitCode: 0 });
  expect(hasEscaped(scene)).toBe(false);
  const out = ['--task-id', 'u', '--no-sandbox-checks', '--verify', 'echo x > "$HOME/escaped"'];
  expect(await runInSandbox(scene, DONE, out)).toMatchObject({ exitCode: 0 });
  expect(hasEscaped(scene)).toBe(true);
});

test('commands after the task run as the user, with a warning where they run what the agent wrote', async () => {
  const scene = await sandboxScene();
  const end = await runInSandbox(scene, `echo 'echo x > "$HOME/after"' > push.sh; ${DONE}`, [
    ...['--after', 'sh ./push.sh', '--on-end', 'npm run publish-it || echo x > "$HOME/ended"'],
  ]);
  expect(readdirSync(scene.home)).toEqual(expect.arrayContaining(['after', 'ended']));
  expect(end.stderr.match(/runs outside the sandbox/g)).toHaveLength(2);
});

test('what a check started ends with it, also at its time limit', async () => {
  const scene = await sandboxScene();
  const number = `4${process.pid}`;
  const check = `setsid env -i sleep ${number}.5 & sleep ${number}`;
  const end = await runInSandbox(scene, DONE, [
    ...['--verify', check, '--iteration-timeout', LIMIT, '--max-iterations', '1'],
  ]);
  expect(end.exitCode).not.toBe(0);
  expect(await outside(scene, `pgrep -f '[s]leep ${number}' || echo none`)).toBe('none\n');
  expect(end.stderr).not.toMatch(/left|ended/i);
});

test('a clean checkout is writable for its checks, but for what git obeys in it', async () => {
  const scene = await sandboxScene();
  const check = [
    ESCAPE,
    'echo x > new && rm new && file=$(mktemp) && rm "$file"',
    'for each in config hooks/pre-commit commondir config.worktree; do',
    '  if echo x >> .git/$each 2>/dev/null; then exit 8; fi',
    'done',
    'git status --porcelain && git log -1 --format=%s',
  ].join('\n');
  const verify = `case $PWD in *.clean-*) ${check} ;; esac`;
  const end = await runInSandbox(scene, `touch done; ${DONE}`, [
    ...['--verify', verify, '--verify-clean', '--setup', ESCAPE],
  ]);
  expect(end).toMatchObject({ exitCode: 0 });
  const again = await ralphAsUser(scene, ['proof', 't', '--again']);
  expect(again).toMatchObject({ exitCode: 0 });
  expect(hasEscaped(scene)).toBe(false);
});

test('the old exam of changed tests is held inside', async () => {
  const scene = await sandboxScene();
  await outside(scene, `mkdir test && echo 'test -e done' > test/all.test.sh && git add test`);
  const script = `touch done; echo 'echo x > "$HOME/escaped"; true' >> test/all.test.sh; ${DONE}`;
  const end = await runInSandbox(scene, script, ['--verify', 'sh test/all.test.sh']);
  expect(end.exitCode).not.toBeNull();
  expect(hasEscaped(scene)).toBe(false);
});

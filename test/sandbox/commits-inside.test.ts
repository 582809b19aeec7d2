import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ralphAsUser, runInSandbox } from '../helpers/run-in-sandbox.ts';
import { outside, sandboxScene } from '../helpers/sandbox-scene.ts';

const DONE = 'echo "<promise>TASK_COMPLETE</promise>"';

test('a commit of ralph is made inside, and its hooks decide', async () => {
  const scene = await sandboxScene();
  const hook = `#!/bin/sh\\nsh ./lint.sh\\n`;
  await outside(
    scene,
    `git switch -qc feature; printf '${hook}' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit`,
  );
  await outside(scene, "printf 'exit 0\\n' > lint.sh; git add lint.sh");
  const script = `
    printf 'echo x > "$HOME/escaped"; echo "$PWD" > linted; test ! -e bad\\n' > lint.sh
    echo work >> src/main.c; ${DONE}`;
  const end = await runInSandbox(scene, script, ['--commit']);
  expect(end).toMatchObject({ exitCode: 0 });
  expect(await outside(scene, 'git show --format=%an --name-only HEAD')).toBe(
    'n\n\nlint.sh\nsrc/main.c\n',
  );
  expect(existsSync(join(scene.home, 'escaped'))).toBe(false);
  expect(readFileSync(join(scene.work, 'linted'), 'utf8')).toBe(`${scene.work}\n`);
  expect(await outside(scene, 'git status --porcelain --untracked-files=no')).toBe('');
  const red = await runInSandbox(scene, `touch bad; ${DONE}`, ['--task-id', 'u', '--commit']);
  expect(red.stderr).toContain('git commit ended with 1');
});

test('a task in a work tree of its own works, is undone and lands', async () => {
  const scene = await sandboxScene();
  const script = `
    echo one > one && git add -A && git commit -qm one && git switch -qc topic && git switch -q - &&
    git branch -qD topic && echo dirty >> one && git stash -q && git stash pop -q && git checkout -q one &&
    git gc -q && echo two > two && ${DONE}`;
  const tryOut = 'if echo x > "$HOME/escaped" 2>/dev/null; then exit 9; fi';
  const end = await runInSandbox(scene, script, [
    ...['--worktree', '--setup', `${tryOut}; touch set-up`, '--verify', `${tryOut}; test -e two`],
  ]);
  expect(end).toMatchObject({ exitCode: 0 });
  const shown = await ralphAsUser(scene, ['diff', 't', '--stat']);
  expect(shown.stdout).toContain('two');
  for (const args of [
    ['undo', 't', '--yes'],
    ['undo', 't', '--redo', '--yes'],
  ]) {
    expect(await ralphAsUser(scene, args)).toMatchObject({ exitCode: 0 });
  }
  const landed = await ralphAsUser(scene, ['land', 't', '--yes']);
  expect(landed).toMatchObject({ exitCode: 0 });
  expect(await outside(scene, 'git show --format=%s --name-only HEAD')).toBe(
    'Work\n\none\nset-up\ntwo\n',
  );
  expect(existsSync(join(scene.home, 'escaped'))).toBe(false);
  expect(await outside(scene, 'git worktree list')).not.toContain('.landing');
});

test('a landing is refused with its sentence if the sandbox of the task cannot be had', async () => {
  const scene = await sandboxScene();
  const args = ['--worktree', '--verify', 'true', '--commit'];
  expect(await runInSandbox(scene, `echo x > new; ${DONE}`, args)).toMatchObject({ exitCode: 0 });
  const bin = join(scene.base, 'bin');
  await outside(scene, `mkdir ${bin}; ln -s "$(command -v git)" ${bin}/git`);
  const end = await ralphAsUser(scene, ['land', 't'], { env: { PATH: bin } });
  expect(end.exitCode).toBe(2);
  expect(end.stderr).toContain('--sandbox needs bubblewrap, socat and ripgrep');
  expect(existsSync(join(scene.work, 'new'))).toBe(false);
});

test('no git of the agent is ever run outside', async () => {
  const scene = await sandboxScene();
  const planted = join(scene.work, 'node_modules', '.bin');
  const env = { PATH: `${planted}:${scene.base}/tools:${scene.env.PATH}` };
  const script = `
    git init -q nested; git -C nested config core.fsmonitor 'touch "$HOME/escaped"; :'
    echo x > nested/file; git -C nested add file; git -C nested commit -qm nested
    echo more >> src/main.c
    for folder in node_modules/.bin "$BASE/tools"; do
      mkdir -p $folder
      for each in git bwrap socat rg sh; do
        printf '#!/bin/sh\\necho "$0" >> "$HOME/escaped"\\nexit 1\\n' > $folder/$each
        /bin/chmod +x $folder/$each
      done
    done
    ${DONE}`;
  const flags = ['--allow-write', `${scene.base}/tools`, '--verify', 'true', '--commit'];
  await outside(scene, 'git switch -qc feature');
  const end = await runInSandbox(scene, script, flags, { env });
  expect(end.stderr).toContain('new file that other programs may run: ');
  for (const args of [
    ['diff', 't'],
    ['report', 't'],
    ['snapshots', 't'],
    ['undo', 't', '--yes'],
  ]) {
    await ralphAsUser(scene, args, { env });
  }
  await runInSandbox(scene, DONE, ['--task-id', 'u', ...flags], { env });
  expect(existsSync(join(scene.home, 'escaped'))).toBe(false);
});

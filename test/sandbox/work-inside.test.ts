import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ownerText } from '../../src/effects/sandbox/run-folder.ts';
import { runInSandbox } from '../helpers/run-in-sandbox.ts';
import {
  driver,
  inSandbox,
  outside,
  type SandboxScene,
  sandboxScene,
  started,
} from '../helpers/sandbox-scene.ts';

/** What a loop needs, in the words of an agent. */
const GIT = {
  add: 'echo more > more && git add -A && git commit -qm more',
  branch: 'git switch -qc topic && git switch -q - && git branch -qD topic',
  stash:
    'echo dirty >> src/main.c && git stash -q && git stash pop -q && git checkout -q src/main.c',
  gc: 'git gc -q',
  rebase: 'git commit -q --allow-empty -m x && git rebase -q HEAD~1 && git reset -q --hard HEAD',
};

/** Waits for a file at most a minute. */
const until = (file: string): string =>
  `for each in $(seq 600); do test -e ${file} && break; sleep 0.1; done`;

test('git works as outside, and leaves nothing but its work', async () => {
  const scene = await sandboxScene();
  const before = namesOf(scene);
  const { ran, planted } = await inSandbox(scene, { scripts: asAgent(Object.values(GIT)) });
  expect(ran.map(({ code }) => code)).toEqual(ran.map(() => 0));
  expect(await outside(scene, 'git log --format=%s -2 --skip=1')).toBe('more\nfirst\n');
  expect(await outside(scene, 'git status --porcelain')).toBe('');
  expect(namesOf(scene).work).toEqual([...before.work, 'more'].sort());
  expect(namesOf(scene).git.filter((name) => !before.git.includes(name))).not.toContain(
    'commondir',
  );
  expect(namesOf(scene).modules).toEqual(before.modules);
  expect(planted).toEqual([]);
});

test('git works in a work tree whose folder of git is elsewhere', async () => {
  const scene = await sandboxScene();
  const { ran } = await inSandbox(scene, {
    cwd: join(scene.base, 'tree'),
    scripts: asAgent([
      ...Object.values(GIT),
      'echo x >> ../work/.git/hooks/pre-commit',
      'echo x > .git',
      'echo x > ../work/new',
    ]),
  });
  expect(ran.map(({ code }) => code)).toEqual([0, 0, 0, 0, 0, 2, 2, 2]);
  expect(await outside(scene, 'git log --format=%s -2 --skip=1 other')).toBe('more\nfirst\n');
});

test('temporary files and caches have a place that is removed at the end', async () => {
  const scene = await sandboxScene();
  const script =
    'file=$(mktemp) && echo "$file" && mkdir -p "$XDG_CACHE_HOME" "$npm_config_cache" && chmod 500 "$XDG_CACHE_HOME"';
  const { ran } = await inSandbox(scene, { scripts: asAgent([script]) });
  expect(ran[0]).toMatchObject({ code: 0, stderr: '' });
  const file = ran[0]?.stdout.trim() ?? '';
  expect(file).toMatch(/\/ralph-sandbox-\w+\/tmp\//);
  expect(await outside(scene, `test -e '${join(file, '..', '..')}' || echo gone`)).toBe('gone\n');
});

test('a check has neither the login of the agent nor its hosts', async () => {
  const scene = await sandboxScene();
  const look = 'cat "$HOME/.claude/.credentials.json"; echo "key $ANTHROPIC_API_KEY"; touch done';
  const ask = 'curl -s --max-time 5 https://api.anthropic.com/ -o /dev/null -w "%{http_connect}"';
  const { ran, refused } = await inSandbox(scene, {
    env: { ANTHROPIC_API_KEY: 'SECRET-API-KEY-0123456789' },
    scripts: [
      { script: look, as: 'agent' },
      { script: look, as: 'check' },
      { script: ask, as: 'check' },
    ],
  });
  expect(ran[0]?.stdout).toBe('SECRET-LOGIN\nkey SECRET-API-KEY-0123456789\n');
  expect(ran[1]?.stdout).toBe('key \n');
  expect(ran[2]?.stdout).toBe('403');
  expect(refused).toEqual([{ host: 'api.anthropic.com', port: 443, count: 1 }]);
  expect(await outside(scene, 'ls done')).toBe('done\n');
});

test('a refused host is told with its port, and how often', async () => {
  const scene = await sandboxScene();
  const ask =
    'curl -s --max-time 5 https://evil.example/; curl -s --max-time 5 http://evil.example:81/';
  const { refused } = await inSandbox(scene, { scripts: asAgent([ask, ask]) });
  expect(refused).toEqual([
    { host: 'evil.example', port: 443, count: 2 },
    { host: 'evil.example', port: 81, count: 2 },
  ]);
});

test('a command starts once its proxies can be reached', async () => {
  const scene = await sandboxScene();
  await outside(
    scene,
    `mkdir "$BASE/bin" && cat > "$BASE/bin/socat" <<EOF && chmod +x "$BASE/bin/socat"
#!/bin/sh
case "\\$1" in TCP-LISTEN*) sleep 0.5;; esac
exec $(command -v socat) "\\$@"
EOF`,
  );
  const { ran, refused } = await inSandbox(scene, {
    env: { PATH: `${join(scene.base, 'bin')}:${scene.env.PATH}` },
    scripts: asAgent(['curl -s --max-time 5 http://evil.example/ -o /dev/null -w "%{http_code}"']),
  });
  expect(ran[0]?.stdout).toBe('403');
  expect(refused).toEqual([{ host: 'evil.example', port: 80, count: 1 }]);
});

test('births of dangerous names and of repositories are told, the dangerous ones first', async () => {
  const scene = await sandboxScene();
  await outside(
    scene,
    `rm .claude/settings.json && ln -s ../package.json .claude/settings.json
    mkdir empty && mkdir empty/.git && mkdir -p node_modules/a/.vscode`,
  );
  const script = `
    git init -q src/nested; git -C src/nested config core.fsmonitor ./run
    git -C src/nested commit -q --allow-empty -m first
    git init -q --bare ignored; mkdir -p deep/er && echo "gitdir: ../ignored" > deep/er/.git
    mkdir store stored link && git init -q made && mv made/.git/HEAD made/.git/head &&
    ln -s refs/heads/x made/.git/HEAD && ln -s "$HOME/.claude" link/.git
    echo .. > store/commondir; ln -s refs/heads/x store/HEAD; echo x > empty/.git/HEAD
    rm .git/HEAD; ln -s refs/heads/x HEAD; mkdir objects refs
    mkdir -p packages/x/.vscode packages/x/.claude/hooks node_modules/b/.vscode; echo {} > packages/x/.mcp.json
    mkdir closed && git init -q closed/x && chmod 0 closed
    echo x > .envrc; mkdir .idea; echo plain > plain
    rm .claude/settings.json; echo '{}' > .claude/settings.json; echo x > "$HOME/.claude/CLAUDE.md"`;
  const { planted, rules } = await inSandbox(scene, { scripts: asAgent([script]) });
  const inWork = (name: string): string => join(scene.work, name);
  const held = ['.claude/settings.json', '.envrc', '.idea'].map(inWork);
  expect(planted).toEqual([
    ...[join(scene.home, '.claude', 'CLAUDE.md'), ...held].sort(),
    scene.work,
    `${inWork('.git')} (HEAD missing)`,
    ...['deep/er/.git', 'empty/.git', 'ignored', 'link/.git', 'made/.git'].map(inWork),
    ...['src/nested/.git', 'store'].map(inWork),
    ...['.claude/hooks', '.mcp.json', '.vscode'].map((name) => inWork(`packages/x/${name}`)),
    `${inWork('closed')} (could not be searched)`,
  ]);
  expect(rules?.denyWrite.filter(({ value }) => value.includes('/logs/'))).toEqual([]);
});

test('what git alone has for a held place is told, whether in the index or in a commit', async () => {
  const scene = await sandboxScene();
  const plant = (name: string): string =>
    `git update-index --add --cacheinfo "100755,$(echo evil | git hash-object -w --stdin),${name}"`;
  const { ran, planted } = await inSandbox(scene, {
    scripts: asAgent([`${plant('.envrc')} && git commit -qm planted`, plant('.husky/pre-commit')]),
  });
  expect(ran.map(({ code }) => code)).toEqual([0, 0]);
  expect(planted).toEqual(
    ['.envrc (in a commit)', '.envrc (in the index)', '.husky/pre-commit (in the index)'].map(
      (name) => join(scene.work, name),
    ),
  );
});

test('a repository that the user lets the agent write is held and searched like its own', async () => {
  const scene = await sandboxScene();
  const lib = join(scene.base, 'neighbour');
  const { ran, planted } = await inSandbox(scene, {
    asked: { allowWrite: [{ value: '../neighbour', from: '--allow-write' }] },
    scripts: asAgent([
      'echo x >> ../neighbour/.git/config',
      'echo x > ../neighbour/.git/hooks/post-commit',
      'echo x > ../neighbour/.git/commondir',
      'echo x > ../neighbour/file; mkdir ../neighbour/.vscode; git init -q ../neighbour/deep/er',
      'ln -sf "$HOME/.bashrc" ../neighbour/.git/COMMIT_EDITMSG',
    ]),
  });
  expect(ran.map(({ code }) => code)).toEqual([2, 2, 2, 0, 0]);
  expect(planted).toEqual([
    join(lib, '.vscode'),
    `${lib}/.git/COMMIT_EDITMSG (a link to ${scene.home}/.bashrc; removed)`,
    join(lib, 'deep/er/.git'),
  ]);
});

test('a folder that can no longer be searched is told, and hides nothing elsewhere', async () => {
  const scene = await sandboxScene();
  const lib = join(scene.base, 'neighbour');
  const { planted } = await inSandbox(scene, {
    asked: { allowWrite: [{ value: '../neighbour', from: '--allow-write' }] },
    scripts: asAgent(['mkdir .idea; git init -q src/evil; chmod 0 ../neighbour']),
  });
  expect(planted).toEqual([
    join(scene.work, '.idea'),
    join(scene.work, 'src/evil/.git'),
    `${lib} (could not be searched)`,
  ]);
});

test('new links in folders of git are removed and told, and those of the start and of git itself stay', async () => {
  const scene = await sandboxScene();
  await outside(
    scene,
    'ln -s ORIG_HEAD .git/known; ln -s "$HOME/.gitconfig" .git/info/attributes; ln -s ../../src .git/hooks/x',
  );
  const { ran, planted, refusal } = await inSandbox(scene, {
    scripts: asAgent([
      'ln -s refs/heads/main .git/SAVED; mv .git/SAVED .git/worktrees/tree/HEAD; ln -s me@host.1 .git/.#MERGE_MSG',
      'rm -r .git/logs/refs; ln -s "$HOME" .git/logs/refs; ln -sf ../x .git/logs/HEAD; chmod 555 .git/logs',
    ]),
  });
  expect(refusal).toBeNull();
  expect(ran.map(({ code }) => code)).toEqual([0, 0]);
  expect([...planted].sort()).toEqual([
    `${scene.work}/.git/logs/HEAD (a link to ../x; removed)`,
    `${scene.work}/.git/logs/refs (a link to ${scene.home}; removed)`,
  ]);
  expect(await outside(scene, 'find .git -type l | sort')).toBe(
    `.git/.#MERGE_MSG
.git/hooks/x
.git/info/attributes
.git/known
.git/worktrees/tree/HEAD
`,
  );
});

test('what hooks lead to is held, and the hooks of a repository are those of its own top', async () => {
  const scene = await sandboxScene();
  await outside(
    scene,
    `mkdir scripts && echo true > scripts/pre-commit && ln -s ../../scripts/pre-commit .git/hooks/pre-commit
    ln -s /dev/null .git/hooks/pre-push
    git init -q nested && git -C nested config core.hooksPath .githooks && mkdir nested/.githooks`,
  );
  const { ran, planted } = await inSandbox(scene, {
    scripts: asAgent([
      'echo x > scripts/pre-commit',
      'mv scripts other',
      'echo x > nested/.githooks/pre-commit',
      'echo x > scripts/other; echo x > /dev/null',
    ]),
  });
  expect(ran.map(({ code }) => code)).toEqual([2, 1, 2, 0]);
  expect(planted).toEqual([]);
});

test('a folder of hooks that a fresh work tree does not have yet cannot be made', async () => {
  const scene = await sandboxScene();
  await outside(scene, 'git config core.hooksPath .githooks');
  const tree = join(scene.base, 'tree');
  const { ran } = await inSandbox(scene, {
    cwd: tree,
    scripts: asAgent([
      'mkdir -p .githooks; echo x > .githooks/pre-commit',
      'git commit --allow-empty -qm x',
    ]),
  });
  expect(ran.map(({ code }) => code)).toEqual([2, 0]);
  expect(readdirSync(tree)).not.toContain('.githooks');
});

test('nothing is put into repositories whose files the one around them tracks', async () => {
  const scene = await sandboxScene();
  await outside(
    scene,
    'git init -q --bare fixture.git && git init -q --bare own.git && git add fixture.git && git commit -qm fixture',
  );
  const { ran } = await inSandbox(scene, {
    scripts: asAgent([
      'ls own.git',
      'git add -A fixture.git && git status --porcelain fixture.git',
    ]),
  });
  expect(ran[0]?.stdout).toContain('commondir');
  expect(ran[1]).toMatchObject({ code: 0, stdout: '' });
});

test('what ralph itself tries at the start counts as no command', async () => {
  const scene = await sandboxScene();
  expect(await started(scene, driver(scene, { scripts: [] }))).toContain('{"met":null}');
});

test('sockets in the file system are allowed where the user says so, but not those of services', async () => {
  const scene = await sandboxScene();
  const talk = `perl -MIO::Socket::UNIX -e 'IO::Socket::UNIX->new(Listen => 1, Local => "$ENV{TMPDIR}/s") and print "listens"'`;
  const wish = { scripts: asAgent([talk, 'ls -A /run']) };
  const without = await inSandbox(scene, wish);
  const { ran } = await inSandbox(scene, { ...wish, asked: { unixSockets: true } });
  expect(without.ran.map(({ stdout }) => stdout)).toEqual(['', '']);
  expect(ran.map(({ stdout }) => stdout)).toEqual(['listens', '']);
});

test('where sockets are allowed, the temporary folders with those of other programs are hidden', async () => {
  const scene = await sandboxScene();
  const [folder, socket] = [`/tmp/tmux-${process.pid}`, `/tmp/socket-${process.pid}`];
  onTestFinished(async () => void (await outside(scene, `rm -r ${folder} ${socket}`)));
  const listen = (place: string): string =>
    `perl -MIO::Socket::UNIX -e 'IO::Socket::UNIX->new(Listen => 1, Local => "${place}") or die'`;
  await outside(
    scene,
    `mkdir -p ${folder} "$BASE/var"\n${[`${folder}/default`, socket].map(listen).join('; ')}`,
  );
  // Another run may have another temporary folder.
  const other = join('/var/tmp', `ralph-sandbox-${`${process.pid}`.padStart(6, '0')}`);
  const entry = join('/tmp', basename(other));
  onTestFinished(async () => void (await outside(scene, `rm -r ${other} ${entry}`)));
  await outside(
    scene,
    `mkdir -p ${other}/tmp ${other}/outside && ln -s ${other} ${entry}
    printf '%s' '${ownerText()}' > ${other}/outside/owner`,
  );
  const { ran, refusal } = await inSandbox(scene, {
    env: { TMPDIR: join(scene.base, 'var') },
    scripts: asAgent([
      `for each in ${folder} ${socket} ${other}/outside; do test -e "$each" || echo hidden; done`,
      'ls "$TMPDIR/.." && echo x > "$TMPDIR/x" && cat prompt.md',
    ]),
    asked: { unixSockets: true },
  });
  expect(refusal).toBeNull();
  expect(ran.map(({ stdout }) => stdout)).toEqual([
    'hidden\nhidden\nhidden\n',
    'outside\ntmp\nthe task\n',
  ]);
});

test('the deeper path wins between what may be read and what may not', async () => {
  const scene = await sandboxScene();
  await outside(
    scene,
    'mkdir -p "$HOME/shown/hidden" && echo A > "$HOME/shown/a" && echo B > "$HOME/shown/hidden/b"',
  );
  const by = (value: string) => ({ value, from: '--flag' });
  const { ran } = await inSandbox(scene, {
    scripts: asAgent([
      'cat "$HOME/.gitconfig"',
      'cat "$HOME/shown/a"',
      'cat "$HOME/shown/hidden/b"',
      'cat package.json',
      'cat "$HOME/.netrc"',
    ]),
    asked: {
      denyRead: [by('~'), by('~/shown/hidden')],
      allowRead: [by('~/shown'), by('~/.netrc')],
    },
  });
  const seen = ran.map(({ stdout }) => stdout);
  expect(seen).toEqual(['', 'A\n', '', '{"scripts":{"test":"true"}}\n', 'SECRET-NETRC\n']);
});

test('what other programs run by its name is told where it is born or changed, and some of it is held', async () => {
  const scene = await sandboxScene();
  await outside(
    scene,
    `mkdir -p pkg/.vscode .gemini .codex
    for each in pkg/.npmrc pkg/.vscode/tasks.json pkg/mise.toml .gemini/settings.json .codex/config.toml
    do echo before > $each; done
    mkdir large && head -c 2000000 /dev/zero > large/.npmrc && touch -d @1 large/.npmrc
    echo before > pkg/settings && ln -s pkg/settings .npmrc`,
  );
  const { ran, planted } = await inSandbox(scene, {
    scripts: asAgent([
      `for each in pkg/.npmrc pkg/.vscode/tasks.json pkg/mise.toml; do echo evil > $each; done
      echo before > pkg/mise.toml
      echo evil > pkg/settings
      head -c 1999999 /dev/zero > large/.npmrc; echo >> large/.npmrc; touch -d @1 large/.npmrc
      mkdir -p new/.devcontainer pkg/.cargo node_modules/p/.vscode
      touch new/.devcontainer/devcontainer.json app.code-workspace pkg/.cargo/config.toml
      touch pkg/.cargo/other node_modules/p/.vscode/tasks.json node_modules/.npmrc opencode.json`,
      'echo evil > .gemini/settings.json',
      'echo evil > .codex/config.toml',
    ]),
  });
  expect(ran.map(({ code }) => code)).toEqual([0, 2, 2]);
  expect(planted).toEqual(
    [
      ...[
        'opencode.json',
        '.npmrc (changed)',
        'app.code-workspace',
        'large/.npmrc (changed)',
        'new/.devcontainer',
        'pkg/.cargo/config.toml',
      ],
      ...['pkg/.npmrc (changed)', 'pkg/.vscode/tasks.json (changed)'],
    ].map((name) => join(scene.work, name)),
  );
});

test("what the helper stands on stays fixed, even where the temporary folder is the agent's", async () => {
  const scene = await sandboxScene();
  await outside(scene, 'mkdir t');
  const { ran, refusal } = await inSandbox(scene, {
    env: { TMPDIR: join(scene.work, 't') },
    scripts: asAgent([
      'cd "$TMPDIR/.." && ls -d "$PWD" outside/owner',
      'echo 1:1 > "$TMPDIR/../outside/owner"',
      'mv "$TMPDIR/../outside" "$TMPDIR/moved"',
      'chmod 700 "$TMPDIR/../outside/empty"',
    ]),
  });
  expect(refusal).toBeNull();
  expect(ran[0]?.stdout).toContain(`${scene.work}/t/ralph-sandbox-`);
  expect(ran.map(({ code }) => code)).toEqual([0, 2, 1, 1]);
  expect(await outside(scene, 'ls -A t')).toBe('');
});

test('a folder that the user names is made, and writable', async () => {
  const scene = await sandboxScene();
  const { ran } = await inSandbox(scene, {
    scripts: asAgent(['echo x > "$BASE/more/file"']),
    asked: { allowWrite: [{ value: '../more', from: '--allow-write' }] },
  });
  expect(ran[0]?.code).toBe(0);
  expect(await outside(scene, 'cat "$BASE/more/file"')).toBe('x\n');
});

test('what a person has trusted stays as it is, even in a folder that the user names', async () => {
  const scene = await sandboxScene();
  const { ran } = await inSandbox(scene, {
    scripts: asAgent([
      'cd ~/.config && echo x > file && ! mkdir -p ralph/trusted/x && ! mv ralph r',
    ]),
    asked: { allowWrite: [{ value: '~/.config', from: '--allow-write' }] },
  });
  expect(ran[0]?.code).toBe(0);
  expect(await outside(scene, 'ls ~/.config/ralph')).toBe('');
});

test('a link in the place of what is allowed allows nothing more, and that is told once', async () => {
  const scene = await sandboxScene();
  const { ran, warnings } = await inSandbox(scene, {
    scripts: asAgent([
      'ln -s "$HOME/.npmrc" .npmrc',
      'mv pkg old && mkdir -p pkg/app && ln -s "$HOME" pkg/app/dist',
      'cat "$HOME/.npmrc"; touch "$HOME/escaped"',
      'rm .npmrc pkg/app/dist && mkdir pkg/app/dist && echo ours | tee .npmrc pkg/app/dist/file',
    ]),
    asked: {
      allowRead: [{ value: '.npmrc', from: '--allow-read' }],
      allowWrite: [{ value: 'pkg/app/dist', from: '--allow-write' }],
    },
  });
  expect(ran.map(({ code, stdout }) => [code, stdout])).toEqual([
    [0, ''],
    [0, ''],
    [1, ''],
    [0, 'ours\n'],
  ]);
  expect(await outside(scene, 'ls "$HOME"')).not.toContain('escaped');
  expect(warnings).toEqual([
    `${scene.work}/.npmrc now leads to ${scene.home}/.npmrc, so the sandbox no longer allows it.`,
    `${scene.work}/pkg/app/dist now leads to ${scene.home}, so the sandbox no longer allows it.`,
  ]);
});

function asAgent(scripts: readonly string[]) {
  return scripts.map((script) => ({ script, as: 'agent' }) as const);
}

function namesOf({ work }: SandboxScene) {
  const names = (...parts: readonly string[]): readonly string[] =>
    readdirSync(join(work, ...parts)).sort();
  return { work: names(), git: names('.git'), modules: names('.git', 'modules', 'sub') };
}

test('a run with more protected files than a line has room for starts, and holds them', async () => {
  const scene = await sandboxScene();
  const folder = `tests/${'a-long-name'.repeat(20)}`;
  await outside(
    scene,
    `mkdir -p ${folder}; for i in $(seq 500); do echo > ${folder}/file-$i; done`,
  );
  const script = `echo x >> ${folder}/file-500 || echo "<promise>TASK_COMPLETE</promise>"`;
  const end = await runInSandbox(scene, script, ['--protect', 'tests/**']);
  expect(end).toMatchObject({ exitCode: 0 });
});

test("git's settings hold with the files that they include, also those that are missing", async () => {
  const scene = await sandboxScene();
  await outside(
    scene,
    `echo '[alias] x = y' > .gitshared; git config include.path ../.gitshared
    git config includeIf.onbranch:topic.path ../.gittopic; git config --global include.path "$WORK/.gitown"`,
  );
  const { ran, planted } = await inSandbox(scene, {
    scripts: asAgent(['echo x > .gitshared', 'echo "[a]" > .gittopic; echo "[a]" > .gitown']),
  });
  expect(ran.map(({ code }) => code)).toEqual([2, 0]);
  expect(planted).toEqual(['.gitown', '.gittopic'].map((name) => join(scene.work, name)));
});

test('a file behind a link that was replaced is told, and one that a program outside replaced', async () => {
  const scene = await sandboxScene();
  await outside(scene, 'mv .claude ai && ln -s ai .claude && mkdir texts && ln -s texts words');
  await outside(scene, 'mv prompt.md texts');
  const replace = (name: string) =>
    `rm ${name} && mkdir ${name} && echo x | tee ${name}/settings.json > ${name}/prompt.md`;
  const signal = `touch ready; ${until('go')}; echo '[a] b = c' >> .git/config`;
  const driven = inSandbox(scene, {
    fixed: [join(scene.work, 'words', 'prompt.md')],
    scripts: asAgent([`${replace('.claude')} && ${replace('words')} && ${signal}`]),
  });
  await outside(scene, `${until('ready')}; git config c.d e; touch go`);
  expect((await driven).planted).toEqual(
    ['.claude/settings.json', '.git/config', 'words/prompt.md'].map((name) =>
      join(scene.work, name),
    ),
  );
});

test('what a run relies on stays while it works, although another one has another temporary folder', async () => {
  const scene = await sandboxScene();
  await outside(scene, 'mkdir "$BASE/tmp1" "$BASE/tmp2"');
  const inTmp = (name: string) => ({ TMPDIR: join(scene.base, name) });
  const waiting = `touch ready; ${until('go')}; ls .git/commondir && echo x > .git/commondir`;
  const one = inSandbox(scene, { env: inTmp('tmp1'), scripts: asAgent([waiting]) });
  await outside(scene, until('ready'));
  await inSandbox(scene, { env: inTmp('tmp2'), scripts: asAgent(['true']) });
  await outside(scene, 'touch go');
  expect((await one).ran).toMatchObject([{ code: 2, stdout: '.git/commondir\n' }]);
  expect(await outside(scene, 'ls -A "$BASE/tmp1" "$BASE/tmp2"; ls .git')).not.toMatch(
    /ralph-sandbox|commondir/,
  );
});

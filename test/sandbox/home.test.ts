import { expect, test } from 'vitest';
import { inSandbox, outside, type SandboxScene, sandboxScene } from '../helpers/sandbox-scene.ts';

const by = (value: string) => ({ value, from: '--flag' });
const asAgent = (...scripts: readonly string[]) =>
  scripts.map((script) => ({ script, as: 'agent' }) as const);

/** Prints the files of the home that can be read, a line each. */
const readable = (...files: readonly string[]): string =>
  `cd "$HOME"; for each in ${files.join(' ')}; do test -s $each && echo $each; done; true`;

/** A home with secrets that no list knows, and with what programs need. */
async function furnished(): Promise<SandboxScene> {
  const scene = await sandboxScene();
  await outside(
    scene,
    `cd "$HOME"
    mkdir -p .npm-global/etc .config/signal .config/git .local/share/mkcert .cargo/bin .dots snap/app data .tool/bin
    echo 'export STOLEN=yes' > .bashrc
    for each in .config/signal/key .local/share/mkcert/key .pip.conf snap/app/key \\
      .cargo/credentials.toml .npm-global/etc/npmrc .dots/key; do echo SECRET > $each; done
    echo kept > data/file
    echo '*.mine' > .dots/ignore
    printf '#!/bin/sh\\necho ran\\n' > .local/bin/tool
    cp .local/bin/tool .cargo/bin/cargo
    cp .local/bin/tool .tool/bin/own-tool
    mkdir -p .local/share/pypoetry/venv/bin .config/nvm/v1/bin .config/nvm/v1/lib
    cp .local/bin/tool .local/share/pypoetry/venv/bin/poetry
    cp .local/bin/tool .config/nvm/v1/lib/npm
    chmod +x .local/share/pypoetry/venv/bin/poetry .config/nvm/v1/lib/npm
    ln -s ../share/pypoetry/venv/bin/poetry .local/bin/poetry
    ln -s ../lib/npm .config/nvm/v1/bin/npm
    chmod +x .local/bin/tool .cargo/bin/cargo .tool/bin/own-tool
    git config --global core.excludesFile '~/.dots/ignore'
    git config --file .config/git/more alias.hello '!echo hello'
    git config --global include.path .config/git/more`,
  );
  return { ...scene, env: { ...scene.env, PATH: `${scene.home}/.tool/bin:${scene.env.PATH}` } };
}

test('of the home a program sees no entry with a dot but those it needs', async () => {
  const scene = await furnished();
  const { ran } = await inSandbox(scene, {
    scripts: asAgent(
      readable(
        ...['.config/signal/key', '.local/share/mkcert/key', '.pip.conf', 'snap/app/key'],
        ...[
          '.cargo/credentials.toml',
          '.npm-global/etc/npmrc',
          '.dots/key',
          '.bashrc',
          'data/file',
          '.gitconfig',
        ],
      ),
      '"$HOME/.local/bin/tool"; "$HOME/.cargo/bin/cargo"; own-tool',
      '"$HOME/.local/bin/poetry"; "$HOME/.config/nvm/v1/bin/npm"',
      'touch x.mine; git status --porcelain; git hello',
      'bash -c \'. "$HOME/.bashrc"; echo $STOLEN\'',
      'cat "$HOME/.claude.json" "$HOME/.claude/.credentials.json"; true',
    ),
  });
  expect(ran.map(({ stdout }) => stdout)).toEqual([
    'data/file\n.gitconfig\n',
    'ran\nran\nran\n',
    'ran\nran\n',
    'hello\n',
    '\n',
    'SECRET-LOGIN\n',
  ]);
});

test('a check reads neither the login of the agent nor what is hidden from it', async () => {
  const scene = await furnished();
  await outside(scene, 'echo LOGIN > "$HOME/.claude.json"');
  const script = readable('.claude.json', '.pip.conf', '.gitconfig', 'data/file');
  const { ran } = await inSandbox(scene, {
    scripts: (['agent', 'check'] as const).map((as) => ({ script, as })),
  });
  expect(ran.map(({ stdout }) => stdout)).toEqual([
    '.claude.json\n.gitconfig\ndata/file\n',
    '.gitconfig\ndata/file\n',
  ]);
});

test('a named entry is shown, one below what is shown can be hidden, and the home shows all', async () => {
  const scene = await furnished();
  const script = readable('.config/signal/key', '.pip.conf', '.cargo/bin/cargo', '.netrc');
  const seen = async (asked: object): Promise<string | undefined> =>
    (await inSandbox(scene, { scripts: asAgent(script), asked })).ran[0]?.stdout;
  expect(await seen({ allowRead: [by('~/.config/signal')], denyRead: [by('~/.cargo/bin')] })).toBe(
    '.config/signal/key\n',
  );
  expect(await seen({ allowRead: [by('~')] })).toBe(
    '.config/signal/key\n.pip.conf\n.cargo/bin/cargo\n',
  );
});

test('no link that an agent of an earlier run may have made shows an entry of the home', async () => {
  const scene = await furnished();
  await outside(
    scene,
    `mkdir -p "$HOME/.db/part" node_modules && echo SECRET > "$HOME/.db/part/key"
    ln -s "$HOME/.db/part" node_modules/.bin
    ln -s "$HOME/.db/part/key" ignored
    ln -s "$HOME/.db/part/key" guarded/link
    git config --global core.excludesFile "$PWD/ignored"`,
  );
  const at = (name: string): string => `${scene.work}/${name}`;
  const seen = async (PATH: string, fixed: readonly string[]): Promise<string | undefined> => {
    const scripts = asAgent(readable('.db/part/key'));
    const { ran } = await inSandbox(scene, { scripts, fixed, env: { PATH } });
    return ran[0]?.stdout;
  };
  const { PATH = '' } = scene.env;
  expect(await seen(PATH, [])).toBe('');
  expect(await seen(`${at('node_modules/.bin')}:${PATH}`, [])).toBe('');
  expect(await seen(PATH, [at('guarded/link')])).toBe('');
  expect(await seen(`${scene.home}/.db/part:${PATH}`, [])).toBe('.db/part/key\n');
});

test('nor does one in dot files on which the agent works', async () => {
  const scene = await furnished();
  const work = `${scene.home}/dots`;
  await outside(
    scene,
    `mkdir -p "$HOME/.db/part" ${work}/git && git init -q ${work} && echo SECRET > "$HOME/.db/part/key"
    rm -r "$HOME/.config/git" && ln -s ../dots/git "$HOME/.config/git"`,
  );
  const look = readable('.db/part/key');
  const seen = async (...scripts: readonly string[]): Promise<readonly string[]> =>
    (await inSandbox(scene, { cwd: work, scripts: asAgent(...scripts) })).ran.map(
      ({ stdout }) => stdout,
    );
  expect(await seen('rmdir git && ln -s ../.db git', look)).toEqual(['', '']);
  expect(await seen(look)).toEqual(['']);
});

test('a home that cannot be listed is hidden, and an entry that cannot be is named', async () => {
  const scene = await furnished();
  await outside(scene, 'cd "$HOME" && mkdir "$(printf \'.odd\\377\')" && chmod 300 .');
  const { ran } = await inSandbox(scene, { scripts: asAgent(readable('.pip.conf', '.gitconfig')) });
  expect(ran[0]?.stdout).toBe('.gitconfig\n');
  await outside(scene, 'chmod 700 "$HOME"');
  const { warnings } = await inSandbox(scene, { scripts: asAgent('true') });
  expect(warnings).toEqual([expect.stringContaining('since its name is no UTF-8')]);
});

test.for([
  ['below a hidden entry', '.dots/projects', {}],
  ['in a home that is hidden', 'projects', { denyRead: [by('~')], allowRead: [by('~/projects')] }],
] as const)('the agent works in a repository %s', async ([, place, asked]) => {
  const scene = await furnished();
  const work = `${scene.home}/${place}/work/part`;
  await outside(
    scene,
    `mkdir -p "${work}" && cd "${work}/.." && git init -q && echo root > top && echo more > ../beside`,
  );
  const { ran, refusal } = await inSandbox(scene, {
    cwd: work,
    asked,
    scripts: asAgent(
      'echo x > new && git add new && git -c user.name=n -c user.email=e commit -qm new && cat ../top',
      'echo x > ../../beside; true',
      'test -s "$HOME/.pip.conf" || echo hidden',
    ),
  });
  expect(refusal).toBeNull();
  expect(ran.map(({ code, stdout }) => [code, stdout])).toEqual([
    ...[
      [0, 'root\n'],
      [0, ''],
      [0, 'hidden\n'],
    ],
  ]);
  expect(await outside({ ...scene, work }, `cat "${work}/../../beside"`)).toBe('more\n');
});

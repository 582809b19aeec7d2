import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync, utimesSync } from 'node:fs';
import { chmod, mkdir, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  callGit,
  type GitCommand,
  outputOrNull,
} from '../../../src/effects/git/call/git-command.ts';
import { createGitProgress } from '../../../src/effects/snapshots/keeper/tree-progress.ts';
import type { GitProgressRequest } from '../../../src/effects/workspace/git-progress.ts';
import { PATIENCE_MS } from '../../helpers/patience.ts';
import { isDead, untilDead } from '../../helpers/processes.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const runGit = async (command: GitCommand) => outputOrNull(await callGit(command));

/** What ralph's looks at a repository may run, held against a real git. */

const NOTHING = { commits: 0, filesChanged: 0 };
const RUN_ID = 'run-of-this-test';

/** A repository with one commit of `a.txt`, and programs that leave a trace where they are run. */
async function stage() {
  const root = await tempFolder();
  const [folder, home, bin] = [join(root, 'work'), join(root, 'home'), join(root, 'bin')];
  for (const each of [folder, home, bin]) await mkdir(each);
  const trace = join(root, 'trace');
  const pids = join(root, 'pids');
  let touches = 0;
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_AUTHOR_NAME: 'a',
    GIT_AUTHOR_EMAIL: 'a@example.com',
    GIT_COMMITTER_NAME: 'a',
    GIT_COMMITTER_EMAIL: 'a@example.com',
  };
  const gitIn =
    (cwd: string) =>
    (...args: string[]): string =>
      execFileSync('git', ['-c', 'init.defaultBranch=main', ...args], {
        cwd,
        env,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'pipe'],
      }).trim();
  const git = gitIn(folder);
  git('init');
  await writeFile(join(folder, 'a.txt'), 'a');
  git('add', '--all');
  git('commit', '-m', 'first');

  const program = async (name: string, script: string): Promise<string> => {
    const file = join(bin, name);
    await writeFile(file, `#!/bin/sh\n${script}\n`);
    await chmod(file, 0o755);
    return file;
  };
  const started = (): readonly number[] =>
    existsSync(pids) ? readFileSync(pids, 'utf8').split('\n').filter(Boolean).map(Number) : [];
  onTestFinished(() => {
    for (const pid of started()) if (!isDead(pid)) process.kill(pid, 'SIGKILL');
  });
  return {
    root,
    folder,
    home,
    env,
    git,
    gitIn,
    program,
    /** Each line one start of a program. */
    traces: (): readonly string[] =>
      existsSync(trace) ? readFileSync(trace, 'utf8').split('\n').filter(Boolean) : [],
    started,
    /** Leaves a trace, and a process in a session of its own; changes nothing. */
    driver: await program(
      'driver',
      `echo "$0 $RALPH_RUN_ID" >> "${trace}"; setsid sleep 300 >/dev/null 2>&1 & echo $! >> "${pids}"; cat`,
    ),
    trace,
    pids,
    /** Git must ask the filters of every file: their times have changed. */
    touch(where = folder) {
      touches += 1;
      utimesSync(join(where, 'a.txt'), touches, touches);
    },
    watch: (more: Partial<GitProgressRequest> = {}) =>
      createGitProgress({ cwd: folder, excluded: [], env, runId: RUN_ID, ...more }),
  };
}

type Scene = Awaited<ReturnType<typeof stage>>;

const attributes = (scene: Scene, filter: string): Promise<void> =>
  writeFile(join(scene.folder, '.git/info/attributes'), `*.txt filter=${filter}\n`);

/** Looks twice, as in an iteration, and tells what was found. */
async function look(scene: Scene, more: Partial<GitProgressRequest> = {}) {
  scene.touch(more.cwd);
  const { mark, since } = scene.watch(more);
  const head = await mark();
  scene.touch(more.cwd);
  return { head, change: await since() };
}

describe('a filter of the repository is not run', () => {
  test.for<[string, (scene: Scene) => unknown]>([
    ['clean', ({ git, driver }) => git('config', 'filter.p.clean', driver)],
    ['process', ({ git, driver }) => git('config', 'filter.p.process', driver)],
    [
      'clean, and required',
      ({ git, driver }) => {
        git('config', 'filter.p.clean', driver);
        git('config', 'filter.p.required', 'true');
      },
    ],
    [
      'clean, and required without a value',
      ({ folder, driver }) =>
        appendFileSync(
          join(folder, '.git/config'),
          `[FILTER "p"]\n\tCLEAN = ${driver}\n\trequired\n`,
        ),
    ],
    [
      'in an included file',
      async ({ folder, git, driver }) => {
        await writeFile(join(folder, '.git/more'), `[filter "p"]\n\tclean = ${driver}\n`);
        git('config', 'include.path', 'more');
      },
    ],
    [
      'in a file that is included for this folder',
      async ({ folder, git, driver }) => {
        await writeFile(join(folder, '.git/more'), `[filter "p"]\n\tclean = ${driver}\n`);
        git('config', `includeIf.gitdir:${folder}/.path`, 'more');
      },
    ],
    [
      'in config.worktree',
      ({ git, driver }) => {
        git('config', 'extensions.worktreeConfig', 'true');
        git('config', '--worktree', 'filter.p.clean', driver);
      },
    ],
    [
      'in a configuration that is larger than what is looked through',
      ({ folder, git, driver }) => {
        appendFileSync(join(folder, '.git/config'), '# much\n'.repeat(20_000));
        git('config', 'filter.p.clean', driver);
      },
    ],
    [
      'in a .git that is a link',
      async ({ root, folder, git, driver }) => {
        git('config', 'filter.p.clean', driver);
        await rename(join(folder, '.git'), join(root, 'elsewhere'));
        await symlink(join(root, 'elsewhere'), join(folder, '.git'));
      },
    ],
    [
      'in a .git that is a file',
      async ({ root, folder, git, driver }) => {
        git('config', 'filter.p.clean', driver);
        await rename(join(folder, '.git'), join(root, 'elsewhere'));
        await writeFile(join(folder, '.git'), `gitdir: ${join(root, 'elsewhere')}\n`);
      },
    ],
    [
      'in a .git that is a file, by a way that only the system resolves',
      async ({ root, folder, git, driver }) => {
        // Read as text, the way leads to a folder of git without filters.
        git('clone', '--bare', '-q', '.', join(root, 'elsewhere'));
        git('config', 'filter.p.clean', driver);
        await mkdir(join(root, 'other/below'), { recursive: true });
        await symlink(join(root, 'other/below'), join(root, 'link'));
        await rename(join(folder, '.git'), join(root, 'other/elsewhere'));
        await writeFile(join(folder, '.git'), 'gitdir: ../link/../elsewhere\n');
      },
    ],
    [
      'in a .git that is a file, in a folder with a line break in its name',
      async ({ root, folder, git, driver }) => {
        git('clone', '--bare', '-q', '.', join(root, 'elsewhere'));
        git('config', 'filter.p.clean', driver);
        await rename(join(folder, '.git'), join(root, 'elsewhere\n.git'));
        await writeFile(join(folder, '.git'), 'gitdir: ../elsewhere\n.git\n');
      },
    ],
    [
      'in the folder that .git shares with others',
      async ({ root, folder, git, driver }) => {
        git('config', 'filter.p.clean', driver);
        await rename(join(folder, '.git/config'), join(root, 'config'));
        for (const name of ['objects', 'refs']) {
          await rename(join(folder, '.git', name), join(root, name));
        }
        await mkdir(join(root, 'info'));
        await writeFile(join(root, 'info/attributes'), '*.txt filter=p\n');
        await writeFile(join(folder, '.git/commondir'), root);
      },
    ],
  ])('%s', async ([, set]) => {
    const scene = await stage();
    await attributes(scene, 'p');
    await set(scene);
    // The scene is what it claims to be.
    scene.touch();
    expect(scene.git('status', '--porcelain')).not.toBeNull();
    const before = scene.traces().length;
    expect(before).toBeGreaterThan(0);
    const started = scene.started();
    expect(await look(scene)).toMatchObject({
      change: NOTHING,
      head: scene.git('rev-parse', 'HEAD'),
    });
    expect(scene.traces().length).toBe(before);
    // Nor is anything left of one: it would have a session of its own, where nothing ends it.
    expect(scene.started()).toEqual(started);
  });

  test.for(['a=b', 'ÄÖ', 'p.clean', 'a"b', "a'b$(c)"])(
    'whatever it is called: %s',
    async (name) => {
      const scene = await stage();
      await attributes(scene, name);
      scene.git('config', `filter.${name}.clean`, scene.driver);
      expect((await look(scene)).change).toEqual(NOTHING);
      expect(scene.traces()).toEqual([]);
      scene.git('status');
      expect(scene.traces()).not.toEqual([]);
    },
  );

  test('though its name is no text: then nothing is looked at', async () => {
    const scene = await stage();
    const name = Buffer.from([0x70, 0xff]);
    const written = (before: string, after: string): Buffer =>
      Buffer.concat([Buffer.from(before), name, Buffer.from(after)]);
    await writeFile(join(scene.folder, '.git/info/attributes'), written('*.txt filter=', '\n'));
    const config = written('[filter "', `"]\n\tclean = ${scene.driver}\n`);
    appendFileSync(join(scene.folder, '.git/config'), config);
    expect(await look(scene)).toEqual({ head: null, change: null });
    expect(scene.traces()).toEqual([]);
    scene.git('status');
    expect(scene.traces()).not.toEqual([]);
  });

  test('by way of the attributes in the tree', async () => {
    const scene = await stage();
    await writeFile(join(scene.folder, '.gitattributes'), '* filter=p\n');
    scene.git('config', 'filter.p.clean', scene.driver);
    expect((await look(scene)).change).toEqual(NOTHING);
    expect(scene.traces()).toEqual([]);
  });

  test('in a repository above one that is none', async () => {
    const scene = await stage();
    await attributes(scene, 'p');
    scene.git('config', 'filter.p.clean', scene.driver);
    const inner = join(scene.folder, 'inner');
    await mkdir(join(inner, '.git'), { recursive: true });
    await writeFile(join(inner, 'a.txt'), 'a');
    expect((await look(scene, { cwd: inner })).change).toEqual(NOTHING);
    expect(scene.traces()).toEqual([]);
  });

  test('in a repository above one that has ceased to be one', async () => {
    const scene = await stage();
    await attributes(scene, 'p');
    scene.git('config', 'filter.p.clean', scene.driver);
    const inner = join(scene.folder, 'inner');
    await mkdir(inner);
    scene.gitIn(inner)('init');
    const { mark, since } = scene.watch({ cwd: inner });
    await mark();
    await rename(join(inner, '.git/HEAD'), join(inner, '.git/HEAD.away'));
    scene.touch();
    await since();
    expect(scene.traces()).toEqual([]);
  });

  test('in a folder that looks like a repository without a .git', async () => {
    const scene = await stage();
    const inner = join(scene.folder, 'inner');
    await mkdir(inner);
    await writeFile(join(inner, 'a.txt'), 'a');
    const git = scene.gitIn(inner);
    git('init');
    git('add', 'a.txt');
    git('commit', '-m', 'first');
    git('config', 'core.worktree', inner);
    git('config', 'core.bare', 'false');
    git('config', 'filter.p.clean', scene.driver);
    await writeFile(join(inner, '.git/info/attributes'), '*.txt filter=p\n');
    for (const name of ['HEAD', 'config', 'index', 'info', 'objects', 'refs']) {
      await rename(join(inner, '.git', name), join(inner, name));
    }
    await rename(join(inner, '.git'), join(scene.root, 'away'));
    scene.touch(inner);
    git('status');
    const before = scene.traces();
    expect(before).not.toEqual([]);
    await look(scene, { cwd: inner });
    expect(scene.traces()).toEqual(before);
  });

  test('in a linked work tree, of a bare repository too', async () => {
    const scene = await stage();
    const bare = join(scene.root, 'bare');
    scene.git('clone', '--bare', scene.folder, bare);
    const linked = join(scene.root, 'linked');
    scene.gitIn(bare)('worktree', 'add', linked, 'main');
    scene.gitIn(bare)('config', 'filter.p.clean', scene.driver);
    await writeFile(join(bare, 'info/attributes'), '*.txt filter=p\n');
    expect(await look(scene, { cwd: linked })).toMatchObject({ change: NOTHING });
    expect(scene.traces()).toEqual([]);
    await writeFile(join(linked, 'new.txt'), 'n');
    const { mark, since } = scene.watch({ cwd: linked });
    await mark();
    await writeFile(join(linked, 'new.txt'), 'm');
    expect(await since()).toMatchObject({ commits: 0, filesChanged: 1 });
  });
});

describe('a filter of the user’s', () => {
  test.for<[string, (scene: Scene) => Partial<GitProgressRequest>]>([
    [
      'in his configuration',
      ({ git, driver }) => {
        git('config', '--global', 'filter.mine.clean', driver);
        return {};
      },
    ],
    [
      'in his variables',
      ({ env, driver }) => ({
        env: {
          ...env,
          GIT_CONFIG_COUNT: '1',
          GIT_CONFIG_KEY_0: 'filter.mine.clean',
          GIT_CONFIG_VALUE_0: driver,
        },
      }),
    ],
  ])('%s is run, also where the repository has one of that name', async ([, set]) => {
    const scene = await stage();
    await attributes(scene, 'mine');
    const more = set(scene);
    expect((await look(scene, more)).change).toEqual(NOTHING);
    const first = scene.traces();
    expect(first).not.toEqual([]);
    // What it leaves running is known as the run's.
    expect(first).toEqual(first.map(() => `${scene.driver} ${RUN_ID}`));
    const other = await scene.program('other', `echo other >> "${scene.trace}"; cat`);
    scene.git('config', 'filter.mine.clean', other);
    scene.git('config', 'filter.mine.required', 'true');
    await look(scene, more);
    expect(scene.traces().length).toBeGreaterThan(first.length);
    expect(scene.traces()).not.toContain('other');
  });

  test('leaves nothing in the group of git', async () => {
    const scene = await stage();
    await attributes(scene, 'mine');
    const driver = await scene.program(
      'leaves',
      `sleep 300 >/dev/null 2>&1 & echo $! >> "${scene.pids}"; cat`,
    );
    scene.git('config', '--global', 'filter.mine.clean', driver);
    await look(scene);
    expect(scene.started()).not.toEqual([]);
    for (const pid of scene.started()) await untilDead(pid);
  });
});

/** A git that counts its starts. */
async function counting(scene: Scene) {
  const bin = join(scene.root, 'counting');
  await mkdir(bin);
  const calls = join(scene.root, 'calls');
  await writeFile(
    join(bin, 'git'),
    `#!/bin/sh\necho call >> "${calls}"\nPATH="${scene.env.PATH}" exec git "$@"\n`,
  );
  await chmod(join(bin, 'git'), 0o755);
  const env = { ...scene.env, PATH: `${bin}:${scene.env.PATH}` };
  const count = (): number =>
    existsSync(calls) ? readFileSync(calls, 'utf8').split('call').length - 1 : 0;
  return { env, count };
}

describe('git', () => {
  const AS_SOMEBODY = ['-c', 'user.name=a', '-c', 'user.email=a@example.com'];
  const ask = (scene: Scene, args: readonly string[], env = scene.env) =>
    runGit({ args, cwd: scene.folder, env, timeoutMs: PATIENCE_MS });

  test('runs no hook, though it writes the index', async () => {
    const scene = await stage();
    for (const name of ['post-index-change', 'pre-commit', 'post-commit']) {
      await symlink(scene.driver, join(scene.folder, '.git/hooks', name));
    }
    const more = join(scene.root, 'hooks');
    await mkdir(more);
    await symlink(scene.driver, join(more, 'post-index-change'));
    for (const hooksPath of [null, more]) {
      if (hooksPath !== null) scene.git('config', 'core.hooksPath', hooksPath);
      scene.touch();
      expect(await ask(scene, ['update-index', '--refresh'])).not.toBeNull();
      expect(
        await ask(scene, [...AS_SOMEBODY, 'commit', '--allow-empty', '-m', 'x']),
      ).not.toBeNull();
      expect(scene.traces()).toEqual([]);
      expect((await look(scene)).change).toEqual(NOTHING);
      expect(scene.traces()).toEqual([]);
    }
  });

  test('asks no program what has changed, and none for a difference', async () => {
    const scene = await stage();
    const { driver, git } = scene;
    for (const name of ['core.fsmonitor', 'diff.external', 'diff.p.command', 'diff.p.textconv']) {
      git('config', name, driver);
    }
    await writeFile(join(scene.folder, '.git/info/attributes'), '*.txt diff=p\n');
    const { mark, since } = scene.watch();
    await mark();
    await writeFile(join(scene.folder, 'a.txt'), 'b');
    await ask(scene, [...AS_SOMEBODY, 'commit', '-am', 'second']);
    expect(await since()).toMatchObject({ commits: 1, filesChanged: 1 });
    expect(scene.traces()).toEqual([]);
  });

  test('fetches nothing that is missing, where it knows no other way to be told so', async () => {
    const scene = await stage();
    const { driver, git } = scene;
    git('config', 'core.repositoryFormatVersion', '1');
    git('config', 'extensions.partialClone', 'origin');
    git('config', 'remote.origin.url', `ext::${driver}`);
    git('config', 'remote.origin.promisor', 'true');
    git('config', 'protocol.ext.allow', 'always');
    const tree = git('rev-parse', 'HEAD^{tree}');
    await rename(
      join(scene.folder, '.git/objects', tree.slice(0, 2), tree.slice(2)),
      join(scene.root, 'away'),
    );
    // An older git, which does not know GIT_NO_LAZY_FETCH.
    const bin = join(scene.root, 'older');
    await mkdir(bin);
    await writeFile(
      join(bin, 'git'),
      `#!/bin/sh\nunset GIT_NO_LAZY_FETCH\nPATH="${scene.env.PATH}" exec git "$@"\n`,
    );
    await chmod(join(bin, 'git'), 0o755);
    const env = { ...scene.env, PATH: `${bin}:${scene.env.PATH}` };
    await look(scene, { env });
    await ask(scene, ['ls-tree', 'HEAD'], env);
    expect(scene.traces()).toEqual([]);
  });

  test('is started once for a look, and once more only where HEAD moved or there may be filters', async () => {
    const scene = await stage();
    const { env, count } = await counting(scene);
    const { mark, since } = scene.watch({ env });
    await mark();
    // Where the tree begins, once for all.
    expect(count()).toBe(1 + 2);
    await since();
    expect(count()).toBe(1 + 2 + 1);
    scene.git('config', 'filter.p.clean', 'cat');
    await since();
    expect(count()).toBe(1 + 2 + 1 + 2);
  });

  test('is started twice for a look at a linked work tree, too', async () => {
    const scene = await stage();
    const linked = join(scene.root, 'linked');
    scene.git('worktree', 'add', '-q', linked);
    const { env, count } = await counting(scene);
    const { mark } = scene.watch({ cwd: linked, env });
    await mark();
    expect(count()).toBe(1 + 2);
  });

  test('that takes no settings from variables looks at no repository that may have filters', async () => {
    const scene = await stage();
    await attributes(scene, 'p');
    const bin = join(scene.root, 'older');
    await mkdir(bin);
    await writeFile(
      join(bin, 'git'),
      `#!/bin/sh\nunset GIT_CONFIG_COUNT\nPATH="${scene.env.PATH}" exec git "$@"\n`,
    );
    await chmod(join(bin, 'git'), 0o755);
    const env = { ...scene.env, PATH: `${bin}:${scene.env.PATH}` };
    expect((await look(scene, { env })).change).toEqual(NOTHING);
    scene.git('config', 'filter.p.clean', scene.driver);
    expect(await look(scene, { env })).toEqual({ head: null, change: null });
    expect(scene.traces()).toEqual([]);
  });
});

import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ran } from '../helpers/past-task.ts';
import type { Scene } from '../helpers/scene.ts';
import { tempFolder } from '../helpers/temp-folder.ts';

// What an undo never does: destroy something, or run a program that the repository names.

const undo = (scene: Scene, ...args: readonly string[]) =>
  scene.ralph(['undo', 't', '--yes', ...args]);

describe('an undo leaves alone', () => {
  test('an edit of a person since, which is named', async () => {
    const { scene } = await ran({
      files: { a: '0\n', b: '0\n' },
      shells: ['echo 1 > a; echo 1 > b'],
    });
    writeFileSync(join(scene.folder, 'a'), 'mine\n');
    const { exitCode, stdout } = await undo(scene);
    expect(stdout).toContain('1 path stays, since somebody else changed it:\n  = a\n');
    expect(exitCode).toBe(1);
    expect([scene.read('a'), scene.read('b')]).toEqual(['mine\n', '0\n']);
  });

  test.for([{ force: [] }, { force: ['--force'] }])(
    'what is in no snapshot and stands in the way, with $force',
    async ({ force }) => {
      const { scene, git } = await ran({
        files: { ignored: '0\n', folder: '0\n', large: '0\n', fine: '0\n' },
        shells: ['rm ignored folder large fine; mkdir folder; echo i > folder/x.log'],
        args: ['--snapshot-limit', '1KB'],
      });
      writeFileSync(join(scene.folder, '.git/info/exclude'), 'ignored\n');
      git('rm', '-q', '--cached', 'ignored', 'large');
      writeFileSync(join(scene.folder, 'ignored'), 'precious\n');
      writeFileSync(join(scene.folder, 'large'), 'l'.repeat(5_000));
      const { exitCode, stderr } = await undo(scene, ...force);
      for (const name of ['ignored', 'folder', 'large']) {
        expect(stderr).toContain(`not brought back: ${name} (something that is in no snapshot`);
      }
      expect(exitCode).toBe(1);
      expect(scene.read('ignored')).toBe('precious\n');
      expect(scene.read('folder/x.log')).toBe('i\n');
      expect(scene.read('large')).toHaveLength(5_000);
      expect(scene.read('fine')).toBe('0\n');
    },
  );

  test('the target of a link that took the place of a folder', async () => {
    const elsewhere = await tempFolder();
    writeFileSync(join(elsewhere, 'a'), 'theirs\n');
    const { scene } = await ran({
      files: { 'd/a': '0\n' },
      shells: [`rm -r d; ln -s '${elsewhere}' d; echo agent > d/a`],
    });
    expect(await undo(scene)).toMatchObject({ exitCode: 0 });
    expect(lstatSync(join(scene.folder, 'd')).isDirectory()).toBe(true);
    expect(scene.read('d/a')).toBe('0\n');
    expect(readFileSync(join(elsewhere, 'a'), 'utf8')).toBe('agent\n');
  });

  test('a link or a file that a person put where a folder was', async () => {
    const elsewhere = await tempFolder();
    const { scene } = await ran({
      files: { 'd/a': '0\n', 'e/a': '0\n' },
      shells: ['rm -r d e'],
    });
    symlinkSync(elsewhere, join(scene.folder, 'd'));
    writeFileSync(join(scene.folder, 'e'), 'mine\n');
    const { exitCode, stderr } = await undo(scene);
    expect(stderr).toMatch(/not brought back: d\/a .*\n.*not brought back: e\/a /);
    expect(exitCode).toBe(1);
    expect(lstatSync(join(scene.folder, 'd')).isSymbolicLink()).toBe(true);
    expect(existsSync(join(elsewhere, 'a'))).toBe(false);
    expect(scene.read('e')).toBe('mine\n');
  });

  test('a file that became a folder with files of a person in it', async () => {
    const { scene } = await ran({ files: { x: '0\n' }, shells: ['rm x; mkdir x; echo 1 > x/a'] });
    writeFileSync(join(scene.folder, 'x/mine'), 'mine\n');
    const { exitCode, stderr } = await undo(scene);
    expect(stderr).toContain('not brought back: x (something');
    expect(exitCode).toBe(1);
    expect(scene.read('x/mine')).toBe('mine\n');
  });

  test('a repository that the agent made or moved on', async () => {
    const { scene, git } = await ran({
      shells: [
        'git init -q old; cd old; git -c user.name=a -c user.email=a@b commit -q --allow-empty -m a',
        'git init -q new; for d in old new; do (cd $d; echo x > f; git add f; git -c user.name=a -c user.email=a@b commit -qm b); done',
      ],
    });
    const first = git('-C', 'old', 'rev-parse', 'HEAD~');
    const { exitCode, stderr } = await undo(scene);
    expect(stderr).toContain(
      'not brought back: new (it is a repository, whose files are in no snapshot)',
    );
    expect(stderr).toContain(`in it, git checkout ${first} goes back`);
    expect(exitCode).toBe(1);
    expect([scene.read('new/f'), scene.read('old/f')]).toEqual(['x\n', 'x\n']);
  });

  test('index and HEAD, so that what was staged stays so', async () => {
    const { scene, git } = await ran({
      files: { a: '0\n' },
      shells: ['echo 1 > a; git add a; git commit -qm agent'],
    });
    const before = [git('rev-parse', 'HEAD'), git('ls-files', '-s'), git('stash', 'list')];
    expect(await undo(scene)).toMatchObject({ exitCode: 0 });
    expect([git('rev-parse', 'HEAD'), git('ls-files', '-s'), git('stash', 'list')]).toEqual(before);
    expect(scene.read('a')).toBe('0\n');
  });
});

describe('--hard', () => {
  test('moves the branch and the index back, and --redo --hard brings both again', async () => {
    const { scene, git } = await ran({
      files: { a: '0\n', staged: '0\n' },
      setUp: (_, git) => {
        git('update-index', '--assume-unchanged', 'a');
      },
      shells: [
        'echo 1 > a; echo 1 > staged; git add staged; git commit -qm agent; git switch -qc other',
      ],
    });
    const agents = git('rev-parse', 'HEAD');
    const { exitCode, stdout } = await undo(scene, '--hard');
    expect(stdout).toMatch(
      /^main goes back from [0-9a-f]{10} to [0-9a-f]{10}\nHEAD goes back to main$/m,
    );
    expect(exitCode).toBe(0);
    expect(git('log', '--format=%s', 'main')).toBe('Start');
    expect(git('symbolic-ref', 'HEAD')).toBe('refs/heads/main');
    expect(git('status', '--porcelain', 'staged')).toBe('');
    // A flag of an entry that did not change stays.
    expect(git('ls-files', '-v', 'a')).toBe('h a');
    // The lost commit is kept.
    expect(git('merge-base', '--is-ancestor', agents, scene.snapshot('undo.1'))).toBe('');
    git('branch', '-q', '-D', 'other');
    expect(await undo(scene, '--hard', '--redo')).toMatchObject({ exitCode: 0 });
    expect(git('rev-parse', 'HEAD')).toBe(agents);
    expect(git('symbolic-ref', 'HEAD')).toBe('refs/heads/other');
  });

  test('leaves a file that a sparse checkout leaves out where it is: in the index alone', async () => {
    const { scene, git } = await ran({
      files: { 'in/a': '0\n', 'out/b': '0\n' },
      setUp: ({ folder }, git) => {
        git('switch', '-qc', 'side');
        writeFileSync(join(folder, 'out/b'), 'side\n');
        git('commit', '-qam', 'side');
        git('switch', '-q', 'main');
        git('sparse-checkout', 'set', 'in');
      },
      shells: ['git merge -q side; echo 1 > in/a'],
    });
    const first = git('rev-parse', 'side~');
    expect(await undo(scene, '--hard')).toMatchObject({ exitCode: 0 });
    expect(git('rev-parse', 'HEAD')).toBe(first);
    expect(git('ls-files', '-v', 'in', 'out')).toBe('H in/a\nS out/b');
    expect(git('status', '--porcelain', '--untracked-files=no')).toBe('');
  });

  test('undoes the first commit of all', async () => {
    const { scene, git } = await ran({
      files: { a: '0\n' },
      setUp: (_, git) => {
        git('update-ref', '-d', 'HEAD');
      },
      shells: ['git commit -qm agent'],
    });
    expect(await undo(scene, '--hard')).toMatchObject({ exitCode: 0 });
    expect(git('status', '--porcelain', '--branch')).toMatch(/No commits yet on main\nA {2}/);
  });

  test('moves the branch of a repository whose .git lies elsewhere, as that of a submodule', async () => {
    const gitFolder = join(await tempFolder(), 'repository');
    const { scene, git } = await ran({
      files: { a: '0\n' },
      setUp: (_, git) => {
        git('init', '-q', '--separate-git-dir', gitFolder);
      },
      shells: ['echo 1 > a; git commit -qam agent'],
    });
    const first = git('rev-parse', 'HEAD~');
    expect(await undo(scene, '--hard')).toMatchObject({ exitCode: 0 });
    expect(git('rev-parse', 'HEAD')).toBe(first);
  });

  test('leaves HEAD where its branch is checked out elsewhere, and says so', async () => {
    const { scene, git } = await ran({
      files: { a: '0\n' },
      shells: ['git switch -qc mine; echo 1 > a; git commit -qam agent'],
    });
    const place = join(await tempFolder(), 'elsewhere');
    git('worktree', 'add', '-q', place, 'main');
    const { exitCode, stdout } = await undo(scene, '--hard');
    expect(stdout).toContain(`HEAD and the index stay: refs/heads/main is checked out in ${place}`);
    expect(exitCode).toBe(1);
    expect(git('symbolic-ref', 'HEAD')).toBe('refs/heads/mine');
    expect(scene.read('a')).toBe('0\n');
  });
});

test('--hard names the lock that is in its way; once that is gone, the same command finishes it', async () => {
  const { scene, git } = await ran({
    files: { a: '0\n' },
    shells: ['echo 1 > a; git commit -qam agent'],
  });
  await scene.write('.git/index.lock', '');
  const { exitCode, stderr } = await undo(scene, '--hard');
  expect(stderr).toMatch(
    /git cannot move the index: \S+\/index\.lock has been there since \S+Z, and may be removed if no git is running\. The same command finishes it/,
  );
  expect(exitCode).toBe(1);
  rmSync(join(scene.folder, '.git/index.lock'));
  expect(await undo(scene, '--hard')).toMatchObject({ exitCode: 0 });
  expect(git('status', '--porcelain', '--untracked-files=no')).toBe('');
});

describe('a merge that the agent began', () => {
  const begun = () =>
    ran({
      files: { a: '0\n' },
      setUp: ({ folder }, git) => {
        git('switch', '-qc', 'side');
        writeFileSync(join(folder, 'a'), 'side\n');
        git('commit', '-qam', 'side');
        git('switch', '-q', 'main');
        writeFileSync(join(folder, 'a'), 'main\n');
        git('commit', '-qam', 'main');
      },
      shells: ['git merge side; true'],
    });

  test('is a reason to refuse an undo without --hard', async () => {
    const { scene } = await begun();
    const { exitCode, stderr } = await undo(scene);
    expect(stderr).toMatch(/Nothing was taken back: a merge is under way .* was not then\./);
    expect(exitCode).toBe(1);
    expect(scene.read('a')).toContain('<<<<<<<');
  });

  test('ends with --hard', async () => {
    const { scene, git } = await begun();
    expect(await undo(scene, '--hard')).toMatchObject({ exitCode: 0 });
    expect(scene.has('.git/MERGE_HEAD')).toBe(false);
    expect(git('status', '--porcelain', '--untracked-files=no')).toBe('');
    expect(scene.read('a')).toBe('main\n');
  });

  test('is no reason if it was under way then, too', async () => {
    const { scene } = await ran({
      files: { a: '0\n', b: '0\n' },
      setUp: (_, git) => {
        git('switch', '-qc', 'side');
        git('commit', '-q', '--allow-empty', '-m', 'side');
        git('switch', '-q', 'main');
        git('commit', '-q', '--allow-empty', '-m', 'main');
        git('merge', '-q', '--no-commit', '--no-ff', 'side');
      },
      shells: ['echo 1 > b'],
    });
    expect(await undo(scene)).toMatchObject({ exitCode: 0 });
    expect(scene.has('.git/MERGE_HEAD')).toBe(true);
    expect(scene.read('b')).toBe('0\n');
  });
});

test('no program that the repository names is run by diff, undo or snapshots', async () => {
  const { scene, git } = await ran({
    files: { a: '0\n', 'b.txt': '0\n', '.gitattributes': '* filter=evil diff=evil\n' },
    setUp: async ({ folder }, git) => {
      const sub = await tempFolder();
      mkdirSync(join(sub, 'x'));
      git('-C', sub, 'init', '-q');
      writeFileSync(join(sub, 'in-sub'), 's');
      git('-C', sub, 'add', 'in-sub');
      git('-C', sub, 'commit', '-qm', 's');
      git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', sub, 'sub');
      git('commit', '-qm', 'sub');
      expect(existsSync(join(folder, 'sub/in-sub'))).toBe(true);
    },
    shells: ['echo 1 > a; rm b.txt; echo 2 > new; git commit -qam agent; rm -rf sub'],
  });
  const sign = join(await tempFolder(), 'ran');
  const program = join(scene.folder, '.git/evil.sh');
  writeFileSync(program, `#!/bin/sh\necho "$0 $*" >> '${sign}'\ncat\n`);
  chmodSync(program, 0o755);
  const settings = [
    ...['core.fsmonitor', 'core.pager', 'core.editor', 'gpg.program', 'core.sshCommand'],
    ...['filter.evil.clean', 'filter.evil.smudge', 'filter.evil.process'],
    ...['diff.external', 'diff.evil.command', 'diff.evil.textconv', 'core.alternateRefsCommand'],
  ];
  for (const module of [scene.folder, join(scene.folder, '.git/modules/sub')]) {
    const folder = module === scene.folder ? join(module, '.git') : module;
    for (const name of settings) git('config', '-f', join(folder, 'config'), name, program);
    git('config', '-f', join(folder, 'config'), 'commit.gpgSign', 'true');
    git('config', '-f', join(folder, 'config'), 'log.showSignature', 'true');
    mkdirSync(join(folder, 'hooks'), { recursive: true });
    for (const hook of ['reference-transaction', 'post-index-change', 'post-checkout']) {
      writeFileSync(join(folder, 'hooks', hook), `#!/bin/sh\necho ${hook} >> '${sign}'\n`);
      chmodSync(join(folder, 'hooks', hook), 0o755);
    }
  }
  git('config', 'submodule.sub.update', `!${program}`);
  writeFileSync(join(scene.folder, '.git/modules/sub/info/attributes'), '* filter=evil\n');
  rmSync(sign, { force: true });
  for (const args of [
    ['diff', 't'],
    ['diff', 't', '1', '--stat'],
    ['diff', 't', '--json'],
  ]) {
    expect(await scene.ralph(args)).toMatchObject({ exitCode: 0 });
  }
  expect(await scene.ralph(['snapshots', 't'])).toMatchObject({ exitCode: 0 });
  // As if each file had been written in the same instant as the index: then git reads it by its filter.
  utimesSync(join(scene.folder, '.git/index'), 1, 1);
  const undone = await undo(scene, '--hard');
  expect(undone.stderr).not.toContain('not brought back');
  expect(undone).toMatchObject({ exitCode: 0 });
  expect(scene.read('sub/in-sub')).toBe('s');
  expect(await undo(scene, '--redo', '--hard')).toMatchObject({ exitCode: 1 });
  expect(existsSync(sign)).toBe(false);
});

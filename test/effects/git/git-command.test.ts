import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  callGit,
  type GitCommand,
  outputOrNull,
} from '../../../src/effects/git/call/git-command.ts';
import { PATIENCE_MS } from '../../helpers/patience.ts';
import { GIT_ENV, makeRepository } from '../../helpers/repository.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const runGit = async (command: GitCommand) => outputOrNull(await callGit(command));

/** As many calls of git at once as a program may have that runs many tasks. */
const MANY = 30;

/** A `git` that does what a shell script says, called many times at once. */
async function callMany(script: string) {
  const folder = await tempFolder();
  await writeFile(join(folder, 'git'), `#!/bin/sh\n${script}\n`);
  await chmod(join(folder, 'git'), 0o755);
  const env = { PATH: `${folder}:/usr/bin:/bin` };
  const cwd = await tempFolder();
  const call = () => runGit({ args: ['status'], cwd, env, timeoutMs: PATIENCE_MS });
  return Promise.all(Array.from({ length: MANY }, call));
}

describe('many calls of git at once', () => {
  test('many git calls at once share one exit listener, and leave none behind', async () => {
    const warned = vi.fn();
    process.on('warning', warned);
    onTestFinished(() => void process.off('warning', warned));
    const before = process.listenerCount('exit');
    const over = callMany('echo yes');
    await vi.waitFor(() => expect(process.listenerCount('exit')).toBe(before + 1));
    expect(await over).toEqual(Array(MANY).fill('yes\n'));
    expect(process.listenerCount('exit')).toBe(before);
    expect(warned).not.toHaveBeenCalled();
  });

  test('all end with this process', async () => {
    const before = process.listeners('exit');
    const over = callMany('exec sleep 60');
    const [giveUp] = await vi.waitUntil(() => {
      const added = process.listeners('exit').filter((listener) => !before.includes(listener));
      return added.length > 0 && added;
    });
    giveUp?.(0);
    expect(await over).toEqual(Array(MANY).fill(null));
  });
});

test.each(['reference-transaction', 'post-index-change', 'post-checkout', 'pre-commit'])(
  'the %s hook of the settings, which a newer git runs, is off',
  async (hook) => {
    const { folder: cwd, git } = await makeRepository();
    git('config', 'hook.own.event', hook);
    git('config', `hook.${hook}.enabled`, 'true');
    const args = ['config', '--get', `hook.${hook}.enabled`];
    expect(await runGit({ args, cwd, env: process.env, timeoutMs: PATIENCE_MS })).toBe('false\n');
  },
);

describe('git is looked up', () => {
  /** A folder with a program that says its name and the PATH that it got. */
  async function plant(folder: string): Promise<string> {
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'git'), `#!/bin/sh\necho "planted with $PATH"\n`);
    await chmod(join(folder, 'git'), 0o755);
    return folder;
  }

  test('outside of the work tree, where an agent may have put one of its own', async () => {
    const { folder } = await makeRepository();
    const planted = await plant(join(folder, 'node_modules', '.bin'));
    const link = join(await tempFolder(), 'link');
    await symlink(planted, link);
    const other = await plant(await tempFolder());
    const below = join(folder, 'src', 'deep');
    await mkdir(below, { recursive: true });
    const version = (path: string, cwd: string) =>
      runGit({ args: ['--version'], cwd, env: { PATH: path }, timeoutMs: PATIENCE_MS });
    const path = `${link}:${planted}:node_modules/.bin:/usr/bin`;
    expect(await version(path, folder)).toMatch(/^git version/);
    expect(await version(path, below)).toMatch(/^git version/);
    expect(await version(path, join(folder, '.git'))).toMatch(/^git version/);
    // Nothing that git starts is the agent's, either.
    expect(await version(`${planted}:${other}:/usr/bin`, folder)).toBe(
      `planted with ${other}:/usr/bin\n`,
    );
  });

  test('in the work tree if there is no other', async () => {
    const folder = await tempFolder();
    const planted = await plant(join(folder, '.devbox'));
    const call = {
      args: ['--version'],
      cwd: folder,
      env: { PATH: planted },
      timeoutMs: PATIENCE_MS,
    };
    expect(await runGit(call)).toBe(`planted with ${planted}\n`);
  });
});

test('git answers in a folder .git even if the user allows no bare repository there', async () => {
  const { folder } = await makeRepository();
  const global = join(await tempFolder(), 'gitconfig');
  await writeFile(global, '[safe]\n\tbareRepository = explicit\n');
  const env = { ...GIT_ENV, GIT_CONFIG_GLOBAL: global };
  const args = ['rev-parse', '--symbolic-full-name', 'HEAD'];
  const asked = { args, cwd: join(folder, '.git'), env, timeoutMs: PATIENCE_MS };
  expect(await runGit(asked)).toBe('refs/heads/main\n');
});

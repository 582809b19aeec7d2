import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { askGit, makeGit } from '../../../src/effects/git/call/git.ts';
import { findConfigured } from '../../../src/effects/git/configured-repository.ts';
import { gitIn } from '../../../src/effects/git/git.ts';
import { listSettings } from '../../../src/effects/git/listed-settings.ts';
import { findPlaces } from '../../../src/effects/git/repository.ts';
import { PATIENCE_MS } from '../../helpers/patience.ts';
import { GIT_ENV, makeRepository } from '../../helpers/repository.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

/** Counts how often git is asked where the repository is. */
async function scene() {
  const { folder, git } = await makeRepository({ 'a.txt': 'a' });
  let asked = 0;
  const here = gitIn(folder, { env: GIT_ENV, timeoutMs: PATIENCE_MS });
  const counted = makeGit((args, extras) => {
    if (args[0] === 'rev-parse') asked += 1;
    return askGit(here, args, extras);
  });
  const found = await findPlaces(folder, here);
  const configured = async () =>
    findConfigured({
      ...{ cwd: folder, place: folder, git: counted, home: '/home/me', found },
      listSettings: () => listSettings(counted),
    });
  return { folder, git, found, configured, asked: () => asked };
}

describe('a repository that was found before', () => {
  test('is handed on, with the settings as they are now', async () => {
    const { git, found, configured, asked } = await scene();
    git('config', 'core.excludesFile', '~/ignored');
    git('config', 'remote.all.mirror', 'true');
    const { repository, settings } = (await configured()) ?? {};
    expect(repository).toEqual({ ...found, excludesFile: '/home/me/ignored' });
    expect(settings).toContain('remote.all.mirror\ntrue\0');
    expect(asked()).toBe(0);
  });

  test.each([
    ['plain', 'plain'],
    ['%(prefix)/x', expect.stringMatching(/^\/.*x$/)],
    ['~nobody-here/x', null],
  ])('has the excludes file that git makes of %s', async (named, made) => {
    const { git, configured } = await scene();
    git('config', 'core.excludesFile', named);
    expect((await configured())?.repository.excludesFile).toEqual(made);
  });

  test('is looked for again once core.worktree leads elsewhere', async () => {
    const { git, configured, asked } = await scene();
    const elsewhere = await tempFolder();
    git('config', 'core.worktree', elsewhere);
    expect((await configured())?.repository.root).toBe(elsewhere);
    expect(asked()).toBe(1);
  });

  test('is gone once it is bare', async () => {
    const { git, configured } = await scene();
    git('config', 'core.bare', 'true');
    expect(await configured()).toBeNull();
  });

  test('is looked for again once its folder is elsewhere', async () => {
    const { folder, configured } = await scene();
    const elsewhere = join(await tempFolder(), 'moved');
    renameSync(join(folder, '.git'), elsewhere);
    writeFileSync(join(folder, '.git'), `gitdir: ${elsewhere}\n`);
    expect((await configured())?.repository.gitDir).toBe(elsewhere);
  });
});

import { expect, test } from 'vitest';
import { gitIn as ralphsGit } from '../../../src/effects/git/git.ts';
import {
  changesBetween,
  countLines,
  countPaths,
  diffWithout,
  rawDiff,
  stagedChanges,
} from '../../../src/effects/git/questions/diffs.ts';
import { PATIENCE_MS } from '../../helpers/patience.ts';
import { GIT_ENV, makeRepository } from '../../helpers/repository.ts';

test('another commit of a submodule is a difference, whatever .gitmodules tells git to ignore', async () => {
  const { folder, git } = await makeRepository({
    '.gitmodules': '[submodule "lib"]\n\tpath = lib\n\turl = ../lib\n\tignore = all\n',
  });
  const treeWith = (digit: string): string => {
    git('update-index', '--add', '--cacheinfo', `160000,${digit.repeat(40)},lib`);
    return git('write-tree');
  };
  const [from, to] = [treeWith('1'), treeWith('2')];
  const asked = ralphsGit(folder, { env: GIT_ENV, timeoutMs: PATIENCE_MS });
  const lib = { from: `160000 ${'1'.repeat(40)}`, to: `160000 ${'2'.repeat(40)}` };
  expect([...(await rawDiff(asked, from, to))]).toEqual([['lib', lib]]);
  expect(await changesBetween(asked, from, to)).toEqual(new Map([['lib', lib]]));
  expect(await stagedChanges(asked, from)).toEqual(new Map([['lib', lib]]));
  expect(await countPaths(asked, [{ from, to }])).toEqual([1]);
  expect([...(await countLines(asked, { from, to })).keys()]).toEqual(['lib']);
  expect(await diffWithout(asked, from, to, [])).toContain(`+Subproject commit ${'2'.repeat(40)}`);
});

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { askGit, makeGit } from '../../../src/effects/git/call/git.ts';
import { gitIn } from '../../../src/effects/git/git.ts';
import { countLinesBetween } from '../../../src/effects/git/questions/diffs.ts';
import { PATIENCE_MS } from '../../helpers/patience.ts';
import { GIT_ENV, makeRepository, put } from '../../helpers/repository.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

/** Counts lines in a repository, and how often git is started. */
function counter(folder: string, env = GIT_ENV) {
  let calls = 0;
  const here = gitIn(folder, { env, timeoutMs: PATIENCE_MS });
  const counted = makeGit((args, extras) => {
    calls += 1;
    return askGit(here, args, extras);
  });
  return {
    calls: () => calls,
    count: (pairs: Parameters<typeof countLinesBetween>[1]) => countLinesBetween(counted, pairs),
  };
}

async function threeTrees() {
  const repository = await makeRepository({ 'a.txt': '1\n2\n', 'b\n0\t0\tc': '1\n' });
  const { folder, git } = repository;
  const tree = (): string => {
    git('add', '--all');
    return git('write-tree');
  };
  const first = tree();
  put(folder, { 'a.txt': '1\nzwei\ndrei\n', 'ü.txt': '1\n', 'b\n0\t0\tc': '' });
  const second = tree();
  put(folder, { 'picture.png': '\0\n\0\n' });
  return { ...repository, first, second, third: tree() };
}

describe('the lines between trees', () => {
  test('are counted pair by pair, with one process', async () => {
    const { folder, first, second, third } = await threeTrees();
    const { count, calls } = counter(folder);
    const lines = await count([
      { from: first, to: second },
      { from: second, to: first },
      { from: second, to: second },
      { from: second, to: third },
    ]);
    expect(lines).toEqual([
      { added: 3, removed: 2 },
      { added: 2, removed: 3 },
      { added: 0, removed: 0 },
      // Binary files have none.
      { added: 0, removed: 0 },
    ]);
    expect(calls()).toBe(1);
    expect(await count([])).toEqual([]);
    expect(calls()).toBe(1);
  });

  test('are unknown for a pair of which a tree is gone, and for that one alone', async () => {
    const { folder, first, second } = await threeTrees();
    const gone = '1'.repeat(40);
    const { count } = counter(folder);
    const pairs = [
      { from: first, to: gone },
      { from: first, to: second },
    ];
    expect(await count(pairs)).toEqual([null, { added: 3, removed: 2 }]);
  });

  test('are unknown where git was killed, since its last count may not be whole', async () => {
    const { folder, first, second } = await threeTrees();
    const pairs = [{ from: first, to: second }];
    const bin = await tempFolder();
    writeFileSync(join(bin, 'git'), '#!/bin/sh\nkill -9 $$\n', { mode: 0o755 });
    const killed = counter(folder, { ...GIT_ENV, PATH: bin });
    expect([await killed.count(pairs), killed.calls()]).toEqual([[null], 1]);
    const half = `${first} ${second}\n1\t0\ta.txt\n`;
    const ended = makeGit(async () => ({ exitCode: null, output: half, complaint: '' }));
    expect(await countLinesBetween(ended, pairs)).toEqual([null]);
  });
});

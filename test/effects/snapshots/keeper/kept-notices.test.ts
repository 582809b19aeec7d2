import { expect, test } from 'vitest';
import {
  innerNotices,
  keptNotices,
} from '../../../../src/effects/snapshots/keeper/kept-notices.ts';
import { makeRepository, put } from '../../../helpers/repository.ts';
import { snapshotsOf } from '../../../helpers/snapshots.ts';

async function stage() {
  const { folder, git } = await makeRepository();
  const { take } = await snapshotsOf(folder);
  const said = new Set<string>();
  const notices = async (name: string) => keptNotices(await take(name), said);
  return { folder, git, notices };
}

test('says each thing once', async () => {
  const { folder, notices } = await stage();
  put(folder, { large: 'x'.repeat(2_000), '.env': 'TOKEN=1', 'd/server.key': 'key' });
  const sentences = await notices('0');
  expect(sentences.map((each) => each.split(' ')[0])).toEqual(['large', '.env', 'd/server.key']);
  put(folder, { large: 'y'.repeat(2_001), '.env': 'TOKEN=2' });
  expect(await notices('1')).toEqual([]);
});

test('a tracked or ignored secret is nobody’s business', async () => {
  const { folder, git, notices } = await stage();
  put(folder, { 'a.pem': 'x', 'b.pem': 'x', '.gitignore': 'b.pem\n' });
  git('add', 'a.pem');
  expect(await notices('0')).toEqual([]);
});

test('work in a repository inside is told once there is some that no snapshot keeps', () => {
  const said = new Set<string>();
  const kept = {
    nested: new Set(['module', 'new', 'clean']),
    leftOut: new Map([['new', 'empty-repository'] as const]),
  };
  const all = [
    { path: 'module', isDirty: true, changed: [] },
    { path: 'clean', isDirty: false, changed: ['clean'] },
    { path: 'new', isDirty: true, changed: ['new'] },
    { path: 'ignored', isDirty: false, changed: ['ignored'] },
    { path: 'module/deep', isDirty: true, changed: ['module/deep/a'] },
    { path: 'old', isDirty: true, changed: [] },
  ];
  expect(innerNotices(kept, all, said)).toEqual([
    expect.stringMatching(/^Of the repository module snapshots keep only the commit/),
    expect.stringMatching(/^The repository ignored is in no snapshot/),
    expect.stringMatching(/^The repository module\/deep is in no snapshot/),
  ]);
  expect(innerNotices(kept, all, said)).toEqual([]);
});

import { expect, test } from 'vitest';
import { leakyRemotes } from '../../../src/core/snapshots/shared-refs.ts';

const remote = (push: readonly string[], mirror = false) =>
  leakyRemotes([
    { name: 'remote.origin.mirror', value: String(mirror) },
    ...push.map((value) => ({ name: 'remote.origin.push', value })),
    { name: 'remote.origin.url', value: 'x' },
  ]);

test.for([
  ['+refs/*:refs/*'],
  ['refs/*:refs/backup/*'],
  ['refs/ralph/*:refs/ralph/*'],
  ['refs/heads/*:refs/heads/*', '+refs/*:refs/*'],
])('a push of %j takes snapshots along', (push) => {
  const [found] = remote(push);
  expect(found?.says).toContain('git push origin');
  expect(found?.remedy).toContain("remote.origin.push '^refs/ralph/*'");
});

test.for<[readonly string[]]>([
  [[]],
  [['refs/heads/*:refs/heads/*']],
  [['HEAD', 'refs/tags/*:refs/tags/*']],
  [['+refs/*:refs/*', '^refs/ralph/*']],
])('a push of %j does not', ([push]) => {
  expect(remote(push)).toEqual([]);
});

test('a mirror does, and heeds no exception', () => {
  const [found] = remote(['^refs/ralph/*'], true);
  expect(found?.says).toContain('remote.origin.mirror');
  expect(found?.remedy).toContain('--unset remote.origin.mirror');
});

import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { keptNotices } from '../../../src/effects/snapshots/kept-notices.ts';
import { runGit } from '../../../src/effects/workspace/git-command.ts';
import { bytesBelow, GIT_ENV, gitIn, makeRepository, put } from '../../helpers/repository.ts';
import { snapshotsOf } from '../../helpers/snapshots.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

async function stage() {
  const { folder, git } = await makeRepository();
  const { own, take } = await snapshotsOf(folder);
  const said = new Set<string>();
  const notices = async (name: string) =>
    keptNotices(own, await take(name), said, (cwd, args, extras) =>
      runGit({ ...extras, cwd, args, env: GIT_ENV, timeoutMs: 10_000 }),
    );
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

test('uncommitted work in a nested repository is told when there is any', async () => {
  const { folder, notices } = await stage();
  put(folder, { 'nested/a': 'a' });
  const nested = gitIn(join(folder, 'nested'));
  nested('init', '-q');
  nested('add', '--all');
  nested('commit', '-q', '-m', 'first');
  expect(await notices('0')).toEqual([]);
  put(folder, { 'nested/b': 'b' });
  expect(await notices('1')).toEqual([expect.stringContaining('the repository nested')]);
  expect(await notices('2')).toEqual([]);
});

test('no program of a nested repository runs', async () => {
  const { folder, notices } = await stage();
  put(folder, { 'nested/a': 'a', 'nested/.gitattributes': '* filter=evil\n' });
  const nested = gitIn(join(folder, 'nested'));
  nested('init', '-q');
  nested('add', '--all');
  nested('commit', '-q', '-m', 'first');
  const sign = await tempFolder();
  const program = join(folder, 'nested/.git/evil.sh');
  writeFileSync(program, `#!/bin/sh\necho ran >> '${sign}/ran'\ncat\n`);
  chmodSync(program, 0o755);
  for (const name of ['core.fsmonitor', 'filter.evil.clean']) nested('config', name, program);
  put(folder, { 'nested/a': 'changed' });
  expect(await notices('0')).toHaveLength(1);
  expect(bytesBelow(sign)).toEqual({});
});

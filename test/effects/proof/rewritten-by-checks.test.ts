import { describe, expect, test } from 'vitest';
import { findRewrites } from '../../../src/effects/proof/rewritten-by-checks.ts';
import { listTree } from '../../../src/effects/snapshots/tree-files.ts';
import { makeExam } from '../../helpers/exams.ts';

const FILES = {
  'test/want.snap': 'one\ntwo\n',
  Makefile: 'test:\n\ttrue\n',
  'src/a.js': 'a\n',
  'test/logo.png': '\0\x01',
};

/** Has the work of the agent followed by what the checks write, and looks. */
async function written(
  agent: Readonly<Record<string, string | null>>,
  checks: Readonly<Record<string, string | null>>,
) {
  const task = await makeExam(FILES);
  const before = await task.claim(agent);
  const after = await task.claim(checks);
  const { own: git, start } = task;
  const common = { git, start, deciders: new Set(['src/a.js']) };
  const found = await findRewrites({ ...common, before, after, earlier: [] });
  const names = found.rewritten.map(({ path }) => path);
  return { task, common, after, found, names };
}

describe('what a check wrote', () => {
  test.for<[what: string, agent: object, checks: object, names: readonly string[]]>([
    ['a changed line of a test file', {}, { 'test/want.snap': 'one\n2\n' }, ['test/want.snap']],
    ['a removed test file', {}, { 'test/want.snap': null }, ['test/want.snap']],
    ['a binary test file', {}, { 'test/logo.png': '\0\x02' }, ['test/logo.png']],
    ['a changed judge by its name', {}, { Makefile: 'test:\n\tfalse\n' }, ['Makefile']],
    ['a changed judge that the checks run', {}, { 'src/a.js': 'b\n' }, ['src/a.js']],
    ['lines that were only added', {}, { 'test/want.snap': 'one\ntwo\nthree\n' }, []],
    ['a new file', {}, { 'test/new.snap': 'one\n' }, []],
    [
      'a file that is as new as the work',
      { 'test/new.snap': 'one\n' },
      { 'test/new.snap': '1\n' },
      [],
    ],
    ['what the agent wrote', { 'test/want.snap': 'one\n' }, {}, []],
  ])('%s', async ([, agent, checks, names]) => {
    const done = await written({ ...agent }, { ...checks });
    expect(done.names).toEqual(names);
  });

  test('is found for as long as it is there', async () => {
    const { task, common, after, found } = await written({}, { 'test/want.snap': '1\n' });
    const later = { ...common, before: after, earlier: found.rewritten };
    expect(await findRewrites({ ...later, after })).toEqual(found);
    const back = await task.claim({ 'test/want.snap': 'one\ntwo\n' });
    expect((await findRewrites({ ...later, after: back })).rewritten).toEqual([]);
  });

  test('of other files is told by their names', async () => {
    const { task, common } = await written({}, {});
    const before = await task.claim({});
    const after = await task.claim({ 'src/a.js': 'b\n' });
    const request = { ...common, deciders: new Set<string>(), before, after, earlier: [] };
    expect(await findRewrites(request)).toEqual({ rewritten: [], others: ['src/a.js'] });
    expect([...(await listTree(common.git, after)).keys()]).toContain('src/a.js');
  });
});

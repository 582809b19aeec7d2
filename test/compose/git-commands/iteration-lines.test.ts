import { rmSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { linesByIteration } from '../../../src/compose/git-commands/iteration-lines.ts';
import type { TaskGit } from '../../../src/core/task/task-state.ts';
import { openTreeKeeper } from '../../../src/effects/snapshots/keeper/tree-keeper.ts';
import { openSnapshotIds } from '../../../src/effects/snapshots/snapshot-ids.ts';
import { newTask } from '../../helpers/new-task.ts';
import { GIT_ENV, makeRepository, put } from '../../helpers/repository.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';
import { testSeal } from '../../helpers/test-seal.ts';

const REFS = 'refs/ralph/t';

/** A repository in which four iterations have worked; the third one changed nothing. */
async function worked() {
  const task = await tempFolder();
  const ids = openSnapshotIds({ folder: task, seal: testSeal(task), task: newTask() }, true);
  const { folder } = await makeRepository({ 'a.txt': '1\n2\n' });
  const keeper = await openTreeKeeper({
    ...{ cwd: folder, excluded: [], excludedGlobs: [], maxBytes: 1_000 },
    ...{ folder: await tempFolder(), taskId: 't', ids, env: GIT_ENV, runId: 'run' },
    signal: new AbortController().signal,
    now: () => '2026-01-01T00:00:00.000Z',
    warn: () => {},
    notice: () => {},
  });
  const work = [{ 'a.txt': '1\n2\n3\n' }, { 'a.txt': '3\n' }, {}, { 'b.txt': 'b\nb\n' }];
  for (const [index, files] of work.entries()) {
    const iteration = index + 1;
    // What a person does in between is no iteration's.
    if (iteration === 2) put(folder, { 'mine.txt': 'mine\n' });
    keeper?.disturb();
    await keeper?.before(iteration);
    put(folder, files);
    await keeper?.after({ iteration, as: 'end', outcome: 'answered' });
  }
  const linesIn = (git: TaskGit) => linesByIteration({ ...newTask(), git }, task, GIT_ENV);
  return { folder, ids, linesIn };
}

const treeIn = (path: string, origin: string): TaskGit['work_tree'] => ({
  ...{ path, origin, branch: 'ralph/t', base: 'abc', onto: 'main' },
});

const ALL = {
  1: { added: 1, removed: 0 },
  2: { added: 0, removed: 2 },
  4: { added: 2, removed: 0 },
};

describe('the lines of the iterations', () => {
  test('are those between what each began with and what it came to', async () => {
    const { folder, linesIn } = await worked();
    const work_tree = treeIn(folder, folder);
    expect(await linesIn({ snapshots: REFS, work_tree })).toEqual(ALL);
    expect(await linesByIteration(newTask(), await tempFolder(), GIT_ENV)).toEqual({});
  });

  test('are found where the work tree of the task is gone', async () => {
    const { folder, linesIn } = await worked();
    const gone = await tempFolder();
    rmSync(gone, { recursive: true });
    expect(await linesIn({ snapshots: REFS, work_tree: treeIn(gone, folder) })).toEqual(ALL);
    expect(await linesIn({ snapshots: REFS, work_tree: treeIn(gone, gone) })).toEqual({});
  });

  test('are unknown for an iteration whose beginning is gone', async () => {
    const { folder, ids, linesIn } = await worked();
    await ids.remove(new Set(['1']));
    const { 1: _one, 4: four } = ALL;
    const lines = await linesIn({ snapshots: REFS, work_tree: treeIn(folder, folder) });
    expect(lines).toEqual({ 2: ALL[2], 4: four });
    await ids.remove(new Set(['2.0']));
    expect(await linesIn({ snapshots: REFS, work_tree: treeIn(folder, folder) })).toEqual({
      4: four,
    });
  });
});

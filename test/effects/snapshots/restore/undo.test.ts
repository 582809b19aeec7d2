import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { snapshotMessage } from '../../../../src/core/snapshots/snapshot-message.ts';
import {
  attemptNames,
  endNames,
  startNames,
} from '../../../../src/core/snapshots/snapshot-names.ts';
import { redoSpans, type UndoSpan, undoSpan } from '../../../../src/core/snapshots/timeline.ts';
import { isUndoCutOff } from '../../../../src/effects/snapshots/restore/begun-undo.ts';
import { prepareUndo } from '../../../../src/effects/snapshots/restore/undo.ts';
import { listSnapshots } from '../../../../src/effects/snapshots/snapshot-list.ts';
import { type Files, gitIn, makeRepository, put } from '../../../helpers/repository.ts';
import { idsBelow, snapshotsOf } from '../../../helpers/snapshots.ts';

async function stage(files: Files = {}, held: readonly string[] = []) {
  const { folder, git } = await makeRepository();
  put(folder, files);
  const { own, store } = await snapshotsOf(folder);
  let order = 0;
  const next = (): number => {
    order += 1;
    return order;
  };
  const keep = async (names: Iterable<string>, subject: string): Promise<void> => {
    const kept = await store.keepTree();
    if (kept.isAsNewest) return;
    const about = { taskId: 't', order: next(), at: 'now', subject };
    await store.keep(kept, names, ({ branch }) => snapshotMessage({ ...about, branch }));
  };
  const prepared = async (iteration: number | 'redo', force = false) => {
    const timeline = await listSnapshots(own.own, idsBelow(folder));
    const isCutOff = isUndoCutOff(own, store.newest);
    const places = {
      denied: held.map((name) => join(folder, name)),
      start: timeline.snapshots[0]?.tree ?? null,
    };
    const spans =
      iteration === 'redo' ? redoSpans(timeline, isCutOff) : [undoSpan(timeline, iteration)];
    const known = spans.filter((span): span is UndoSpan => span !== null);
    for (const span of known) {
      const undo = await prepareUndo({ git: own, store, span, force, places });
      if (!undo.isNothing) return undo;
    }
    throw new Error('nothing to undo');
  };
  /** Keeps the tree before an undo, as if the process were killed then. */
  const begin = async (iteration: number | 'redo', force = false) => {
    const undo = await prepared(iteration, force);
    const about = { taskId: 't', order: next(), at: 'now', subject: 'undo' };
    await undo.keep(({ branch }, undone) => snapshotMessage({ ...about, branch, undone }));
    return undo;
  };
  const carryOut = async (iteration: number | 'redo', force = false) => {
    const undo = await begin(iteration, force);
    const blocked = await undo.restore();
    undo.end(blocked);
    return { kept: [...undo.plan.kept, ...undo.held], blocked: [...blocked.keys()] };
  };
  const read = (name: string): string | null =>
    existsSync(join(folder, name)) ? readFileSync(join(folder, name), 'utf8') : null;
  /** One iteration in which the agent writes these files, and removes those that are null. */
  const iterate = async (number: number, writes: Readonly<Record<string, string | null>>) => {
    await keep(startNames(number, number === 1), 'start');
    change(writes);
    await keep(endNames(number), 'end');
  };
  const change = (writes: Readonly<Record<string, string | null>>): void => {
    for (const [name, text] of Object.entries(writes)) {
      if (text === null) rmSync(join(folder, name), { recursive: true, force: true });
      else put(folder, { [name]: text });
    }
  };
  return { folder, git, keep, iterate, change, begin, carryOut, prepared, read };
}

describe('an undo', () => {
  test('takes back an iteration and all after it', async () => {
    const { iterate, carryOut, read } = await stage({ a: '0', b: '0' });
    await iterate(1, { a: '1' });
    await iterate(2, { a: '2', b: null, c: 'new' });
    await iterate(3, { c: 'newer' });
    expect(await carryOut(2)).toEqual({ kept: [], blocked: [] });
    expect([read('a'), read('b'), read('c')]).toEqual(['1', '0', null]);
  });

  test('leaves what somebody else has changed since, and names it', async () => {
    const { iterate, change, carryOut, read } = await stage({ a: '0', b: '0' });
    await iterate(1, { a: '1', b: '1' });
    change({ a: 'mine', mine: 'mine' });
    expect(await carryOut(1)).toEqual({ kept: ['a'], blocked: [] });
    expect([read('a'), read('b'), read('mine')]).toEqual(['mine', '0', 'mine']);
  });

  test('leaves what somebody else changed between two iterations', async () => {
    const { iterate, change, carryOut, read } = await stage({ a: '0' });
    await iterate(1, { a: '1' });
    change({ a: 'mine' });
    await iterate(2, { b: '2' });
    expect(await carryOut(1)).toEqual({ kept: ['a'], blocked: [] });
    expect([read('a'), read('b')]).toEqual(['mine', null]);
  });

  test('leaves what git ignored then, which may have been there already', async () => {
    const { folder, iterate, carryOut, read } = await stage({
      '.gitignore': 'data/\n',
      'd/.gitignore': '/x\n',
    });
    put(folder, { 'data/a': 'mine', 'd/x': 'mine' });
    await iterate(1, { '.gitignore': '', 'd/.gitignore': null, new: '1' });
    expect(await carryOut(1)).toEqual({ kept: ['d/x', 'data/a'], blocked: [] });
    expect([read('data/a'), read('d/x'), read('new')]).toEqual(['mine', 'mine', null]);
    expect([read('.gitignore'), read('d/.gitignore')]).toEqual(['data/\n', '/x\n']);
  });

  test('leaves the files of a repository inside the tree that lost its .git, and has kept them', async () => {
    const { folder, git, iterate, carryOut, read } = await stage();
    put(folder, { 'inner/a': 'mine' });
    const inner = gitIn(join(folder, 'inner'));
    inner('init', '-q');
    inner('commit', '-q', '--allow-empty', '-m', 'inner');
    await iterate(1, { 'inner/.git': null, new: '1' });
    expect(git('show', 'refs/ralph/t/1:inner/a')).toBe('mine');
    expect((await carryOut(1)).kept).toEqual(['inner/a']);
    expect([read('inner/a'), read('new')]).toEqual(['mine', null]);
  });

  test('writes nothing where the agent may not write, and removes what was not there', async () => {
    const { iterate, carryOut, read } = await stage({ '.husky/pre-commit': 'mine', a: '0' }, [
      '.husky',
      '.envrc',
    ]);
    await iterate(1, { '.husky/pre-commit': 'theirs', a: '1', '.envrc': 'born' });
    await iterate(2, { '.envrc': 'changed', '.husky/new': 'born' });
    expect(await carryOut(2)).toEqual({ kept: [], blocked: [] });
    expect([read('.envrc'), read('.husky/new')]).toEqual([null, null]);
    expect((await carryOut(1)).kept).toContain('.husky/pre-commit');
    expect([read('.husky/pre-commit'), read('a')]).toEqual(['theirs', '0']);
    await carryOut('redo');
    expect([read('.husky/pre-commit'), read('.envrc'), read('a')]).toEqual(['theirs', null, '1']);
  });

  test('takes back everything by force, and redo brings it again', async () => {
    const { iterate, change, carryOut, read } = await stage({ a: '0' });
    await iterate(1, { a: '1' });
    change({ a: 'mine' });
    await carryOut(1, true);
    expect(read('a')).toBe('0');
  });

  test('is taken back by redo, the newest one first', async () => {
    const { iterate, carryOut, prepared, read } = await stage({ a: '0' });
    await iterate(1, { a: '1', b: '1' });
    await iterate(2, { a: '2' });
    await iterate(3, { a: null, c: '3' });
    await carryOut(3);
    await carryOut(1);
    expect([read('a'), read('b'), read('c')]).toEqual(['0', null, null]);
    await carryOut('redo');
    expect([read('a'), read('b'), read('c')]).toEqual(['2', '1', null]);
    await carryOut('redo');
    expect([read('a'), read('b'), read('c')]).toEqual([null, '1', '3']);
    await expect(prepared('redo')).rejects.toThrow('nothing to undo');
  });

  test('leaves to a person what they changed before the redo, and after it', async () => {
    const { iterate, change, carryOut, prepared, read } = await stage({ a: '0', b: '0' });
    await iterate(1, { a: '1', b: '1' });
    await iterate(2, { a: '2', b: '2' });
    await carryOut(2);
    await carryOut(1);
    change({ a: 'mine' });
    expect((await carryOut('redo')).kept).toEqual(['a']);
    expect([read('a'), read('b')]).toEqual(['mine', '1']);
    expect((await carryOut('redo', true)).kept).toEqual([]);
    await carryOut('redo');
    expect([read('a'), read('b')]).toEqual(['2', '2']);
    // As it was before the redo: a redo that was cut off would bring it again.
    change({ a: '1' });
    await expect(prepared('redo')).rejects.toThrow('nothing to undo');
  });

  test('of an earlier iteration goes on from an undo of a later one', async () => {
    const { iterate, carryOut, read } = await stage({ a: '0' });
    await iterate(1, { a: '1' });
    await iterate(2, { a: '2' });
    await carryOut(2);
    expect(read('a')).toBe('1');
    expect(await carryOut(1)).toEqual({ kept: [], blocked: [] });
    expect(read('a')).toBe('0');
  });

  test('that was cut off is finished by the same undo', async () => {
    const { iterate, change, begin, carryOut, read } = await stage({ a: '0', b: '0' });
    await iterate(1, { a: '1', b: '1' });
    await begin(1);
    // As if the process had been killed before it came to the second file.
    change({ a: '0' });
    expect(await carryOut(1)).toEqual({ kept: [], blocked: [] });
    expect([read('a'), read('b')]).toEqual(['0', '0']);
    await begin('redo');
    change({ a: '1' });
    expect(await carryOut('redo')).toEqual({ kept: [], blocked: [] });
    expect([read('a'), read('b')]).toEqual(['1', '1']);
  });

  test('that was cut off in a redo is finished before the next one', async () => {
    const { iterate, change, begin, carryOut, read } = await stage({ a: '0', b: '0' });
    await iterate(1, { a: '1', b: '1' });
    await iterate(2, { a: '2' });
    await carryOut(2);
    await carryOut(1);
    await begin('redo');
    change({ a: '1' });
    await carryOut('redo');
    expect([read('a'), read('b')]).toEqual(['1', '1']);
    await carryOut('redo');
    expect([read('a'), read('b')]).toEqual(['2', '1']);
  });

  test('writes over nothing that somebody has written a moment ago', async () => {
    const { iterate, begin, change, read } = await stage({ a: '0', b: '0', c: '0' });
    await iterate(1, { a: '1', b: '1', c: null });
    const undo = await begin(1);
    change({ a: 'mine', c: 'mine' });
    expect(await undo.restore()).toEqual(
      new Map([
        ['a', { kind: 'in-the-way' }],
        ['c', { kind: 'in-the-way' }],
      ]),
    );
    expect([read('a'), read('b'), read('c')]).toEqual(['mine', '0', 'mine']);
  });

  test('counts the work of an attempt that was cut off', async () => {
    const { keep, change, carryOut, read } = await stage({ a: '0' });
    await keep(startNames(1, true), 'start');
    change({ a: 'half' });
    await keep(attemptNames(1), 'timed out');
    expect(await carryOut(1)).toEqual({ kept: [], blocked: [] });
    expect(read('a')).toBe('0');
  });
});

import { describe, expect, test } from 'vitest';
import {
  heldBy,
  indexInfo,
  readAttribute,
  readNumstat,
  readRaw,
  readSettings,
  readStaged,
  readTree,
} from '../../../src/effects/git/listings.ts';

const [A, B, NONE] = ['a'.repeat(40), 'b'.repeat(40), '0'.repeat(40)];

describe('what git lists', () => {
  test('an index, with flags and without; a path in conflict holds none of its sides', () => {
    expect([...readStaged(`S 100644 ${A} 0\ta b\n\0H 100755 ${B} 0\tc\td\0`)]).toEqual([
      { tag: 'S', mode: '100644', id: A, stage: '0', name: 'a b\n' },
      { tag: 'H', mode: '100755', id: B, stage: '0', name: 'c\td' },
    ]);
    const listed = readStaged(`100644 ${A} 1\tx\x00100644 ${B} 2\tx\x00100644 ${A} 0\ty\0`);
    expect([...heldBy(listed)]).toEqual([
      ['x', 'conflict'],
      ['y', `100644 ${A}`],
    ]);
  });

  test('a tree, whose folders are no files', () => {
    const { files, folders } = readTree(`040000 tree ${A}\tsrc\x00160000 commit ${B}\tsrc/sub\0`);
    expect([...files]).toEqual([['src/sub', `160000 ${B}`]]);
    expect(folders).toEqual([A]);
  });

  test('a file that became a folder comes twice', () => {
    const raw = `:100644 000000 ${A} ${NONE} D\0p\0:000000 040000 ${NONE} ${B} A\0p\0`;
    expect([...readRaw(raw)]).toEqual([
      ['p', { from: `100644 ${A}`, to: null }],
      ['p', { from: null, to: `040000 ${B}` }],
    ]);
  });

  test('lines by file; a binary file has none', () => {
    expect([...readNumstat('12\t3\ta\tb\0-\t-\tlogo.png\0')]).toEqual([
      ['a\tb', { added: 12, removed: 3 }],
      ['logo.png', null],
    ]);
  });

  test('settings with what stands before them; one without a value is true', () => {
    const listed = 'global\0file:/g\0core.x\0local\0file:/l\0alias.a\nfirst\nsecond\0';
    expect(readSettings(listed, 2)).toEqual([
      { columns: ['global', 'file:/g'], name: 'core.x', value: 'true' },
      { columns: ['local', 'file:/l'], name: 'alias.a', value: 'first\nsecond' },
    ]);
    expect(readSettings('')).toEqual([]);
  });

  test('attributes', () => {
    expect([...readAttribute('a\0filter\0lfs\0b\0filter\0unspecified\0')]).toEqual([
      ['a', 'lfs'],
      ['b', 'unspecified'],
    ]);
  });
});

test('an index is told what goes before what comes, in ids of its length', () => {
  const entries = [['dir/file', `100644 ${A}`] as const, ['dir', null] as const];
  const sha1 = Buffer.from(indexInfo(entries, { hash: 'sha1' })).toString();
  expect(sha1).toBe(`0 ${NONE}\tdir\x00100644 ${A}\tdir/file\0`);
  const sha256 = Buffer.from(indexInfo([['dir', null]], { hash: 'sha256' })).toString();
  expect(sha256).toBe(`0 ${'0'.repeat(64)}\tdir\0`);
});

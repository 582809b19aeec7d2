import { mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { fileOf, STATE, sealWith } from '../../../src/effects/trust/seal.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const KEY = { bytes: Buffer.alloc(32, 1), file: '/k', isShared: false };
const TASK = { task_id: 't', started_at: '2026-01-05T10:00:00.000Z' };

const TEXTS = [
  '{"a":1}\n',
  '{\n  "a": 1,\n  "b": "x"\n}\n',
  '{"sum":"not one","a":"\\"sum\\": "}\n',
  `{"a":${JSON.stringify(' '.repeat(200_000))}}`,
  '{"a":"\\u2028 ü 🙂"}\n',
];

describe('a sealed text', () => {
  test.for(TEXTS)('is JSON, says the same, and is known again: %.40s', (text) => {
    const seal = sealWith(KEY, '/v/.ralph_state');
    const closed = seal.close(text, STATE);
    const { sum, ...rest } = JSON.parse(closed);
    expect(sum).toMatch(/^[\da-f]{64}$/);
    expect({ ...JSON.parse(text), ...rest }).toEqual({ ...JSON.parse(text) });
    expect(seal.isClosed(closed, STATE)).toBe(true);
    // A shorter text that was written over a longer one is filled with blanks.
    expect(seal.isClosed(`${closed}   `, STATE)).toBe(true);
  });

  test('is not known after any change of a character', () => {
    const seal = sealWith(KEY, '/v');
    const closed = seal.close('{"status":"running","n":1}', STATE);
    for (let at = 0; at < closed.trimEnd().length; at += 1) {
      const other = closed[at] === '0' ? '1' : '0';
      const changed = `${closed.slice(0, at)}${other}${closed.slice(at + 1)}`;
      expect([at, seal.isClosed(changed, STATE)]).toEqual([at, false]);
    }
  });

  test.for([
    ['another key', sealWith({ ...KEY, bytes: Buffer.alloc(32, 2) }, '/v'), STATE],
    ['another folder', sealWith(KEY, '/w'), STATE],
    ['another kind of file', sealWith(KEY, '/v'), fileOf('settings', TASK)],
    ['no key', sealWith({ problem: 'it is lost.' }, '/v'), STATE],
  ] as const)('is not known with %s', ([, seal, what]) => {
    const closed = sealWith(KEY, '/v').close('{"a":1}', STATE);
    expect(seal.isClosed(closed, what)).toBe(false);
  });

  test('belongs to one run of one task', () => {
    const seal = sealWith(KEY, '/v');
    const closed = seal.close('{"a":1}', fileOf('settings', TASK));
    const later = { ...TASK, started_at: '2026-01-06T10:00:00.000Z' };
    expect(seal.isClosed(closed, fileOf('settings', TASK))).toBe(true);
    expect(seal.isClosed(closed, fileOf('settings', later))).toBe(false);
    expect(seal.isClosed(closed, fileOf('settings', { ...TASK, task_id: 'u' }))).toBe(false);
    expect(seal.isClosed(closed, fileOf('baseline', TASK))).toBe(false);
  });

  test.for(['', '{}', '{"sum":""}', '{"a":1,"sum":"00"}', '"sum"', '{"a":1}'])(
    'is none of these: %j',
    (text) => {
      expect(sealWith(KEY, '/v').isClosed(text, STATE)).toBe(false);
    },
  );
});

describe('the folder of a seal', () => {
  test('is the same by any path, and before it is made', async () => {
    const root = await tempFolder();
    const before = sealWith(KEY, join(root, 'vault/.ralph_state')).close('{"a":1}', STATE);
    mkdirSync(join(root, 'vault/.ralph_state'), { recursive: true });
    expect(sealWith(KEY, join(root, 'vault/../vault/.ralph_state')).isClosed(before, STATE)).toBe(
      true,
    );
    renameSync(join(root, 'vault'), join(root, 'moved'));
    expect(sealWith(KEY, join(root, 'moved/.ralph_state')).isClosed(before, STATE)).toBe(false);
  });

  test('does not matter with a key that several machines share: each may mount it elsewhere', () => {
    const shared = { ...KEY, isShared: true };
    const closed = sealWith(shared, '/mnt/one').close('{"a":1}', STATE);
    expect(sealWith(shared, '/mnt/other').isClosed(closed, STATE)).toBe(true);
    expect(sealWith(KEY, '/mnt/one').isClosed(closed, STATE)).toBe(false);
  });
});

import {
  existsSync,
  mkdirSync,
  readdirSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { pruneHistory } from '../../../src/effects/state/prune-history.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const BEFORE = Date.parse('2026-01-10T00:00:00.000Z');
const OLD = '2026-01-01T00:00:00.000Z';
const YOUNG = '2026-01-20T00:00:00.000Z';

async function makeStates() {
  const folder = await tempFolder();
  const elsewhere = await tempFolder();
  writeFileSync(join(elsewhere, 'kept'), 'kept');
  const history = join(folder, 'history');
  mkdirSync(history);
  const put = (path: string, text: string, at: string) => {
    const file = join(folder, path);
    writeFileSync(file, text);
    utimesSync(file, new Date(at), new Date(at));
  };
  const state = (finished_at: string | null) => JSON.stringify({ schema_version: 1, finished_at });
  put('history/old.json', state(OLD), YOUNG);
  mkdirSync(join(history, 'old'));
  writeFileSync(join(history, 'old', 'iteration-0001.stdout.log'), 'x'.repeat(5_000));
  symlinkSync(elsewhere, join(history, 'old', 'link'));
  put('history/young.json', state(YOUNG), OLD);
  put('history/by-time.json', state(null), OLD);
  put('history/broken.json', '{', OLD);
  put('history/newer.json', '{"schema_version":99}', OLD);
  mkdirSync(join(history, 'orphan'));
  utimesSync(join(history, 'orphan'), new Date(OLD), new Date(OLD));
  symlinkSync(elsewhere, join(history, 'linked'));
  symlinkSync(join(elsewhere, 'kept'), join(history, 'linked.json'));
  put('open.json', state(OLD), OLD);
  mkdirSync(join(folder, 'open'));
  put('open.json.corrupt-1', 'x', OLD);
  put('open.json.corrupt-2', 'x', YOUNG);
  return { folder, elsewhere };
}

const HISTORY_LEFT = ['linked', 'linked.json', 'newer.json', 'young.json'];

test('removes what ended long ago, and nothing else', async () => {
  const { folder, elsewhere } = await makeStates();
  const pruned = [...pruneHistory(folder, { beforeMs: BEFORE, dryRun: false })];
  expect(pruned.map(({ kind, name }) => `${kind} ${name}`).sort()).toEqual([
    'corrupt-file open.json.corrupt-1',
    'task broken',
    'task by-time',
    'task old',
    'task orphan',
  ]);
  expect(pruned.every(({ failure }) => failure === null)).toBe(true);
  expect(pruned.find(({ name }) => name === 'old')?.bytes).toBeGreaterThan(5_000);
  expect(readdirSync(join(folder, 'history')).sort()).toEqual(HISTORY_LEFT);
  expect(readdirSync(folder).sort()).toEqual([
    'history',
    'open',
    'open.json',
    'open.json.corrupt-2',
  ]);
  expect(existsSync(join(elsewhere, 'kept'))).toBe(true);
});

test('only looks with dryRun', async () => {
  const { folder } = await makeStates();
  const before = readdirSync(folder, { recursive: true }).sort();
  expect([...pruneHistory(folder, { beforeMs: BEFORE, dryRun: true })]).toHaveLength(5);
  expect(readdirSync(folder, { recursive: true }).sort()).toEqual(before);
});

test('leaves a history alone that is a link', async () => {
  const { folder } = await makeStates();
  const linked = await tempFolder();
  symlinkSync(join(folder, 'history'), join(linked, 'history'));
  expect([...pruneHistory(linked, { beforeMs: BEFORE, dryRun: false })]).toEqual([]);
  expect([...pruneHistory(join(linked, 'none'), { beforeMs: BEFORE, dryRun: false })]).toEqual([]);
});

import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { beadsFiles, changedBeadsFile } from '../../../src/effects/lists/beads-files.ts';

let home = '';
const at = (name: string): string => path.join(home, '.beads', name);

/** Writes a file that seems to be old, as any program can, at a later tick of the clock than the last time. */
function writeOld(file: string, content: string): void {
  const changedMs = statSync(file, { throwIfNoEntry: false })?.ctimeMs;
  do {
    writeFileSync(file, content);
    utimesSync(file, 1, 1);
  } while (statSync(file).ctimeMs === changedMs);
}

beforeEach(() => {
  home = mkdtempSync(path.join(tmpdir(), 'ralph-beads-'));
  mkdirSync(at('hooks'), { recursive: true });
  mkdirSync(path.join(home, 'sub'));
  writeFileSync(at('hooks/on_close'), 'true');
  writeFileSync(at('config.yaml'), 'a: 1');
  writeOld(at('hooks/large'), '#'.repeat(2_000_000));
  symlinkSync('../../large', at('hooks/link'));
  writeOld(path.join(home, 'large'), '#'.repeat(2_000_000));
  writeFileSync(at('hooks/program'), Buffer.from([0x7f, 0xe8]));
});
afterEach(() => rmSync(home, { recursive: true }));

test.for<[what: string, change: () => void, found: string | null]>([
  ['nothing', () => {}, null],
  ['an issue', () => writeFileSync(at('issues.jsonl'), '{}'), null],
  ['a hook', () => writeFileSync(at('hooks/on_close'), 'fals'), '.beads/hooks/on_close'],
  ['the right to run one', () => chmodSync(at('hooks/on_close'), 0o755), '.beads/hooks/on_close'],
  ['a new hook', () => writeFileSync(at('hooks/on_update'), ''), '.beads/hooks/on_update'],
  ['a removed one', () => rmSync(at('hooks/on_close')), '.beads/hooks/on_close'],
  ['the settings', () => writeFileSync(at('config.yaml'), 'a: 2'), '.beads/config.yaml'],
  [
    'a large hook with its old time',
    () => writeOld(at('hooks/large'), ':'.repeat(2_000_000)),
    '.beads/hooks/large',
  ],
  [
    'a large hook behind a link, with its old time',
    () => writeOld(path.join(home, 'large'), ':'.repeat(2_000_000)),
    '.beads/hooks/link',
  ],
  [
    'a program in which no byte is a letter',
    () => writeFileSync(at('hooks/program'), Buffer.from([0x7f, 0xe9])),
    '.beads/hooks/program',
  ],
  ['a redirect', () => symlinkSync('/', at('redirect')), '.beads/redirect'],
])('what bd does is changed by %s', ([, change, found]) => {
  const folder = path.join(home, 'sub');
  const before = beadsFiles(folder);
  change();
  expect(changedBeadsFile(before, beadsFiles(folder))).toBe(found);
});

test('a folder without beads has nothing that can change', () => {
  rmSync(at(''), { recursive: true });
  expect(beadsFiles(home).size).toBe(0);
});

import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { foreignEntries } from '../../../src/effects/sandbox/agent-entries.ts';
import { SandboxError } from '../../../src/errors.ts';

/** A home whose folder of claude has a script and as many snapshots; the higher the number, the newer. */
function homeWith(snapshots: number): string {
  const home = mkdtempSync(join(tmpdir(), 'ralph-entries-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const folder = join(home, '.claude', 'shell-snapshots');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(home, '.claude', 'statusline.sh'), '');
  for (let at = 0; at < snapshots; at += 1) {
    writeFileSync(join(folder, `${at}.sh`), '');
    utimesSync(join(folder, `${at}.sh`), 1_000 + at, 1_000 + at);
  }
  return home;
}

test('of the sessions before, what the 50 newest run stays as it is', () => {
  const home = homeWith(60);
  const entries = foreignEntries(['claude'], { home, env: {} });
  const inClaude = (name: string) => join(home, '.claude', name);
  expect(entries).toHaveLength(51);
  expect(entries).toContain(inClaude('statusline.sh'));
  expect(entries).toContain(inClaude('shell-snapshots/59.sh'));
  expect(entries).not.toContain(inClaude('shell-snapshots/9.sh'));
});

test('a file of data for each session keeps nobody out, and programs are held first', () => {
  const home = homeWith(0);
  for (let at = 0; at < 300; at += 1) writeFileSync(join(home, '.claude', `a-${at}.json`), '');
  const entries = foreignEntries(['claude'], { home, env: {} });
  expect(entries).toHaveLength(200);
  expect(entries).toContain(join(home, '.claude', 'statusline.sh'));
});

test('more entries than can be held are refused, with what to do', () => {
  const home = homeWith(0);
  for (let at = 0; at < 200; at += 1) writeFileSync(join(home, '.claude', `own-${at}`), '');
  const found = () => foreignEntries(['claude'], { home, env: {} });
  expect(found).toThrow(SandboxError);
  expect(found).toThrow(/201 entries there .* Move them into one folder there/);
});

import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import {
  makeRunFolder,
  ownerFile,
  ownerText,
  type RunFolder,
  removeRunFolder,
} from '../../../src/effects/sandbox/run-folder.ts';
import { socketPlaces } from '../../../src/effects/sandbox/socket-places.ts';

function runFolder(): RunFolder {
  const run = makeRunFolder();
  onTestFinished(() => removeRunFolder(run));
  writeFileSync(ownerFile(run), ownerText());
  return run;
}

function folderIn(parent: string): string {
  const folder = realpathSync(mkdtempSync(join(parent, 's-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function listenAt(...parts: readonly string[]): Promise<string> {
  const place = join(...parts);
  mkdirSync(join(place, '..'), { recursive: true });
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(place, resolve));
  onTestFinished(() => void server.close());
  return place;
}

test('sockets up to three folders deep are found, and those beside what is shown one by one', async () => {
  const run = runFolder();
  const base = folderIn(tmpdir());
  await listenAt(base, 'podman', 'podman', 's');
  const beside = await listenAt(base, 'mixed', 's');
  const shown = join(base, 'mixed', 'work');
  await listenAt(shown, 's');
  await listenAt(run.sockets, 's');
  const found = socketPlaces(run, [shown, '/']).filter((place) =>
    [base, run.path].some((each) => place.startsWith(each)),
  );
  expect([...found].sort()).toEqual([beside, join(base, 'podman', 'podman')]);
});

test('a folder with many others in it does not use up what is looked into elsewhere', async () => {
  const many = folderIn(tmpdir());
  for (let each = 0; each < 1_000; each += 1) mkdirSync(join(many, `${each}`));
  const base = folderIn(tmpdir());
  await listenAt(base, 'deeper', 'podman', 's');
  const places = socketPlaces(runFolder(), []);
  expect(places).toContain(join(base, 'deeper', 'podman'));
});

test('the folder of another run is hidden, whichever temporary folder it has', () => {
  const run = runFolder();
  const elsewhere = folderIn('/var/tmp');
  const before = process.env.TMPDIR;
  process.env.TMPDIR = elsewhere;
  const other = runFolder();
  if (before === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = before;
  expect(other.path.startsWith(elsewhere)).toBe(true);
  expect(socketPlaces(run, [])).toContain(other.path);
});

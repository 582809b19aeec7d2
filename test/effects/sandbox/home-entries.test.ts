import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import {
  hiddenEntries,
  namesShownInHome,
  shownPlaces,
} from '../../../src/effects/sandbox/home-entries.ts';

/** A home with empty files; a name with ` -> ` is a link. */
function homeWith(...entries: readonly string[]): string {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'ralph-home-')));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  for (const entry of entries) {
    const [name = '', target] = entry.split(' -> ');
    const place = join(home, name);
    mkdirSync(dirname(place), { recursive: true });
    if (target === undefined) writeFileSync(place, '');
    else symlinkSync(target, place);
  }
  return home;
}

const hiddenIn = (home: string, ...shown: readonly string[]): readonly string[] =>
  hiddenEntries(home, shown)
    .map((place) => place.replace(`${home}/`, ''))
    .sort();

test('each entry with a dot is hidden, whether a list knows it or not, and what is needed is not', () => {
  const home = homeWith('.signal/key', '.foorc', 'snap/x/y', 'Library/z', 'data/d', '.nvm/v');
  mkdirSync(join(home, '.config/git'), { recursive: true });
  writeFileSync(join(home, '.gitconfig'), '');
  expect(hiddenIn(home)).toEqual(['.config', '.foorc', '.signal', 'Library', 'snap']);
  expect(hiddenIn(home, join(home, '.signal'))).not.toContain('.signal');
  expect(namesShownInHome(home, [])).toEqual(['data']);
  expect(namesShownInHome(home, [{ value: home, from: '--deny-read' }])).toEqual([]);
});

test('what a link of the user leads to is hidden with it', () => {
  const home = homeWith('dots/bashrc', '.bashrc -> dots/bashrc', '.gitconfig -> dots/gitconfig');
  writeFileSync(join(home, 'dots/gitconfig'), '');
  symlinkSync(home, join(home, '.home'));
  symlinkSync('/usr/share', join(home, '.share'));
  symlinkSync('gone', join(home, '.gone'));
  expect(hiddenIn(home)).toEqual(['.gone', 'dots/bashrc']);
});

test('a folder from which a needed place leads out is hidden entry by entry', () => {
  const home = homeWith('dots/git/ignore', '.config/git -> ../dots/git', '.config/other/token');
  expect(hiddenIn(home)).toEqual(['.config/other']);
});

test('a needed place behind two links stays, and a link that leads around ends', () => {
  const home = homeWith('dots/config/other', 'dots/git/config', '.config -> dots/config');
  symlinkSync('../git', join(home, 'dots/config/git'));
  symlinkSync('.', join(home, 'dots/config/around'));
  expect(hiddenIn(home, join(home, 'dots/git'))).toEqual(['dots/config/other']);
});

test('a link into a temporary folder hides what is there, and not the folder', () => {
  const home = homeWith('data/x');
  const beside = homeWith('key');
  symlinkSync(beside, join(home, '.beside'));
  symlinkSync('/tmp', join(home, '.tmp'));
  expect(hiddenIn(home)).toEqual([beside]);
});

test('a folder of PATH is judged by what it leads to', () => {
  const home = homeWith('.dots/bin/tool', '.whole/key', 'bin -> .dots/bin', 'all -> .whole');
  const link = `${home}-link`;
  symlinkSync(home, link);
  onTestFinished(() => rmSync(link));
  const searched = [`${home}/bin`, `${home}/all`, `${link}/.whole`].join(':');
  expect(
    shownPlaces({ home, hidden: [], places: [], ofGit: [], path: searched, isOfUser: () => true }),
  ).toEqual([join(home, '.dots/bin')]);
});

test('what is on PATH, what git names and what the task is about can be read', () => {
  const home = homeWith(
    ...[
      '.tool/bin/run',
      '.tool/lib/part',
      '.tool/key',
      '.whole/run',
      '.ssh/bin/run',
      '.git-things/ignore',
      'go/bin/x',
    ],
    ...['.dots/repo/file', '.cargo/bin/cargo', 'data/prompt.md', 'other/prompt.md'],
  );
  const at = (name: string): string => join(home, name);
  const shown = shownPlaces({
    home,
    hidden: [at('data')],
    places: [at('.dots/repo'), at('data/prompt.md'), at('other/prompt.md')],
    ofGit: [at('.git-things/ignore'), at('.gone')],
    path: [at('.tool/bin'), at('.whole'), at('.ssh/bin'), at('go/bin'), '/usr/bin'].join(':'),
    isOfUser: () => true,
  });
  expect(shown.map((place) => place.replace(`${home}/`, '')).sort()).toEqual([
    ...['.cargo', '.dots/repo', '.git-things/ignore', '.tool/bin', '.tool/lib', 'data/prompt.md'],
  ]);
});

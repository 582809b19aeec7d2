import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { DONE, ran } from '../helpers/past-task.ts';
import { gitIn } from '../helpers/repository.ts';
import type { Scene } from '../helpers/scene.ts';

// An agent writes the refs and the objects of git; what ralph does is decided by neither.

const CHECK = ['--verify', 'sh check.sh'];
const FILES = { 'src.txt': 'broken\n', 'check.sh': 'grep -q fixed src.txt\n', 'sub/a.txt': 'a\n' };
const GUTTED = 'echo true > check.sh';
const HONEST = 'echo fixed > src.txt';

/** A task of two iterations that is not done yet; `resume` has the agent claim that it is. */
async function twoIterations(first: string) {
  const { scene, git } = await ran({
    files: FILES,
    shells: [first, 'echo 2 > second.txt'],
    isDone: false,
    more: [{ text: DONE }, { text: DONE }],
    args: CHECK,
  });
  const resume = () => scene.ralph(['resume', 't', '--max-iterations', '4', '--delay', '0']);
  return { scene, git, resume, again: () => scene.ralph(['proof', 't', '--again']) };
}

const shellIn = (scene: Scene, command: string) =>
  gitIn(scene.folder)('-c', `alias.x=!${command}`, 'x');

describe('a start that somebody has replaced', () => {
  test.for([
    ['by the ref of another snapshot', 'cat 1 > 0'],
    ['by no ref at all', 'rm 0'],
  ])('%s proves nothing', async ([, forgery = '']) => {
    const { scene, resume, again } = await twoIterations(GUTTED);
    shellIn(scene, `cd .git/${scene.snapshot('')} && ${forgery}`);
    const { stderr } = await resume();
    expect(stderr).toContain('check.sh changed');
    expect(stderr).not.toMatch(/: proven/);
    expect(stderr).toMatch(/refs\/ralph\/t@\w+\/0 (?:names another commit|was gone)/);
    expect((await again()).exitCode).not.toBe(0);
  });

  test('by removing what ralph knows of it proves nothing', async () => {
    const { scene, resume } = await twoIterations(GUTTED);
    rmSync(join(scene.folder, '.ralph_state/t/snapshots.json'));
    const { stderr } = await resume();
    expect(stderr).toContain('there is no snapshot from before the task');
    expect(stderr).not.toMatch(/: proven/);
  });

  test('and changed ids are not believed', async () => {
    const { scene, resume } = await twoIterations(GUTTED);
    const file = join(scene.folder, '.ralph_state/t/snapshots.json');
    const text = readFileSync(file, 'utf8');
    const [, one = ''] = /"1","commit":"(\w+)"/.exec(text) ?? [];
    writeFileSync(file, text.replace(/("0","commit":")\w+/, `$1${one}`));
    const { exitCode, stderr } = await resume();
    expect(stderr).toContain('snapshots.json');
    expect(exitCode).toBe(1);
  });
});

test('an honest task is proven after git gc and git pack-refs', async () => {
  const { scene, git, resume, again } = await twoIterations(HONEST);
  git('gc', '-q');
  git('pack-refs', '--all');
  expect(existsSync(join(scene.folder, '.git', scene.snapshot(0)))).toBe(false);
  const { stderr, exitCode } = await resume();
  expect(stderr).toMatch(/proven/);
  expect(stderr).not.toContain('not proven');
  expect(exitCode).toBe(0);
  expect((await again()).exitCode).toBe(0);
});

/** Puts another content under the id of an object. */
function forge(scene: Scene, id: string, like: string): void {
  const git = gitIn(scene.folder);
  const type = git('cat-file', '-t', like);
  const content = Buffer.from(
    git('-c', `alias.x=!git cat-file ${type} ${like} | base64`, 'x'),
    'base64',
  );
  const file = join(scene.folder, '.git/objects', id.slice(0, 2), id.slice(2));
  mkdirSync(join(file, '..'), { recursive: true });
  if (existsSync(file)) chmodSync(file, 0o600);
  writeFileSync(
    file,
    deflateSync(Buffer.concat([Buffer.from(`${type} ${content.length}\0`), content])),
  );
}

describe('an object of the start with another content', () => {
  test.for<readonly [what: string, where: (git: ReturnType<typeof gitIn>) => readonly string[]]>([
    ['a loose blob', () => ['check.sh']],
    ['a loose tree', () => ['']],
    [
      'a packed blob',
      (git) => {
        git('gc', '-q', '--prune=now');
        return ['check.sh'];
      },
    ],
  ])('%s proves nothing, and undo leaves the file alone', async ([, where]) => {
    const { scene, git, resume } = await twoIterations(GUTTED);
    const [path = ''] = where(git);
    const idOf = (snapshot: number) => git('rev-parse', `${scene.snapshot(snapshot)}:${path}`);
    const [was, is] = [idOf(0), idOf(1)];
    // Git prefers what is packed to what is loose.
    const packs = join(scene.folder, '.git/objects/pack');
    if (readdirSync(packs).length > 0)
      git(
        '-c',
        `alias.x=!mkdir -p .git/old && mv .git/objects/pack/* .git/old/ && for p in .git/old/*.pack; do git unpack-objects -q < "$p"; done`,
        'x',
      );
    forge(scene, was, is);
    const undo = await scene.ralph(['undo', 't', '1', '--yes']);
    expect(scene.read('check.sh')).toBe('true\n');
    expect(`${undo.stdout}${undo.stderr}`).toMatch(path === '' ? /missing|snapshot/ : /check\.sh/);
    const { stderr } = await resume();
    expect(stderr).not.toMatch(/: proven/);
    expect(stderr).toMatch(/not what its id says|check\.sh changed|missing/);
  });
});

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { EXIT_EXHAUSTED, iterations } from '../scene.js';
import { time, timeInTurn } from '../timing.js';

/** @typedef {import('../rows.js').Bench} Bench */
/** @typedef {import('../scene.js').Scene} Scene */

const FILES_A_FOLDER = 100;

/**
 * What looking at the files adds to an iteration, before it and after it: iterations of an agent that
 * does nothing, with a pattern over 10,000 files and without one.
 */
export function glob(/** @type {Bench} */ { scene, runs }) {
  const tree = join(scene.root, 'ten-thousand');
  writeTree(tree, 10_000);
  return [{ values: added(scene, runs, { cwd: tree, words: ['--watch-glob', '**/*.md'] }) }];
}

/** The same in a git work tree of 50,000 files, a few of them changed, against one outside git. */
export function git(/** @type {Bench} */ { scene, runs }) {
  const tree = join(scene.root, 'fifty-thousand');
  commitTree(scene, tree, 50_000);
  const run = (/** @type {string[]} */ ...args) => scene.program(['git', ...args], tree);
  writeFileSync(join(tree, 'folder-0', 'file-0.md'), 'Changed.\n');
  writeFileSync(join(tree, 'new.md'), 'New.\n');
  const status = timeInTurn(runs, { status: run('--no-optional-locks', 'status', '--porcelain') });
  return [
    { values: added(scene, runs, { cwd: tree, words: [] }) },
    { values: status.map((round) => round.status) },
  ];
}

/** A git work tree with so many files in one commit. */
export function commitTree(
  /** @type {Scene} */ scene,
  /** @type {string} */ tree,
  /** @type {number} */ files,
) {
  writeTree(tree, files);
  const run = (/** @type {string[]} */ ...args) => scene.program(['git', ...args], tree);
  const name = ['-c', 'user.name=bench', '-c', 'user.email=bench@localhost'];
  time(run('init', '--quiet'));
  time(run('add', '.'));
  time(run(...name, 'commit', '--quiet', '--message', 'All of it'));
}

/** Milliseconds an iteration: in the folder with the words, less the same in an empty one without. */
function added(
  /** @type {Scene} */ scene,
  /** @type {number} */ runs,
  /** @type {{ cwd: string, words: readonly string[] }} */ { cwd, words },
) {
  const count = 5;
  const of = (/** @type {number} */ n, /** @type {boolean} */ isIn) =>
    scene.run({
      agent: scene.idleAgent,
      words: [...iterations(n), ...(isIn ? words : [])],
      cwd: isIn ? cwd : scene.empty,
      exitCode: EXIT_EXHAUSTED,
    });
  const rounds = timeInTurn(runs, {
    long: of(count + 1, true),
    short: of(1, true),
    outsideLong: of(count + 1, false),
    outsideShort: of(1, false),
  });
  return rounds.map(
    ({ long, short, outsideLong, outsideShort }) =>
      (long - short - (outsideLong - outsideShort)) / count,
  );
}

/** Files of a line each, a hundred in a folder. */
function writeTree(/** @type {string} */ root, /** @type {number} */ files) {
  for (let folder = 0; folder < files / FILES_A_FOLDER; folder += 1) {
    const place = join(root, `folder-${folder}`);
    mkdirSync(place, { recursive: true });
    for (let file = 0; file < FILES_A_FOLDER; file += 1) {
      writeFileSync(join(place, `file-${file}.md`), `This is file ${file} of ${folder}.\n`);
    }
  }
}

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { time } from '../timing.js';

/** @typedef {import('../scene.js').Scene} Scene */

const FILES_A_FOLDER = 100;

/** A git work tree with so many files in one commit. */
export function commitTree(
  /** @type {Scene} */ scene,
  /** @type {string} */ tree,
  /** @type {number} */ files,
) {
  writeTree(tree, files);
  commitAll(scene, tree);
}

/** Makes a folder a git work tree, with all that is in it in one commit. */
export function commitAll(/** @type {Scene} */ scene, /** @type {string} */ tree) {
  const run = (/** @type {string[]} */ ...args) => scene.program(['git', ...args], tree);
  const name = ['-c', 'user.name=bench', '-c', 'user.email=bench@localhost'];
  time(run('init', '--quiet'));
  // An auto gc would run on beside what is measured.
  time(run('config', 'gc.auto', '0'));
  time(run('add', '.'));
  time(run(...name, 'commit', '--quiet', '--message', 'All of it'));
  // Git looks at the content of what was written in the second in which the index was.
  time(scene.program(['sleep', '1.1'], tree));
  time(run('update-index', '--force-write-index'));
}

/** Files of a line each, a hundred in a folder. */
export function writeTree(/** @type {string} */ root, /** @type {number} */ files) {
  for (let folder = 0; folder < files / FILES_A_FOLDER; folder += 1) {
    const place = join(root, `folder-${folder}`);
    mkdirSync(place, { recursive: true });
    for (let file = 0; file < FILES_A_FOLDER; file += 1) {
      writeFileSync(join(place, `file-${file}.md`), `This is file ${file} of ${folder}.\n`);
    }
  }
}

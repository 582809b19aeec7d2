import { loop } from './rows/between-iterations.js';
import { books, stateFile } from './rows/books.js';
import { commands, readOnly } from './rows/commands.js';
import { inGit } from './rows/in-git.js';
import { lists } from './rows/lists.js';
import { git, glob } from './rows/looking.js';
import { checkOutput } from './rows/output.js';
import { proof } from './rows/proof.js';
import { snapshots } from './rows/snapshots.js';
import { oneIteration, version } from './rows/start-up.js';
import { stream } from './rows/stream.js';

/**
 * What a measurement is given.
 * @typedef {{
 *   readonly scene: import('./scene.js').Scene,
 *   readonly runs: number,
 *   readonly quick: boolean,
 * }} Bench
 */

/**
 * One figure: what it is, and what it is held to (by its median). Without a goal it is there to be
 * known: a part of another figure, or what the machine itself takes for the same.
 * @typedef {{
 *   readonly what: string,
 *   readonly unit: 'ms' | 'MB' | 'MB/s' | 'kB' | 'processes',
 *   readonly atMost?: number,
 *   readonly atLeast?: number,
 * }} Figure
 */

/**
 * Figures that are measured together. `measure` gives the values of each, in the same order; no
 * values at all where ralph has not yet what is to be measured.
 * @typedef {{
 *   readonly name: string,
 *   readonly figures: readonly Figure[],
 *   readonly measure: (bench: Bench) => readonly { readonly values: readonly number[] }[],
 * }} Row
 */

/** @type {readonly Row[]} */
export const ROWS = [
  {
    name: 'version',
    figures: [{ what: '`ralph --version`, over bare node', unit: 'ms', atMost: 15 }],
    measure: version,
  },
  {
    name: 'commands',
    figures: [
      { what: '`ralph status`, processor time over bare node', unit: 'ms', atMost: 40 },
      { what: '`ralph completion bash`', unit: 'ms', atMost: 45 },
      { what: '`ralph --help`', unit: 'ms', atMost: 40 },
      { what: 'each Tab', unit: 'ms', atMost: 8 },
    ],
    measure: commands,
  },
  {
    name: 'read-only',
    figures: [
      { what: 'a run where compiled code cannot be kept, over one where it can', unit: 'ms' },
    ],
    measure: readOnly,
  },
  {
    name: 'one-iteration',
    figures: [
      { what: 'a run of one iteration, over bare node and its agent', unit: 'ms', atMost: 70 },
    ],
    measure: oneIteration,
  },
  {
    name: 'loop',
    figures: [
      { what: 'an iteration at --delay 0, over a loop in sh', unit: 'ms', atMost: 5 },
      { what: '– of it fsync', unit: 'ms' },
      { what: '– the loop in sh itself', unit: 'ms' },
    ],
    measure: loop,
  },
  {
    name: 'stream',
    figures: [
      { what: 'peak memory, 400 MB of stream-json', unit: 'MB', atMost: 70 },
      { what: '– over that of 4 MB', unit: 'MB', atMost: 6 },
      { what: 'stream-json, read and logged', unit: 'MB/s', atLeast: 150 },
      { what: '– the same through cat into a file', unit: 'MB/s' },
    ],
    measure: stream,
  },
  {
    name: 'glob',
    figures: [{ what: 'completion check, glob over 10,000 files', unit: 'ms', atMost: 75 }],
    measure: glob,
  },
  {
    name: 'git',
    figures: [
      { what: 'progress in a git tree of 50,000 files', unit: 'ms', atMost: 200 },
      { what: '– a plain `git status` of it', unit: 'ms' },
    ],
    measure: git,
  },
  {
    name: 'in-git',
    figures: [
      {
        what: 'a run in a git work tree of 1,000 files, processor time over bare node and its agent',
        unit: 'ms',
        atMost: 95,
      },
      { what: 'git in such a run', unit: 'processes', atMost: 10 },
      { what: 'git in an iteration with --commit', unit: 'processes', atMost: 25 },
    ],
    measure: inGit,
  },
  {
    name: 'snapshots',
    figures: [
      { what: 'a snapshot of 1,000 files, 1 changed', unit: 'ms', atMost: 40 },
      { what: 'a snapshot of 50,000 files, 20 changed', unit: 'ms', atMost: 250 },
      { what: '– the first one', unit: 'ms', atMost: 800 },
      { what: '– one where nothing has changed', unit: 'ms' },
      { what: '– a plain `git status` of it', unit: 'ms' },
      { what: 'git in a snapshot', unit: 'processes', atMost: 5 },
      { what: 'git where nothing has changed', unit: 'processes', atMost: 3 },
    ],
    measure: snapshots,
  },
  {
    name: 'proof',
    figures: [
      { what: 'examining a claim among 1,000 files, beside its checks', unit: 'ms', atMost: 50 },
      { what: '– once for a task, of the start', unit: 'ms' },
      { what: 'examining a claim among 50,000 files, 20 changed', unit: 'ms', atMost: 300 },
      { what: '– once for a task, of the start', unit: 'ms' },
    ],
    measure: proof,
  },
  {
    name: 'check-output',
    figures: [
      {
        what: 'a check that prints 100 MB, processor time over a silent one',
        unit: 'ms',
        atMost: 900,
      },
    ],
    measure: checkOutput,
  },
  {
    name: 'lists',
    figures: [
      {
        what: 'an item of 1,000, processor time over one of a short list',
        unit: 'ms',
        atMost: 50,
      },
      { what: 'a dry run of 5,000 items, over `--version`', unit: 'ms', atMost: 1000 },
    ],
    measure: lists,
  },
  {
    name: 'books',
    figures: [
      {
        what: '`ralph status` over 10,000 tasks, processor time over `--version`',
        unit: 'ms',
        atMost: 100,
      },
      { what: '`ralph report` over them', unit: 'ms', atMost: 1500 },
    ],
    measure: books,
  },
  {
    name: 'state-file',
    figures: [{ what: 'state file, 1,000 iterations of 1 MB each', unit: 'kB', atMost: 50 }],
    measure: stateFile,
  },
];

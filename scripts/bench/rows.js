import { loop } from './rows/between-iterations.js';
import { books, stateFile } from './rows/books.js';
import { commands, readOnly } from './rows/commands.js';
import { inGit } from './rows/in-git.js';
import { manyFiles, muchContent } from './rows/large-tree.js';
import { lists } from './rows/lists.js';
import { glob } from './rows/looking.js';
import { checkOutput } from './rows/output.js';
import { proof } from './rows/proof.js';
import { snapshots } from './rows/snapshots.js';
import { oneIteration } from './rows/start-up.js';
import { stream } from './rows/stream.js';
import { waiting } from './rows/waiting.js';

/**
 * What a measurement is given.
 * @typedef {{
 *   readonly scene: import('./scene.js').Scene,
 *   readonly runs: number,
 *   readonly quick: boolean,
 * }} Bench
 */

/**
 * One figure: what it is, what it is measured over, and what it is held to (by its median). Without a goal it is there to
 * be known.
 * @typedef {{
 *   readonly what: string,
 *   readonly unit: 'ms' | 'MB' | 'MB/s' | 'kB' | 'processes' | '% of a core',
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
    name: 'commands',
    figures: [
      { what: '`ralph --version`, processor time over bare node', unit: 'ms', atMost: 3 },
      { what: '`ralph status`, over the same', unit: 'ms', atMost: 40 },
      { what: '`ralph completion bash`, over the same', unit: 'ms', atMost: 45 },
      { what: '`ralph --help`, over the same', unit: 'ms', atMost: 40 },
      { what: 'each Tab, over the same', unit: 'ms', atMost: 45 },
    ],
    measure: commands,
  },
  {
    name: 'one-iteration',
    figures: [
      {
        what: 'a run outside git, processor time over bare node and its agent',
        unit: 'ms',
        atMost: 55,
      },
    ],
    measure: oneIteration,
  },
  {
    name: 'read-only',
    figures: [
      {
        what: 'where compiled code cannot be kept, processor time over a run where it can',
        unit: 'ms',
        atMost: 10,
      },
    ],
    measure: readOnly,
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
    name: 'loop',
    figures: [
      {
        what: 'an iteration outside git, processor time over one of a loop in sh',
        unit: 'ms',
        atMost: 5,
      },
      { what: 'an iteration in git, over the same', unit: 'ms', atMost: 11 },
    ],
    measure: loop,
  },
  {
    name: 'many-files',
    figures: [
      {
        what: 'a run among 200,000 tracked files, processor time over bare node and its agent',
        unit: 'ms',
        atMost: 2000,
      },
      { what: '– its peak memory', unit: 'MB', atMost: 90 },
    ],
    measure: manyFiles,
  },
  {
    name: 'much-content',
    figures: [
      {
        what: 'a run where git tracks 600 MB, processor time over bare node and its agent',
        unit: 'ms',
        atMost: 150,
      },
    ],
    measure: muchContent,
  },
  {
    name: 'waiting',
    figures: [
      {
        what: 'waiting for a silent agent, 100 processes on the machine, over a run that need not wait',
        unit: '% of a core',
        atMost: 0.5,
      },
      { what: '– 700 processes', unit: '% of a core', atMost: 1 },
    ],
    measure: waiting,
  },
  {
    name: 'stream',
    figures: [
      { what: 'peak memory, 400 MB of stream-json', unit: 'MB', atMost: 70 },
      { what: '– over that of 4 MB', unit: 'MB', atMost: 6 },
      { what: 'stream-json, read and logged', unit: 'MB/s', atLeast: 150 },
    ],
    measure: stream,
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
    name: 'glob',
    figures: [
      {
        what: 'an iteration that watches 10,000 files, over one that watches none',
        unit: 'ms',
        atMost: 75,
      },
    ],
    measure: glob,
  },
  {
    name: 'snapshots',
    figures: [
      { what: 'a snapshot of 1,000 files, 1 changed', unit: 'ms', atMost: 40 },
      { what: 'a snapshot of 50,000 files, 20 changed', unit: 'ms', atMost: 250 },
      { what: '– the first one', unit: 'ms', atMost: 800 },
    ],
    measure: snapshots,
  },
  {
    name: 'proof',
    figures: [
      { what: 'examining a claim among 1,000 files, beside its checks', unit: 'ms', atMost: 50 },
      { what: 'examining a claim among 50,000 files, 20 changed', unit: 'ms', atMost: 300 },
    ],
    measure: proof,
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
      { what: '`ralph report` over them, over the same', unit: 'ms', atMost: 1500 },
      { what: '– its peak memory', unit: 'MB', atMost: 120 },
    ],
    measure: books,
  },
  {
    name: 'state-file',
    figures: [{ what: 'state file, 1,000 iterations of 1 MB each', unit: 'kB', atMost: 50 }],
    measure: stateFile,
  },
];

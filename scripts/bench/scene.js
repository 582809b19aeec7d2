import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the package. */
export const INSTALLED = fileURLToPath(new URL('../../', import.meta.url));
const RALPH = join(INSTALLED, 'bin', 'ralph.js');
const PEAK_MEMORY = fileURLToPath(new URL('peak-memory.cjs', import.meta.url));

/** What an agent says that has done its work, and one that has not. */
const RESULT = (/** @type {string} */ text) =>
  JSON.stringify({
    type: 'result',
    subtype: 'success',
    is_error: false,
    num_turns: 1,
    result: text,
    total_cost_usd: 0,
  });

/**
 * A folder in which everything happens, outside any git work tree, and the commands in it.
 * @typedef {ReturnType<typeof makeScene>} Scene
 */
export function makeScene() {
  const root = mkdtempSync(join(realpathSync(tmpdir()), 'ralph-bench-'));
  const home = join(root, 'home');
  const empty = join(root, 'empty');
  mkdirSync(home);
  mkdirSync(empty);
  const env = { PATH: `${dirname(process.execPath)}:/usr/bin:/bin`, HOME: home, LC_ALL: 'C' };
  let vaults = 0;

  /** A program of one line of shell, the lightest there is everywhere. */
  const script = (/** @type {string} */ name, /** @type {string} */ line) => {
    const file = join(root, name);
    writeFileSync(file, `#!/bin/sh\n${line}\n`);
    chmodSync(file, 0o755);
    return file;
  };
  const saying = (/** @type {string} */ name, /** @type {string} */ text) =>
    script(name, `echo '${RESULT(text)}'`);

  return {
    root,
    env,
    /** A folder with nothing in it, to be worked in. */
    empty,
    script,
    /** Completes at once. */
    doneAgent: saying('done-agent', 'TASK_COMPLETE'),
    /** Ends well at once, and completes nothing. */
    idleAgent: saying('idle-agent', 'Not yet.'),

    /** Bare node, the floor of everything that is written in it. */
    node: () => command([process.execPath, '-e', '0'], empty, env),

    /** Any other program. */
    program: (/** @type {[string, ...string[]]} */ argv, cwd = empty) => command(argv, cwd, env),

    /**
     * `ralph` with some words.
     * @param {readonly string[]} words
     * @param {{ cwd?: string, exitCode?: number }} options
     */
    ralph: (words, { cwd = empty, exitCode = 0 } = {}) =>
      command([process.execPath, RALPH, ...words], cwd, env, exitCode),

    /**
     * `ralph run` in a vault of its own, which is removed after it.
     * @param {{
     *   agent: string, words?: readonly string[], cwd?: string, exitCode?: number,
     *   env?: NodeJS.ProcessEnv,
     * }} options
     */
    run({ agent, words = [], cwd = empty, exitCode = 0, env: further = {} }) {
      const vault = join(root, `vault-${++vaults}`);
      const flags = ['--quiet', '--prompt', 'Go.', '--claude-bin', agent, '--vault', vault];
      // Said on purpose, or ralph tells what it means that nothing is allowed.
      const allowed = ['--permission-mode', 'plan'];
      const argv = [RALPH, 'run', ...flags, ...allowed, ...words];
      return {
        ...command([process.execPath, ...argv], cwd, { ...env, ...further }, exitCode),
        vault,
        before: () => mkdirSync(vault, { recursive: true }),
        after: () => rmSync(vault, { recursive: true, force: true }),
      };
    },

    /**
     * The same command of ralph, and the list to which it adds its peak memory, in MB, each time it has run.
     * @param {import('./timing.js').Command} command
     */
    withPeaks({ argv: [node, ...words], env, after, ...rest }) {
      const file = join(root, 'peak');
      /** @type {number[]} */
      const peaks = [];
      /** @type {import('./timing.js').Command} */
      const noting = {
        ...rest,
        argv: [node, '--require', PEAK_MEMORY, ...words],
        env: { ...env, BENCH_PEAK_FILE: file },
        after() {
          peaks.push(Number(readFileSync(file, 'utf8')) / 1e6);
          after?.();
        },
      };
      return { command: noting, peaks };
    },

    remove: () => rmSync(root, { recursive: true, force: true, maxRetries: 5 }),
  };
}

/** What `ralph run` exits with when the iterations are used up. */
export const EXIT_EXHAUSTED = 3;

/** Flags for iterations one after another that nothing but their number ends. */
export function iterations(/** @type {number} */ count) {
  return ['--max-iterations', String(count), '--delay', '0s', '--no-progress-limit', '0'];
}

/**
 * @param {[string, ...string[]]} argv
 * @param {string} cwd
 * @param {NodeJS.ProcessEnv} env
 * @returns {import('./timing.js').Command}
 */
function command(argv, cwd, env, exitCode = 0) {
  return { argv, cwd, env, exitCode };
}

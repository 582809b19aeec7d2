import { spawnSync } from 'node:child_process';

/**
 * What is run and timed: a program with its arguments, and what must hold for the time to count.
 * @typedef {{
 *   argv: readonly [string, ...string[]],
 *   cwd: string,
 *   env: NodeJS.ProcessEnv,
 *   exitCode?: number,
 *   before?: () => void,
 *   after?: () => void,
 * }} Command
 */

/** The median of several values, with the smallest and the largest of them. */
export function summary(/** @type {readonly number[]} */ values) {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (/** @type {number} */ index) => sorted[index] ?? Number.NaN;
  const middle = (sorted.length - 1) / 2;
  return {
    median: (at(Math.floor(middle)) + at(Math.ceil(middle))) / 2,
    min: at(0),
    max: at(sorted.length - 1),
    runs: sorted.length,
  };
}

/**
 * Runs a command to its end and returns the milliseconds it took, its start included. Throws where
 * it ended otherwise than it should: what did not do its work has no time.
 * @param {Command} command
 */
export function time({ argv: [file, ...args], cwd, env, exitCode = 0, before, after }) {
  before?.();
  const startedAt = process.hrtime.bigint();
  // Its output goes where it costs least; what it says of a failure is wanted.
  const end = spawnSync(file, args, { cwd, env, stdio: ['ignore', 'ignore', 'pipe'] });
  const ms = Number(process.hrtime.bigint() - startedAt) / 1e6;
  if (end.status !== exitCode) {
    const why = end.error?.message ?? `exit code ${end.status}, not ${exitCode}: ${end.stderr}`;
    throw new Error(`${[file, ...args].join(' ')}\n${why}`);
  }
  after?.();
  return ms;
}

/**
 * Times commands in turn, round by round, so that a machine that grows slower does so for all of
 * them; every other round goes backwards. One round before the first warms up and is not counted.
 * Returns the milliseconds of each round by the names of the commands.
 * @template {string} Name
 * @param {number} runs
 * @param {Readonly<Record<Name, Command>>} commands
 * @returns {Record<Name, number>[]}
 */
export function timeInTurn(runs, commands) {
  const names = /** @type {Name[]} */ (Object.keys(commands));
  const rounds = [];
  for (let round = 0; round <= runs; round += 1) {
    const order = round % 2 === 0 ? names : names.toReversed();
    const times = /** @type {Record<Name, number>} */ ({});
    for (const name of order) times[name] = time(commands[name]);
    if (round > 0) rounds.push(times);
  }
  return rounds;
}

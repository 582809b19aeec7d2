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
 * Runs a command as `time` does, and returns the milliseconds of processor time that it and all that it started took:
 * unlike the time on the clock, these do not grow on a machine that has other work.
 * @param {Command} command
 */
function cpuTime({ argv, cwd, env, exitCode = 0, before, after }) {
  before?.();
  const line = '"$@" >/dev/null 2>/dev/null; code=$?; times; exit $code';
  // The `times` of other shells counts in hundredths of a second.
  const end = spawnSync('/bin/bash', ['-c', line, 'bash', ...argv], { cwd, env, encoding: 'utf8' });
  if (end.status !== exitCode) throw new Error(`${argv.join(' ')}\nexit code ${end.status}`);
  after?.();
  // The second line is that of the children: `0m0.120s 0m0.040s`.
  const [, user, system] = /\n(\S+) (\S+)/.exec(end.stdout) ?? [];
  return [user, system].reduce((sum, text) => {
    const [, minutes, seconds] = /(\d+)m([\d.]+)s/.exec(text ?? '') ?? [];
    return sum + (Number(minutes) * 60 + Number(seconds)) * 1000;
  }, 0);
}

/**
 * Measures as `timeInTurn` does, but processor time.
 * @template {string} Name
 * @param {number} runs
 * @param {Readonly<Record<Name, Command>>} commands
 */
export function cpuTimeInTurn(runs, commands) {
  return timeInTurn(runs, commands, cpuTime);
}

/**
 * Times commands in turn, round by round, so that a machine that grows slower does so for all of
 * them; every other round goes backwards. One round before the first warms up and is not counted.
 * Returns the milliseconds of each round by the names of the commands.
 * @template {string} Name
 * @param {number} runs
 * @param {Readonly<Record<Name, Command>>} commands
 * @param {(command: Command) => number} measure
 * @returns {Record<Name, number>[]}
 */
export function timeInTurn(runs, commands, measure = time) {
  const names = /** @type {Name[]} */ (Object.keys(commands));
  const rounds = [];
  for (let round = 0; round <= runs; round += 1) {
    const order = round % 2 === 0 ? names : names.toReversed();
    const times = /** @type {Record<Name, number>} */ ({});
    for (const name of order) times[name] = measure(commands[name]);
    if (round > 0) rounds.push(times);
  }
  return rounds;
}

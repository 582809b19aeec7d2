// What the sandbox costs, beside the same without it: npm run bench:sandbox. Needs Linux, and what `npm run
// test:sandbox` needs. The figures are ratios and differences within one run; what misses its goal is marked, and the
// exit code is 1.
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setup } from '../../test/helpers/install-sandbox.ts';
import { asUser, driver, readDriven, TEST_USER } from '../../test/helpers/sandbox-scene.ts';
import { writeStream } from './stream-json.js';
import { summary } from './timing.js';

const RUNS = 5;
const LONG = 11;
const STREAM_BYTES = 400e6;

const removeInstallation = await setup();
// The user of the tests has to reach it.
const base = mkdtempSync(join(tmpdir(), 'ralph-bench-'));
const [home, work, bin] = ['home', 'work', 'bin'].map((name) => join(base, name)) as [
  ...[string, string, string],
];
const env = {
  ...{ PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C', HOME: home, BASE: base, WORK: work },
  GIT_CONFIG_NOSYSTEM: '1',
};
let hasMissed = false;
try {
  prepare();
  const once = inTurn(
    () => run('agent', 1),
    () => run('agent', 1, '--sandbox'),
  );
  const long = inTurn(
    () => run('agent', LONG),
    () => run('agent', LONG, '--sandbox'),
  );
  const added = ({ without, within }: Pair): number => within - without;
  const addedByRun = once.map(added);
  print('a run of one iteration takes longer by', addedByRun, { unit: 's', goal: 0.8 });
  const each = long.map((pair, at) => (added(pair) - (addedByRun[at] ?? 0)) / (LONG - 1));
  print('each further iteration takes longer by', each, { unit: 's', goal: 0.15 });

  writeStream(join(base, 'stream.jsonl'), STREAM_BYTES);
  const streamed = inTurn(
    () => run('stream', 1),
    () => run('stream', 1, '--sandbox'),
  );
  const start = {
    without: summary(once.map(({ without }) => without)).median,
    within: summary(once.map(({ within }) => within)).median,
  };
  const ratios = streamed.map(
    ({ without, within }) => (within - start.within) / (without - start.without),
  );
  print('400 MB of output, the start left aside, take so many times as long', ratios, {
    unit: '',
    goal: 1.1,
  });

  for (const [name, command] of Object.entries(runners())) {
    const pairs = Array.from({ length: RUNS }, () => timeRunner(command));
    const over = pairs.map(({ without, within }) => within - (1.3 * without + 0.2));
    print(`${name} takes longer than 1.3 times as long and 0.2 s by`, over, { unit: 's', goal: 0 });
  }
} finally {
  rmSync(base, { recursive: true, force: true, maxRetries: 5 });
  await removeInstallation();
}
process.exitCode = hasMissed ? 1 : 0;

/** A home, a repository, an agent that ends at once, and one that says 400 MB. */
function prepare(): void {
  for (const folder of [base, home, work, bin]) {
    mkdirSync(folder, { recursive: true });
    chmodSync(folder, 0o755);
    if (process.getuid?.() === 0) chownSync(folder, TEST_USER, TEST_USER);
  }
  writeProgram(
    'agent',
    `cat >/dev/null
words=working; [ "$RALPH_ITERATION" != "$RALPH_MAX_ITERATIONS" ] || words=TASK_COMPLETE
echo '{"type":"system","subtype":"init","session_id":"s","model":"m","tools":[]}'
echo '{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"'$words'","session_id":"s","total_cost_usd":0}'`,
  );
  writeProgram('stream', `exec cat '${base}/stream.jsonl'`);
  started(['/usr/bin/git', 'init', '-q', work]);
  const who = ['-c', 'user.name=n', '-c', 'user.email=n@example.com'];
  const commit = ['commit', '-q', '--allow-empty', '-m', 'first'];
  started(['/usr/bin/git', '-C', work, ...who, ...commit]);
}

function writeProgram(name: string, lines: string): void {
  writeFileSync(join(bin, name), `#!/bin/sh\n${lines}\n`, { mode: 0o755 });
}

/** Runs a command as the user of the tests, and returns the seconds it took. Throws if it does not end with 0. */
function started(command: readonly string[]): number {
  const [file = '', ...args] = asUser(command);
  const beganMs = performance.now();
  const end = spawnSync(file, args, { env, cwd: base, stdio: ['ignore', 'ignore', 'pipe'] });
  const seconds = (performance.now() - beganMs) / 1_000;
  if (end.status === 0) return seconds;
  throw new Error(`${command.join(' ')}\nexit code ${end.status}: ${end.error ?? end.stderr}`);
}

/** Runs an agent for so many iterations, and returns the seconds. */
function run(agent: string, iterations: number, ...more: readonly string[]): number {
  const place = process.env.RALPH_TEST_INSTALLATION ?? '';
  const ralph = join(place, 'node_modules', 'ralph-headless', 'bin', 'ralph.js');
  rmSync(join(work, '.ralph_state'), { recursive: true, force: true });
  return started([
    ...[process.execPath, ralph, 'run', '--prompt', 'Do it.', '--cwd', work, '--vault', work],
    ...['--agent-bin', join(bin, agent), '--delay', '0s', '--no-progress-limit', '0'],
    ...['--max-iterations', String(iterations), '--min-iterations', String(iterations)],
    ...['--iteration-timeout', '10m', '--no-prevent-sleep', '--quiet', ...more],
  ]);
}

/** Seconds of the same without the sandbox and within it. */
interface Pair {
  readonly without: number;
  readonly within: number;
}

/** Times both in turn, so that a machine that grows slower does so for both. The first pair warms up. */
function inTurn(without: () => number, within: () => number): readonly Pair[] {
  const pairs = Array.from({ length: RUNS + 1 }, () => ({ without: without(), within: within() }));
  return pairs.slice(1);
}

/** Test runners, each with a small project and its command. */
function runners(): Readonly<Record<string, string>> {
  writeFileSync(join(work, 'a.test.js'), "require('node:test').test('a', () => {})\n");
  writeFileSync(
    join(work, 'test_a.py'),
    'def test_a(tmp_path):\n    (tmp_path / "x").write_text("x")\n',
  );
  started(['/bin/sh', '-c', `cd '${work}' && /usr/bin/cargo init -q --lib --vcs none small`]);
  return {
    'node --test': `'${process.execPath}' --test`,
    pytest: '/usr/bin/pytest -q -p no:cacheprovider',
    'cargo test': '/usr/bin/cargo test -q --offline --manifest-path small/Cargo.toml',
  };
}

/** Times a command as a check in the sandbox, and without it, by the clock of the same shell. */
function timeRunner(command: string): Pair {
  const timed = `began=$(date +%s%N); { ${command}; } >/dev/null 2>&1 || exit 1; echo $(( $(date +%s%N) - began ))`;
  const scene = { base, home, work, env };
  const [file = '', ...args] = driver(scene, { scripts: [{ script: timed, as: 'check' }] });
  const end = spawnSync(file, args, { env, cwd: base, encoding: 'utf8' });
  const [ran] = readDriven(end.stdout).ran;
  if (ran?.code !== 0) throw new Error(`${command} failed in the sandbox: ${end.stdout}`);
  const [shell = '', ...words] = asUser(['/bin/sh', '-c', `cd '${work}' && { ${timed}; }`]);
  const outside = spawnSync(shell, words, { env, cwd: base, encoding: 'utf8' });
  if (outside.status !== 0) throw new Error(`${command} failed outside: ${outside.stderr}`);
  return { without: Number(outside.stdout) / 1e9, within: Number(ran.stdout) / 1e9 };
}

/** Prints the median with its goal, and marks it if it is missed. */
function print(
  what: string,
  values: readonly number[],
  { unit, goal }: { readonly unit: string; readonly goal: number },
): void {
  const { median, min, max } = summary(values);
  const isMissed = !(median <= goal);
  hasMissed ||= isMissed;
  const text = [median, min, max].map((each) => each.toFixed(2));
  console.log(
    `${what}: ${text[0]} ${unit} (${text[1]} to ${text[2]}), goal ${goal}${isMissed ? '  MISSED' : ''}`,
  );
}

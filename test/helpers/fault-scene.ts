import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import {
  differences,
  type FaultEnd,
  type FaultPlace,
  faultEnd,
  faultProblems,
  hasBegun,
  isTold,
  stateOf,
} from './fault-end.ts';
import type { FaultScenario } from './fault-scenarios.ts';
import { guardsOf } from './guard-of.ts';
import { livingIn } from './living-in.ts';
import { PATIENCE_MS } from './patience.ts';
import { fixture, until } from './processes.ts';
import { installReplayedClaude } from './replayed-claude.ts';
import { type RalphEnd, startRalph } from './run-ralph.ts';
import {
  aheadBy,
  type CallName,
  isWakeUp,
  killedBefore,
  readCalls,
  type TracedCall,
  tracedTo,
} from './traced-calls.ts';

/** Where it is played, once. */
interface Stage extends FaultPlace {
  readonly root: string;
  readonly home: string;
}

/** How a driver dies; null lives. */
export type Death =
  | null
  /** It lives, and its system calls are written to `log`. */
  | { readonly kind: 'traced'; readonly log: string }
  /** At a change to the file system: `12 before`, `12 after`, `12 torn`. */
  | { readonly kind: 'at'; readonly point: string }
  /** Before a system call, from outside by `strace`, which writes all up to it to `log`. */
  | { readonly kind: 'call'; readonly before: CallName; readonly log: string }
  /** So long after its start, alone or with its guard. */
  | { readonly kind: 'after'; readonly ms: number; readonly withGuard: boolean };

export interface Play {
  readonly end: FaultEnd;
  /** How many drivers there were, and how many of them were killed. */
  readonly drivers: number;
  readonly killed: number;
  /** How often the agent was called. */
  readonly calls: number;
  /** How long the last driver took. */
  readonly durationMs: number;
  readonly problems: readonly string[];
}

/** Plays a scenario below `root`. `deaths` tells how each driver dies, the run being number 0. */
export async function playFaults(
  root: string,
  scenario: FaultScenario,
  deaths: (driver: number) => Death,
): Promise<Play> {
  const [folder, home] = [join(root, 'work'), join(root, 'home')];
  for (const each of [folder, home]) mkdirSync(each, { recursive: true });
  const claude = installReplayedClaude(join(root, 'bin'), scenario.turns);
  const stage = { root, folder, home, claude };
  for (const [name, text] of Object.entries(scenario.files ?? {})) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  const said: string[] = [];
  const outputs = new Set<string>();
  let killed = 0;
  let isCron = scenario.isCron === true;
  const line = ['run', '--task-id', 't', ...scenario.args, ...(isCron ? ['--resume-if-open'] : [])];
  for (let driver = 0; driver < 200; driver += 1) {
    const command = isCron || !hasBegun(folder) ? line : ['resume', 't'];
    const words = await drive(stage, command, driver, deaths(driver));
    said.push(`${words.stdout}\n${words.stderr}`);
    if (words.stdout !== '') outputs.add(words.stdout);
    if (words.signal !== null) killed += 1;
    // Killed too often in one iteration, it has ended for good: only a person resumes it.
    if (isTold(folder) && stateOf(folder).exit_reason === 'interrupted') {
      isCron = false;
      continue;
    }
    // The next night begins anew where all was said and done: a kill at the exit changes nothing.
    const isOver = isCron && isTold(folder);
    if (words.signal !== null && !isOver) continue;
    // It waits for a person, who says yes.
    if (words.exitCode === 6 && approve(folder)) continue;
    if (!hasBegun(folder)) break;
    await until(
      () => [...livingIn(home), ...guardsOf(words.pid)].length === 0,
      () => `the death of ${JSON.stringify(livingIn(home))}`,
    );
    const problems = [...faultProblems(stage)];
    if (/bug in ralph|TypeError|Warning|(?<!API )Error:/.test(words.stderr))
      problems.push(words.stderr);
    return {
      end: faultEnd(stage, words.exitCode, [...outputs]),
      drivers: driver + 1,
      killed,
      calls: claude.calls().length,
      durationMs: words.durationMs,
      problems,
    };
  }
  throw new Error(`It did not come to an end:\n${said.slice(-3).join('\n--\n')}`);
}

/** What is otherwise than in a play that nothing disturbed, a line each. */
export async function compareFaults(
  root: string,
  scenario: FaultScenario,
  expected: Play,
  deaths: (driver: number) => Death,
): Promise<readonly string[]> {
  try {
    const { end, problems, calls, killed } = await playFaults(root, scenario, deaths);
    const found = [...differences(end, expected.end), ...problems];
    // A killed driver costs one call at most: more is a task that was started again.
    const most = expected.calls + killed - expected.killed;
    if (calls > most) found.push(`the agent was called ${calls} times, ${most} were due at most`);
    return found;
  } catch (error) {
    return [String(error)];
  }
}

/** Lets one driver drive the task to its end, or to the driver's. */
async function drive(
  { root, folder, home, claude }: Stage,
  command: readonly string[],
  driver: number,
  death: Death,
): Promise<RalphEnd & { pid: number }> {
  const env: Record<string, string> = { NODE_OPTIONS: `--require ${fixture('dies-at.cjs')}` };
  if (death?.kind === 'at') env.FAULT_AT = death.point;
  if (death === null) env.FAULT_POINTS = join(root, `points-${driver}`);
  const under = wordsBefore(death, root);
  // Each run makes the same calls, as far as that goes: one thread in the pool keeps to one order.
  if (under.length > 0) Object.assign(env, { UV_THREADPOOL_SIZE: '1', FAULT_FOLDER: root });
  const ahead = death?.kind === 'call' ? aheadBy(death.before) : 0;
  if (death?.kind === 'call' && ahead > 0) env.FAULT_AHEAD = `${death.before.call} ${ahead}`;
  const options = { path: [claude.dir], cwd: folder, home, env, under, timeoutMs: PATIENCE_MS };
  const ralph = await startRalph(command, options);
  if (death?.kind === 'after') {
    const timer = setTimeout(() => kill(ralph.pid, death.withGuard), death.ms);
    ralph.ended.finally(() => clearTimeout(timer)).catch(() => {});
  }
  return { ...(await ralph.ended), pid: ralph.pid };
}

function wordsBefore(death: Death, root: string): readonly string[] {
  if (death?.kind === 'traced') return tracedTo(death.log);
  return death?.kind === 'call' ? killedBefore(death.before, death.log, root) : [];
}

function kill(pid: number, withGuard: boolean): void {
  const guards = withGuard ? guardsOf(pid) : [];
  // The guard first, or it would be about its work at once.
  for (const each of [...guards, pid]) {
    try {
      process.kill(each, 'SIGKILL');
    } catch {
      // It has come to its end by itself.
    }
  }
}

/** Moves the request that waits to where an answer lies; false where there is none. */
function approve(folder: string): boolean {
  const pending = join(folder, 'Pending_Approval');
  const [request] = existsSync(pending) ? readdirSync(pending) : [];
  if (request === undefined) return false;
  mkdirSync(join(folder, 'Approved'), { recursive: true });
  renameSync(join(pending, request), join(folder, 'Approved', request));
  return true;
}

/** The system calls before which drivers can be killed, of all drivers of a play that nothing disturbs. */
export async function tracedCalls(
  root: string,
  scenario: FaultScenario,
): Promise<readonly (TracedCall & { readonly driver: number })[]> {
  const logOf = (driver: number): string => join(root, `calls-${driver}`);
  const deaths = (driver: number): Death => ({ kind: 'traced', log: logOf(driver) });
  const { drivers } = await playFaults(root, scenario, deaths);
  return range(scenario.firstVictim ?? 0, drivers).flatMap((driver) =>
    readCalls(logOf(driver), root)
      .filter((call) => !isWakeUp(call))
      .map((call) => ({ driver, ...call })),
  );
}

/** The changes to the file system of a driver that was let live, from 1. */
export function pointsOf(root: string, driver: number): readonly string[] {
  return readFileSync(join(root, `points-${driver}`), 'utf8')
    .split('\n')
    .slice(0, -1);
}

/** Numbers in [0, 1) that follow from a seed. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Does something for each of a list, a few at a time, in order. */
export async function eachOf<T>(
  list: readonly T[],
  atOnce: number,
  action: (one: T) => Promise<void>,
): Promise<void> {
  const rest = [...list];
  const worker = async (): Promise<void> => {
    for (let one = rest.shift(); one !== undefined; one = rest.shift()) await action(one);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

/** The whole numbers from one up to, and without, another. */
export function range(from: number, to: number): readonly number[] {
  return Array.from({ length: to - from }, (_, index) => from + index);
}

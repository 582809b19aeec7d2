import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { guardsOf } from './guard-of.ts';
import { livingIn } from './living-in.ts';
import { fixture, until } from './processes.ts';
import {
  installReplayedClaude,
  type ReplayedCall,
  type ReplayedClaude,
  type ShellTurn,
} from './replayed-claude.ts';
import { type RalphEnd, startRalph } from './run-ralph.ts';
import { type Json, jsonLines } from './scene.ts';

/** A task whose driver is killed again and again. */
export interface FaultScenario {
  readonly turns: readonly (ShellTurn | readonly [ShellTurn, ShellTurn])[];
  readonly args: readonly string[];
  /** Files of the vault that are there at first, by their paths. */
  readonly files?: Readonly<Record<string, string>>;
  /** Whether later drivers are started by the very same line, as cron does, rather than by `resume`. */
  readonly isCron?: boolean;
}

/** Where it is played, once. */
interface Stage {
  readonly folder: string;
  readonly home: string;
  readonly claude: ReplayedClaude;
}

/** How a driver dies; null lives. */
export type Death =
  | null
  /** At a change to the file system: `12 before`, `12 after`, `12 torn`. */
  | { readonly kind: 'at'; readonly point: string }
  /** Before a system call of that name, the `at`th of its main thread, from outside by `strace`. */
  | { readonly kind: 'call'; readonly call: string; readonly at: number }
  /** So long after its start, alone or with its guard. */
  | { readonly kind: 'after'; readonly ms: number; readonly withGuard: boolean };

/** What a task has come to, as far as a kill must not change it. */
export interface FaultEnd {
  readonly exitCode: number | null;
  /** What the drivers wrote to standard output, without repetition: one may die right after. */
  readonly stdout: readonly string[];
  readonly task: unknown;
  /** What the agent was told in the counted try of each iteration, but for hints. */
  readonly prompts: readonly string[];
  /** A hint that came in the midst of an iteration is told in the very next attempt, whichever that is. */
  readonly isHintTold: boolean;
  /** Every file in the state folder. */
  readonly files: readonly string[];
  /** The notes for a human, without their times. */
  readonly notes: readonly string[];
  /** Lines of `after.log`, without repetition. */
  readonly after: readonly string[];
}

/** Plays a scenario below `root`. `deaths` tells how each driver dies, the run being number 0. */
export async function playFaults(
  root: string,
  scenario: FaultScenario,
  deaths: (driver: number) => Death,
): Promise<{ end: FaultEnd; drivers: number; durationMs: number; problems: readonly string[] }> {
  const [folder, home] = [join(root, 'work'), join(root, 'home')];
  for (const each of [folder, home]) mkdirSync(each, { recursive: true });
  const stage = { folder, home, claude: installReplayedClaude(join(root, 'bin'), scenario.turns) };
  for (const [name, text] of Object.entries(scenario.files ?? {})) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  const said: string[] = [];
  const outputs = new Set<string>();
  for (let driver = 0; driver < 200; driver += 1) {
    const words = await drive(stage, scenario, deaths(driver));
    said.push(`${words.stdout}\n${words.stderr}`);
    if (words.stdout !== '') outputs.add(words.stdout);
    // The next night begins anew where all was said and done: a kill at the exit changes nothing.
    const isOver = scenario.isCron === true && isTold(folder);
    if (words.signal !== null && !isOver) continue;
    // It waits for a person, who says yes.
    if (words.exitCode === 6 && approve(folder)) continue;
    if (!hasBegun(folder)) break;
    await until(
      () => [...livingIn(home), ...guardsOf(words.pid)].length === 0,
      () => `the death of ${JSON.stringify(livingIn(home))}`,
    );
    const problems = [...logProblems(stage), ...journalProblems(stage), ...moneyProblems(stage)];
    if (/bug in ralph|TypeError|Warning|(?<!API )Error:/.test(words.stderr))
      problems.push(words.stderr);
    return {
      end: endOf(stage, isOver ? 0 : words.exitCode, [...outputs]),
      drivers: driver + 1,
      durationMs: words.durationMs,
      problems,
    };
  }
  throw new Error(`It did not come to an end:\n${said.slice(-3).join('\n--\n')}`);
}

/** Lets one driver drive the task to its end, or to the driver's. */
async function drive(
  { folder, home, claude }: Stage,
  { args, isCron = false }: FaultScenario,
  death: Death,
): Promise<RalphEnd & { pid: number }> {
  const first = ['run', '--task-id', 't', ...args, ...(isCron ? ['--resume-if-open'] : [])];
  const command = hasBegun(folder) && !isCron ? ['resume', 't'] : first;
  const env: Record<string, string> = { NODE_OPTIONS: `--require ${fixture('dies-at.cjs')}` };
  if (death?.kind === 'at') env.FAULT_AT = death.point;
  if (death === null) env.FAULT_POINTS = join(folder, '..', 'points');
  const under = death?.kind === 'call' ? killedBefore(death.call, death.at) : [];
  const options = { path: [claude.dir], cwd: folder, home, env, under, timeoutMs: 60_000 };
  const ralph = await startRalph(command, options);
  if (death?.kind === 'after') {
    const timer = setTimeout(() => kill(ralph.pid, death.withGuard), death.ms);
    ralph.ended.finally(() => clearTimeout(timer)).catch(() => {});
  }
  return { ...(await ralph.ended), pid: ralph.pid };
}

/** The words before a command by which it is killed at one of its system calls. */
function killedBefore(call: string, at: number): readonly string[] {
  const inject = `inject=${call}:signal=SIGKILL:when=${at}`;
  return ['strace', '-o', '/dev/null', '-e', `trace=${call}`, '-e', inject];
}

/** How often the main thread of an undisturbed run makes each of these system calls. */
export async function countCalls(
  root: string,
  scenario: FaultScenario,
  calls: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const [folder, home] = [join(root, 'work'), join(root, 'home')];
  for (const each of [folder, home]) mkdirSync(each, { recursive: true });
  const claude = installReplayedClaude(join(root, 'bin'), scenario.turns);
  for (const [name, text] of Object.entries(scenario.files ?? {})) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  const log = join(root, 'calls');
  const options = {
    path: [claude.dir],
    cwd: folder,
    home,
    under: ['strace', '-o', log, '-e', `trace=${calls.join(',')}`],
    timeoutMs: 60_000,
  };
  await (await startRalph(['run', '--task-id', 't', ...scenario.args], options)).ended;
  const counts = new Map<string, number>();
  for (const [, call = ''] of readOr(log).matchAll(/^(\w+)\(/gm)) {
    counts.set(call, (counts.get(call) ?? 0) + 1);
  }
  return counts;
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

function hasBegun(folder: string): boolean {
  return existsSync(join(folder, '.ralph_state', 't.json')) || isArchived(folder);
}

/** Whether the end was told: what only served to go on with the task is gone. */
function isTold(folder: string): boolean {
  const kept = join(folder, '.ralph_state', 'history', 't');
  return isArchived(folder) && !readdirSync(kept).some((name) => name.startsWith('memory-'));
}

function isArchived(folder: string): boolean {
  return existsSync(join(folder, '.ralph_state', 'history', 't.json'));
}

function endOf(
  { folder, claude }: Stage,
  exitCode: number | null,
  stdout: readonly string[],
): FaultEnd {
  const task = stateOf(folder);
  const { status, exit_reason, evidence, iterations, driver, wait } = task;
  // What it cost depends on how often it was killed: see `moneyProblems`.
  const counted = iterations.map((each: Record<string, unknown>) => {
    const { started_at, duration_ms, cost_usd, input_tokens, output_tokens, ...rest } = each;
    return rest;
  });
  const { iterations: number } = task.metrics;
  const prompts = lastCalls(claude.calls()).map(({ stdin }) => stdin);
  const after = readOr(join(folder, 'after.log')).split('\n');
  return {
    exitCode,
    stdout,
    task: { status, exit_reason, evidence, counted, number, driver, wait },
    prompts: prompts.map((prompt) => withoutHints(prompt).replaceAll(folder, '<vault>')),
    isHintTold: prompts.some((prompt) => prompt.includes('notes that somebody left for you')),
    files: filesIn(join(folder, '.ralph_state')),
    notes: notesIn(join(folder, 'Needs_Action')),
    after: [...new Set(after)].sort(),
  };
}

/** A hint by file stands in a block of its own. */
function withoutHints(prompt: string): string {
  return prompt
    .replaceAll(/^===== BEGIN DATA: notes that somebody[\s\S]*?^===== END DATA =====$/gm, '')
    .replaceAll(/\n+/g, '\n');
}

function lastCalls(calls: readonly ReplayedCall[]): readonly ReplayedCall[] {
  return calls.filter(({ iteration }, index) => calls[index + 1]?.iteration !== iteration);
}

function notesIn(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .map((name) => name.replace(/\d{8}T\d{6}Z/, '<time>'))
    .sort();
}

function filesIn(folder: string): readonly string[] {
  return (
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
      // Empty folders of claims are left by a driver that is killed at its exit; a claim would show.
      .filter((name) => !/^locks(?:\/t)?$/.test(name))
      .sort()
  );
}

/** What is wrong with the logs: they hold what each call wrote, one after the other. */
function logProblems({ folder, claude }: Stage): string[] {
  const problems: string[] = [];
  const calls = claude.calls();
  for (const last of lastCalls(calls)) {
    for (const stream of ['stdout', 'stderr'] as const) {
      const name = `t/iteration-${String(last.iteration).padStart(4, '0')}.${stream}.log`;
      const kept = join(folder, '.ralph_state', isArchived(folder) ? 'history' : '.', name);
      const written = calls
        .filter(({ iteration }) => iteration === last.iteration)
        .map((call) => call[stream]);
      const log = readOr(kept);
      if (!isOfPrefixes(log, written)) problems.push(`${name}: ${log}\nwritten: ${written}`);
    }
  }
  return problems;
}

/** What is wrong with the journal: each line is an event, and each event was told at least once. */
function journalProblems({ folder }: Stage): string[] {
  const events = jsonLines(readOr(join(folder, '.ralph_state/events.jsonl')));
  const problems = events.some(
    ({ exit_reason, exit_code }) => exit_reason !== undefined && exit_code !== undefined,
  )
    ? []
    : ['no ending is in the journal'];
  const has = (event: string, iteration?: number): boolean =>
    events.some((each) => each.event === event && each.iteration === iteration);
  if (!has('task_started')) problems.push('task_started is not in the journal');
  for (const { number } of stateOf(folder).iterations) {
    for (const event of ['iteration_started', 'task_iterated']) {
      if (!has(event, number))
        problems.push(`${event} of iteration ${number} is not in the journal`);
    }
  }
  return problems;
}

/** What is wrong with the money: each call whose result lies in a log is paid for, once. */
function moneyProblems({ folder }: Stage): string[] {
  const logs = join(folder, '.ralph_state', isArchived(folder) ? 'history/t' : 't');
  const paid = readdirSync(logs)
    .filter((name) => name.endsWith('.stdout.log'))
    .flatMap((name) => readFileSync(join(logs, name), 'utf8').split('\n'))
    .filter((line) => line.startsWith('{"type":"result"') && line.endsWith('}'))
    .reduce((sum, line) => sum + (JSON.parse(line).total_cost_usd ?? 0), 0);
  const { usage } = stateOf(folder);
  return Math.abs(usage.cost_usd - paid) < 1e-9
    ? []
    : [`the state has ${usage.cost_usd} dollars, the logs ${paid}`];
}

function stateOf(folder: string): Json {
  const place = isArchived(folder) ? '.ralph_state/history/t.json' : '.ralph_state/t.json';
  return JSON.parse(readFileSync(join(folder, place), 'utf8'));
}

/** Whether a log is made of the beginnings of texts one after the other, the last of them whole. */
function isOfPrefixes(log: string, texts: readonly string[]): boolean {
  const last = texts.at(-1) ?? '';
  if (!log.endsWith(last)) return false;
  const rest = log.slice(0, log.length - last.length);
  let ends = new Set([0]);
  for (const text of texts.slice(0, -1)) {
    const further = new Set(ends);
    for (const start of ends) {
      for (let end = start + 1; end <= rest.length; end += 1) {
        if (rest[end - 1] !== text[end - 1 - start]) break;
        further.add(end);
      }
    }
    ends = further;
  }
  return ends.has(rest.length);
}

function readOr(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

/** The changes to the file system of the last driver that was let live, from 1. */
export function pointsOf(root: string): readonly string[] {
  return readOr(join(root, 'points')).split('\n').slice(0, -1);
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

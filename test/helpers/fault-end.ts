import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ReplayedCall, ReplayedClaude } from './replayed-claude.ts';
import { type Json, jsonLines } from './scene.ts';

/** What a task has come to, as far as a kill must not change it. */
export interface FaultEnd {
  readonly exitCode: number;
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
  /** The events in the journal with their iterations, without repetition. */
  readonly events: readonly string[];
}

/** Where it was played. */
export interface FaultPlace {
  readonly folder: string;
  readonly claude: ReplayedClaude;
}

/** Those that tell of an interruption, and of what an interrupted attempt may or may not have come to. */
const EVENTS_OF_A_KILL = ['task_resumed', 'claim_held', 'agent_activity', 'agent_retry'];

/** `exitCode` is that of the last driver; null where it was killed at its exit, when all was said. */
export function faultEnd(
  { folder, claude }: FaultPlace,
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
  const events = journalOf(folder)
    .filter(
      ({ event, exit_reason }) =>
        !EVENTS_OF_A_KILL.includes(event) && exit_reason !== 'interrupted',
    )
    .map(({ event, iteration = '' }) => `${event} ${iteration}`.trim());
  return {
    exitCode: exitCode ?? 0,
    stdout,
    task: { status, exit_reason, evidence, counted, number, driver, wait },
    prompts: prompts.map((prompt) => withoutHints(prompt).replaceAll(folder, '<vault>')),
    isHintTold: prompts.some((prompt) => prompt.includes('notes that somebody left for you')),
    files: filesIn(join(folder, '.ralph_state'), exitCode === null ? LEFT_AT_EXIT : NO_CLAIM),
    notes: notesIn(join(folder, 'Needs_Action')),
    after: [...new Set(after)].sort(),
    events: [...new Set(events)].sort(),
  };
}

/** What an end has that another has not, and the other way round, a line for each of its parts. */
export function differences(end: FaultEnd, expected: FaultEnd): readonly string[] {
  const others = new Map(Object.entries(expected));
  return Object.entries(end).flatMap(([key, value]) => {
    const [one, other] = [value, others.get(key)].map((each) => JSON.stringify(each, null, 1));
    if (one === other) return [];
    const [lines, otherLines] = [one, other].map((each) => (each ?? '').split('\n'));
    const added = lines?.filter((line) => !otherLines?.includes(line)) ?? [];
    const missing = otherLines?.filter((line) => !lines?.includes(line)) ?? [];
    return [`${key}: has ${added.join('|')} in place of ${missing.join('|')}`];
  });
}

/** What is wrong with a task that has come to its end, however often it was killed. */
export function faultProblems(place: FaultPlace): readonly string[] {
  return [...logProblems(place), ...journalProblems(place), ...moneyProblems(place)];
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

/** The empty folders of claims, which a driver that is killed as it lets go leaves. */
const NO_CLAIM = /^locks(?:\/t)?$/;
/** And the claim of a dead driver, where no other came after it. */
const LEFT_AT_EXIT = /^locks(?:\/t(?:\/[\da-f-]+\.json)?)?$/;

function filesIn(folder: string, leftOut: RegExp): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .filter((name) => !leftOut.test(name))
    .sort();
}

function notesIn(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .map((name) => name.replace(/\d{8}T\d{6}Z/, '<time>'))
    .sort();
}

/** What is wrong with the logs: they hold what each call wrote, one after the other. */
function logProblems({ folder, claude }: FaultPlace): string[] {
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
function journalProblems({ folder }: FaultPlace): string[] {
  const events = journalOf(folder);
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
  const completed = events.findIndex(({ event }) => event === 'task_completed');
  const later = completed < 0 ? [] : events.slice(completed + 1);
  for (const { event } of later) {
    if (/^(task|iteration)_started$/.test(event)) problems.push(`${event} after task_completed`);
  }
  return problems;
}

/** What is wrong with the money: each call whose result lies in a log is paid for, once. */
function moneyProblems({ folder }: FaultPlace): string[] {
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

/** Fails at a torn line. */
function journalOf(folder: string): readonly Json[] {
  const text = readOr(join(folder, '.ralph_state/events.jsonl'));
  if (text !== '' && !text.endsWith('\n')) throw new Error('The last line of the journal is torn.');
  return jsonLines(text);
}

/** The state of the task, wherever it lies now. */
export function stateOf(folder: string): Json {
  const place = isArchived(folder) ? '.ralph_state/history/t.json' : '.ralph_state/t.json';
  return JSON.parse(readFileSync(join(folder, place), 'utf8'));
}

export function hasBegun(folder: string): boolean {
  return existsSync(join(folder, '.ralph_state', 't.json')) || isArchived(folder);
}

/** Whether the end was told: what only served to go on with the task is gone. */
export function isTold(folder: string): boolean {
  const kept = join(folder, '.ralph_state', 'history', 't');
  return isArchived(folder) && !readdirSync(kept).some((name) => name.startsWith('memory-'));
}

function isArchived(folder: string): boolean {
  return existsSync(join(folder, '.ralph_state', 'history', 't.json'));
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

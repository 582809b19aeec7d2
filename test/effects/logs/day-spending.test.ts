import { appendFileSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createDayCounter } from '../../../src/effects/logs/day-spending.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const NOW = '2026-03-01T10:00:00.000Z';
const YESTERDAY = '2026-02-28T23:59:59.999Z';
const MIDNIGHT = '2026-03-01T00:00:00.000Z';
const UNTIL = '2026-03-02T00:00:00.000Z';

beforeEach(() => {
  vi.stubEnv('TZ', 'UTC');
});
afterEach(() => {
  vi.unstubAllEnvs();
});

const line = (event: string, at: string, fields: object): string =>
  `${JSON.stringify({ event, at, task_id: 't', ...fields })}\n`;
const iterated = (costUsd: number, at = NOW, taskId = 't'): string =>
  line('task_iterated', at, { task_id: taskId, iteration: 1, cost_usd: costUsd });

/** A counter over a journal that holds these lines, and what it has said. */
async function counterOf(...lines: readonly string[]) {
  const journal = join(await tempFolder(), 'events.jsonl');
  if (lines.length > 0) writeFileSync(journal, lines.join(''));
  const said: string[] = [];
  const count = createDayCounter(journal, (sentence) => said.push(sentence));
  return { journal, said, count, usd: (now = NOW) => count(now).spentUsd };
}

test('counts all tasks since midnight, and says when the next day begins', async () => {
  const { count, said } = await counterOf(
    iterated(100, YESTERDAY),
    iterated(1, MIDNIGHT),
    iterated(2, NOW, 'other'),
  );
  expect(count(NOW)).toEqual({ spentUsd: 3, until: UNTIL });
  expect(said).toEqual([]);
});

test('counts what a wrong clock has dated ahead only on that day', async () => {
  const { usd } = await counterOf(
    iterated(100, UNTIL),
    iterated(1),
    iterated(50, '2030-01-01T00:00:00.000Z'),
  );
  expect(usd()).toBe(1);
  expect(usd(UNTIL)).toBe(100);
});

test('counts attempts that failed, by what their task has used', async () => {
  const started = (attempt: number, cost_usd: number): string =>
    line('iteration_started', NOW, { iteration: 1, attempt, usage: { cost_usd } });
  const { usd, journal } = await counterOf(started(1, 7), started(2, 8));
  expect(usd()).toBe(1);
  // A request for a person tells no usage.
  appendFileSync(journal, line('task_paused', NOW, { approval_id: 'push' }));
  expect(usd()).toBe(1);
  appendFileSync(journal, line('task_stopped', NOW, { usage: { cost_usd: 10 } }));
  expect(usd()).toBe(3);
  appendFileSync(journal, started(3, 10));
  appendFileSync(journal, iterated(4));
  expect(usd()).toBe(4);
});

test('reads on where it stopped, also in the middle of a line', async () => {
  const { usd, journal } = await counterOf(iterated(1));
  expect(usd()).toBe(1);
  const next = iterated(2);
  appendFileSync(journal, next.slice(0, 40));
  expect(usd()).toBe(1);
  appendFileSync(journal, next.slice(40));
  expect(usd()).toBe(3);
  expect(usd()).toBe(3);
});

test('starts again from nothing on each day', async () => {
  const { usd, journal, count } = await counterOf(iterated(1));
  expect(usd()).toBe(1);
  expect(count(UNTIL)).toEqual({ spentUsd: 0, until: '2026-03-03T00:00:00.000Z' });
  appendFileSync(journal, iterated(2, UNTIL));
  expect(usd(UNTIL)).toBe(2);
});

test('counts a journal that was replaced as it is now', async () => {
  const { usd, journal } = await counterOf(iterated(1), iterated(1));
  expect(usd()).toBe(2);
  writeFileSync(`${journal}.new`, iterated(3).repeat(4));
  renameSync(`${journal}.new`, journal);
  expect(usd()).toBe(12);
});

test('finds today behind megabytes of earlier days, and in front of events that are told late', async () => {
  const old = line('agent_activity', YESTERDAY, { text: 'x'.repeat(700) });
  const { usd } = await counterOf(
    iterated(100, YESTERDAY),
    old.repeat(5_000),
    iterated(1),
    line('agent_activity', NOW, { text: 'x'.repeat(700) }).repeat(4_000),
    // What the drivers of yesterday could not tell any more, with long final messages.
    line('task_stopped', YESTERDAY, { final_message: 'x'.repeat(600_000) }).repeat(5),
    iterated(2),
  );
  expect(usd()).toBe(3);
});

test('ignores lines that are not events, and costs that are not amounts', async () => {
  const { usd } = await counterOf(
    'nonsense\n',
    '{"event":"task_iterated","at":"2026-03-01T10:00:00.000Z"\n',
    iterated(-5),
    line('near_miss', NOW, { cost_usd: 9, usage: { cost_usd: 9 } }),
    iterated(1),
  );
  expect(usd()).toBe(1);
});

test('without a journal nothing is spent, and nothing is said', async () => {
  const { usd, said } = await counterOf();
  expect(usd()).toBe(0);
  expect(said).toEqual([]);
});

test('a journal that cannot be read is told once, and what was read counts on', async () => {
  const { usd, said, journal } = await counterOf(iterated(2));
  expect(usd()).toBe(2);
  rmSync(journal);
  mkdirSync(journal);
  expect([usd(), usd()]).toEqual([2, 2]);
  expect(said).toEqual([
    expect.stringMatching(/^Cannot read .*events\.jsonl \(.+\), so --max-cost-per-day counts only/),
  ]);
});

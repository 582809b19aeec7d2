import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readJournal } from '../../../src/effects/logs/journal-reader.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const SINCE = '2026-01-05T10:00:00.000Z';
const at = (minute: number): string => `2026-01-05T10:${String(minute).padStart(2, '0')}:00.000Z`;

async function read(...lines: readonly (object | string)[]) {
  const file = join(await tempFolder(), 'events.jsonl');
  const text = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line)));
  await writeFile(file, text.join('\n'));
  return readJournal(file, SINCE);
}

const event = (name: string, fields: object = {}): object => ({
  event: name,
  at: at(1),
  task_id: 't',
  ...fields,
});

describe('the journal of a span', () => {
  test('holds iterations with all their figures', async () => {
    const record = {
      started_at: at(0),
      duration_ms: 60_000,
      outcome: 'errored',
      exit_code: 1,
      completed: false,
      near_miss: true,
      cost_usd: 0.25,
      input_tokens: 10,
      output_tokens: 20,
      turns: 2,
      tools: 3,
      refused: ['Bash: rm'],
      files_changed: 4,
      output_preview: 'Tried.',
      detail: 'exit code 1',
    };
    expect(await read(event('task_iterated', { iteration: 7, ...record }))).toEqual([
      { kind: 'iteration', taskId: 't', iteration: { number: 7, ...record } },
    ]);
  });

  test('holds other events as they are, without their longest texts', async () => {
    const held = { iteration: 2, gate: 'verify', detail: 'exited with 1' };
    const entries = await read(
      event('task_started', { prompt: 'Do it.', max_iterations: 3 }),
      event('claim_held', held),
    );
    const known = { kind: 'happening', taskId: 't', finalMessage: null };
    expect(entries).toEqual([
      { ...known, happening: event('task_started', { max_iterations: 3 }) },
      { ...known, happening: event('claim_held', held) },
    ]);
  });

  test('leaves out what the agent did and retried by itself, and what came before', async () => {
    const entries = await read(
      event('agent_activity', { activity: { kind: 'thinking' } }),
      event('agent_retry', { by: 'agent' }),
      event('iteration_started', { iteration: 1 }),
      event('task_started', { at: '2026-01-05T09:59:59.999Z' }),
    );
    expect(entries).toEqual([]);
  });

  test('is read past torn, foreign and empty lines', async () => {
    const torn = JSON.stringify(event('task_iterated')).slice(0, 30);
    const entries = await read('', 'null', '[1]', '{"at":1}', event('task_started'), torn);
    expect(entries).toHaveLength(1);
  });

  test('is empty where there is none', async () => {
    expect(await readJournal(join(await tempFolder(), 'nothing'), SINCE)).toEqual([]);
  });

  test('keeps the end of a long last message only', async () => {
    const message = `${'x'.repeat(100_000)} the end`;
    const [entry] = await read(
      event('task_stopped', { status: 'stopped', final_message: message }),
    );
    const kept = entry?.kind === 'happening' ? entry.finalMessage : null;
    expect(kept?.endsWith(' the end')).toBe(true);
    expect(kept?.length).toBeLessThan(10_000);
  });
});

import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { RalphEvent } from '../../../src/core/machine/events.ts';
import { journalLine } from '../../../src/effects/logs/journal.ts';
import { untoldEvents } from '../../../src/effects/logs/untold-events.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const AT = '2026-03-01T10:00:00.000Z';
const STARTED: RalphEvent = {
  event: 'iteration_started',
  at: AT,
  task_id: 't',
  iteration: 1,
  max_iterations: 5,
  attempt: 1,
  timeout_at: AT,
  usage: { cost_usd: 0, input_tokens: 0, output_tokens: 0 },
};
const RESUMED: RalphEvent = {
  event: 'task_resumed',
  at: AT,
  task_id: 't',
  iteration: 1,
  max_iterations: 5,
};
/** A journal to which other tasks have written several megabytes behind these lines. */
async function busyJournal(...lines: readonly string[]): Promise<string> {
  const journal = join(await tempFolder(), 'events.jsonl');
  writeFileSync(journal, lines.map((line) => `${line}\n`).join(''));
  const other = `${JSON.stringify({ ...STARTED, task_id: 'other', note: 'é'.repeat(700) })}\n`;
  appendFileSync(journal, other.repeat(3_000));
  return journal;
}

describe('what a driver saved and may not have told any more', () => {
  test('is not told again, however much others have told since', async () => {
    const journal = await busyJournal(journalLine(STARTED), journalLine(RESUMED));
    expect(untoldEvents(journal, [STARTED, RESUMED])).toEqual([]);
  });

  test('is what the journal lacks, in its order', async () => {
    const journal = await busyJournal(journalLine(RESUMED));
    const later = { ...STARTED, attempt: 2 };
    expect(untoldEvents(journal, [STARTED, RESUMED, later])).toEqual([STARTED, later]);
  });

  test('is all of it where there is no journal, or only a torn line', async () => {
    const folder = await tempFolder();
    const journal = join(folder, 'events.jsonl');
    expect(untoldEvents(journal, [STARTED])).toEqual([STARTED]);
    writeFileSync(journal, journalLine(STARTED).slice(0, -1));
    expect(untoldEvents(journal, [STARTED])).toEqual([STARTED]);
    expect(untoldEvents(journal, [])).toEqual([]);
  });
});

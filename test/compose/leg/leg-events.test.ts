import { expect, test } from 'vitest';
import type { RalphEvent } from '../../../src/core/machine/events.ts';
import { createLegEvents } from '../../../src/fleet/leg/leg-events.ts';
import { eventLine } from '../../../src/report/event-line.ts';
import { fleetEvent } from '../../helpers/fleet-tasks.ts';

const ENDED = {
  ...{ event: 'task_failed', at: '2026-01-01T00:00:00.000Z', task_id: 't', status: 'failed' },
  ...{ exit_reason: 'failed:not-logged-in', exit_code: 1, iterations_used: 2, error: 'no login' },
  ...{ usage: { cost_usd: 0 }, evidence: null, changes: null, git: {}, final_message: null },
  ...{ note: '/home/w/legs/t.1/note.md', state_file: '/home/w/legs/t.1/state', log_dir: '/home/w' },
} as unknown as RalphEvent;

function eventsOf() {
  const said: string[] = [];
  const line = (event: RalphEvent) => eventLine(event, { agent: 'claude', task: null });
  return { said, events: createLegEvents(line, (text) => void said.push(text)) };
}

test('the end of a task is a line for each sentence, and names nothing of the worker', () => {
  const { said, events } = eventsOf();
  events.view.event(ENDED);
  expect(said.length).toBeGreaterThan(1);
  expect(said.join()).not.toMatch(/\n|legs|logs:|note:/);
  expect(events.ending()).toMatchObject([{ ...ENDED, note: null, state_file: '', log_dir: '' }]);
});

test('events that could not be written come before those of the next call', async () => {
  const { events } = eventsOf();
  const [first, second] = [fleetEvent('one'), fleetEvent('two')];
  events.view.event(first);
  await expect(events.flush(() => Promise.reject(new Error('away')))).rejects.toThrow('away');
  events.view.event(second);
  const written: RalphEvent[] = [];
  await events.flush(async (waiting) => {
    written.push(...waiting);
    return true;
  });
  expect(written).toEqual([first, second]);
});

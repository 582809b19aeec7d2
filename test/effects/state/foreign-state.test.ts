import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { stateJson } from '../../../src/core/task/state-json.ts';
import { readStateFile } from '../../../src/effects/state/state-file.ts';
import { openBooks } from '../../helpers/books.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

// States that other loop tools have left, as their documents show them.

const HOOK = {
  loop_id: 'RALPH_20260119_abc123',
  prompt: 'Process all invoices...',
  max_iterations: 10,
  completion_promise: 'TASK_COMPLETE',
  current_iteration: 3,
  status: 'running',
  started_at: '2026-01-19T10:00:00Z',
  iterations: [
    {
      number: 1,
      timestamp: '2026-01-19T10:00:05Z',
      output_preview: 'Processing invoice 1...',
      completed: false,
    },
  ],
  errors: [],
  paused_for_approval: false,
};

const SERVICE = {
  task_id: 'task_client_proposal_20260115',
  task_file: '/Vault/Needs_Action/task_client_proposal_20260115.md',
  status: 'in_progress',
  iteration: 3,
  max_iterations: 10,
  started_at: '2026-01-15T10:00:00Z',
  last_updated: '2026-01-15T10:05:30Z',
  timeout_at: '2026-01-15T10:30:00Z',
  progress: {
    steps_total: 5,
    steps_completed: 2,
    current_step: 'Writing proposal sections',
    percentage: 40.0,
  },
  iterations_history: [
    {
      iteration: 1,
      timestamp: '2026-01-15T10:00:00Z',
      action: 'Read task requirements',
      result: 'success',
      duration_seconds: 45.2,
    },
    {
      iteration: 2,
      timestamp: '2026-01-15T10:03:00Z',
      action: 'Draft proposal outline',
      result: 'success',
      duration_seconds: 120.5,
    },
  ],
};

const LOOP = {
  task_id: '20260220_230000_123456',
  task_prompt: '...',
  task_type: 'email_processing',
  max_iterations: 5,
  completion_promise: 'moved to Done',
  watch_glob: 'AI_Employee_Vault/Done/FILE_*invoice*.md',
  current_iteration: 0,
  started_at: '2026-02-20T23:00:00Z',
  status: 'running',
  outputs: [],
};

/** Reads a state as it would lie in a file of that name. */
async function read(state: object, name: string) {
  const file = join(await tempFolder(), name);
  writeFileSync(file, JSON.stringify(state));
  const found = readStateFile(file);
  if (found.kind !== 'task') return found;
  // What is understood is a task like any other: it can be written and read again.
  writeFileSync(file, stateJson(found.state));
  expect(readStateFile(file)).toEqual(found);
  return found.state;
}

describe('a state that a stop hook reads', () => {
  test('is understood: loop_id, prompt, iterations', async () => {
    expect(await read(HOOK, 'RALPH_20260119_abc123.json')).toMatchObject({
      schema_version: 1,
      task_id: 'RALPH_20260119_abc123',
      task_prompt: 'Process all invoices...',
      completion_promise: 'TASK_COMPLETE',
      max_iterations: 10,
      current_iteration: 3,
      status: 'running',
      started_at: '2026-01-19T10:00:00.000Z',
      updated_at: '2026-01-19T10:00:05.000Z',
      timeout_at: '2026-01-19T10:30:00.000Z',
      iterations: [{ number: 1, output_preview: 'Processing invoice 1...', completed: false }],
      metrics: { iterations: 3 },
      errors: [],
      driver: null,
    });
  });

  test('with a file to be moved, errors and a wait for approval', async () => {
    const state = {
      ...HOOK,
      watch_file: 'Needs_Action/INVOICE_client.md',
      done_folder: 'Done/',
      errors: ['rate limit', { timestamp: '2026-01-19T10:00:09Z', error: 'overloaded' }],
      paused_for_approval: true,
    };
    expect(await read(state, 'RALPH_20260119_abc123.json')).toMatchObject({
      status: 'paused_awaiting_approval',
      paused_for_approval: true,
      watch_file: 'Needs_Action/INVOICE_client.md',
      done_folder: 'Done/',
      errors: [
        { message: 'rate limit' },
        { message: 'overloaded', at: '2026-01-19T10:00:09.000Z' },
      ],
    });
  });

  test.for(['pending', 'running', 'completed', 'max_iterations_reached', 'stopped'])(
    'the status %s is the same here',
    async (status) => {
      expect(await read({ ...HOOK, status }, 'RALPH_1.json')).toMatchObject({ status });
    },
  );
});

describe('a state that a service keeps', () => {
  test('is understood: task_file, iteration, iterations_history, progress', async () => {
    expect(await read(SERVICE, 'task_client_proposal_20260115.json')).toMatchObject({
      task_id: 'task_client_proposal_20260115',
      task_file: SERVICE.task_file,
      watch_file: SERVICE.task_file,
      status: 'running',
      current_iteration: 3,
      max_iterations: 10,
      updated_at: '2026-01-15T10:05:30.000Z',
      timeout_at: '2026-01-15T10:30:00.000Z',
      progress: SERVICE.progress,
      metrics: { iterations: 2 },
      iterations: [
        {
          number: 1,
          duration_ms: 45_200,
          outcome: 'answered',
          output_preview: 'Read task requirements',
        },
        { number: 2, duration_ms: 120_500, output_preview: 'Draft proposal outline' },
      ],
    });
  });

  test.for([
    ['initializing', 'pending'],
    ['in_progress', 'running'],
    ['waiting_approval', 'paused_awaiting_approval'],
    ['timeout', 'timeout'],
    ['failed', 'failed'],
  ] as const)('its status %s is %s here', async ([theirs, ours]) => {
    expect(await read({ ...SERVICE, status: theirs }, 'a.json')).toMatchObject({ status: ours });
  });

  test('can be gone on with by the library', async () => {
    const { books, write, state } = await openBooks();
    write('.ralph_state/task_client_proposal_20260115.json', JSON.stringify(SERVICE));
    const { task_id } = SERVICE;
    expect(await books.checkTaskComplete(task_id)).toBe(false);
    expect(await books.incrementIteration(task_id, { context: 'Written.' })).toMatchObject({
      iteration: 4,
    });
    expect(state(task_id)).toMatchObject({ schema_version: 1, kept_by: 'library' });
    write('Done/task_client_proposal_20260115.md', 'The proposal.');
    expect(await books.checkTaskComplete(task_id)).toBe(true);
  });
});

describe('a state that a headless loop keeps', () => {
  test('is understood: watch_glob as one text, outputs; its file’s name is its id here', async () => {
    expect(await read(LOOP, 'task_20260220_230000_123456.json')).toMatchObject({
      task_id: 'task_20260220_230000_123456',
      task_prompt: '...',
      task_type: 'email_processing',
      completion_promise: 'moved to Done',
      watch_glob: ['AI_Employee_Vault/Done/FILE_*invoice*.md'],
      max_iterations: 5,
      current_iteration: 0,
      status: 'running',
      metrics: { iterations: 0 },
      iterations: [],
    });
  });

  test('each output is an iteration', async () => {
    const state = { ...LOOP, current_iteration: 2, outputs: ['first', 'second'] };
    expect(await read(state, 'task_20260220_230000_123456.json')).toMatchObject({
      current_iteration: 2,
      metrics: { iterations: 2 },
      iterations: [
        { number: 1, output_preview: 'first' },
        { number: 2, output_preview: 'second' },
      ],
    });
  });
});

describe('what is none of them', () => {
  test.for([
    ['an unknown status', { ...HOOK, status: 'dancing' }],
    ['no start', { ...HOOK, started_at: 'soon' }],
    ['no id', { ...HOOK, loop_id: 7 }],
  ] as const)('%s is corrupt, not guessed at', async ([, state]) => {
    expect(await read(state, '.json')).toMatchObject({ kind: 'corrupt' });
  });

  test('a state of ralph’s own is never read as one', async () => {
    const state = { ...LOOP, schema_version: 1, status: 'running' };
    expect(await read(state, 'a.json')).toMatchObject({ task_id: LOOP.task_id, watch_glob: [] });
  });

  test('fields of other types than shown do no harm', async () => {
    const state = {
      ...SERVICE,
      progress: 'half',
      iterations_history: [null, 3, {}],
      task_file: 1,
      max_iterations: '10',
    };
    expect(await read(state, 'a.json')).toMatchObject({
      progress: null,
      task_file: null,
      max_iterations: 10,
      iterations: [{ number: 1, output_preview: '' }],
    });
  });
});

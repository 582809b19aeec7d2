import { describe, expect, test, vi } from 'vitest';
import { addUsage, type Usage } from '../../../src/core/agent/attempt.ts';
import { STATE_MAX_BYTES, stateJson } from '../../../src/core/task/state-json.ts';
import {
  type IterationRecord,
  type TaskState,
  withError,
  withIteration,
} from '../../../src/core/task/task-state.ts';
import { HOSTILE, hostileSign } from '../../helpers/hostile-signs.ts';
import { newTask, START } from '../../helpers/new-task.ts';

const USAGE: Usage = { cost_usd: 0.25, input_tokens: 1_000, output_tokens: 100 };

/** An iteration whose texts are as long as they can be, made of one character. */
function worstRecord(number: number, character: string): IterationRecord {
  return {
    number,
    started_at: START,
    duration_ms: 180_000,
    outcome: 'timed-out',
    exit_code: 143,
    completed: false,
    near_miss: true,
    ...USAGE,
    turns: 3,
    tools: 40,
    refused: Array.from({ length: 5 }, () => character.repeat(120 / character.length)),
    files_changed: null,
    output_preview: character.repeat(200 / character.length),
  };
}

function afterIterations(count: number, character: string): TaskState {
  let task = newTask();
  task = { ...task, task_prompt: character.repeat(1_000 / character.length), status: 'running' };
  for (let number = 1; number <= count; number += 1) {
    task = withIteration(task, worstRecord(number, character));
    task = withError(task, {
      at: START,
      iteration: number,
      attempt: 1,
      kind: 'timed-out',
      message: character.repeat(200 / character.length),
    });
    task = { ...task, usage: addUsage(task.usage, USAGE), current_iteration: number };
  }
  return task;
}

function bytesOf(json: string): number {
  return new TextEncoder().encode(json).length;
}

describe('the state file', () => {
  // Written as one, two, three, four and six bytes a code unit or two.
  test.for([['x'], ['"'], ['é'], ['字'], ['🚀'], ['\ud83d'], ['\u2028']] as const)(
    'holds at most 50,000 bytes after 1,000 iterations of %o',
    ([character]) => {
      const json = stateJson(afterIterations(1_000, character));
      expect(STATE_MAX_BYTES).toBe(50_000);
      expect(bytesOf(json)).toBeLessThanOrEqual(50_000);

      const kept = JSON.parse(json);
      expect(kept.metrics).toMatchObject({ iterations: 1_000, api_calls: 3_000 });
      expect(kept.usage).toEqual({
        cost_usd: 250,
        input_tokens: 1_000_000,
        output_tokens: 100_000,
      });
      expect(kept.current_iteration).toBe(1_000);
      // The newest stay, without a gap.
      const numbers = kept.iterations.map(({ number }: IterationRecord) => number);
      expect(numbers.length).toBeGreaterThan(3);
      expect(numbers.at(-1)).toBe(1_000);
      expect(numbers).toEqual(
        numbers.map((_: number, index: number) => 1_000 - numbers.length + 1 + index),
      );
      expect(kept.errors.at(-1).iteration).toBe(1_000);
    },
  );

  test('contains everything if there is room', () => {
    const task = afterIterations(10, 'x');
    expect(JSON.parse(stateJson(task))).toEqual(task);
  });

  test('ends with a line end and can be read by a person', () => {
    const json = stateJson(newTask());
    expect(json).toMatch(/^\{\n {2}"schema_version": 1,\n/);
    expect(json.endsWith('\n}\n')).toBe(true);
  });

  test.for<[what: string, task: TaskState]>([
    [
      'many globs',
      { ...newTask(), watch_glob: Array.from({ length: 300 }, () => 'g'.repeat(200)) },
    ],
    ['many short globs', { ...newTask(), watch_glob: Array.from({ length: 9_000 }, () => 'g') }],
    ['a long promise', { ...newTask(), completion_promise: 'p'.repeat(60_000) }],
    ['a long file name', { ...newTask(), watch_file: 'f'.repeat(60_000) }],
    ['a long folder', { ...newTask(), done_folder: 'f'.repeat(60_000) }],
  ])('holds at most 50,000 bytes also with %s', ([, task]) => {
    // A search that never ends would hold up the whole test run: it is broken off.
    const encoder = new TextEncoder();
    let rounds = 0;
    const counted = vi.spyOn(TextEncoder.prototype, 'encode').mockImplementation((text = '') => {
      rounds += 1;
      if (rounds > 100) throw new Error('it never ends');
      const bytes = new Uint8Array(3 * text.length);
      return bytes.subarray(0, encoder.encodeInto(text, bytes).written);
    });
    try {
      const json = stateJson(withIteration(task, worstRecord(1, 'x')));
      expect(bytesOf(json)).toBeLessThanOrEqual(50_000);
    } finally {
      counted.mockRestore();
    }
  });

  test('contains nothing raw that acts on a terminal, within its limit', () => {
    const task = { ...newTask(), session_id: HOSTILE, watch_glob: [HOSTILE] };
    expect(hostileSign(stateJson(task))).toBeNull();
    expect(JSON.parse(stateJson(task))).toEqual(task);
    // Six bytes for each that was two.
    const long = { ...newTask(), completion_promise: '\u009b'.repeat(20_000) };
    expect(bytesOf(stateJson(long))).toBeLessThanOrEqual(50_000);
  });

  test('has the fields of the contract', () => {
    const record = worstRecord(1, 'x');
    const json = JSON.parse(stateJson(withIteration(newTask(), record)));
    expect(Object.keys(json)).toEqual(
      expect.arrayContaining(
        (
          'schema_version task_id task_prompt prompt_sha256 task_type task_file ' +
          'completion_promise match watch_glob watch_file done_folder max_iterations ' +
          'current_iteration attempt status started_at updated_at finished_at timeout_at ' +
          'exit_reason evidence iterations errors wait progress usage metrics breaker ' +
          'paused_for_approval approval session_id git_base driver'
        ).split(' '),
      ),
    );
    expect(Object.keys(json.iterations[0])).toEqual(
      expect.arrayContaining(
        (
          'number started_at duration_ms outcome exit_code completed near_miss cost_usd ' +
          'input_tokens output_tokens turns tools refused files_changed output_preview'
        ).split(' '),
      ),
    );
    expect(Object.keys(json.metrics)).toEqual(
      expect.arrayContaining(
        'total_duration_seconds iterations api_calls files_created files_modified'.split(' '),
      ),
    );
  });
});

describe('the records in memory', () => {
  test('are limited, and their totals include all', () => {
    const task = afterIterations(1_000, 'x');
    expect(task.iterations.length).toBeLessThanOrEqual(100);
    expect(task.errors.length).toBeLessThanOrEqual(100);
    expect(task.iterations.at(-1)?.number).toBe(1_000);
    expect(task.errors.at(-1)?.iteration).toBe(1_000);
    expect(task.metrics.iterations).toBe(1_000);
  });
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ifOpen } from '../../../src/core/task/if-open.ts';
import type { ShownState } from '../../../src/core/task/shown-task.ts';

const ROWS: readonly [state: ShownState, exitReason: string | null, expected: string][] = [
  ['interrupted', null, 'goes on'],
  ['paused', 'paused', 'goes on'],
  ['paused_awaiting_approval', 'approval-pending', 'goes on'],
  ['stopped', 'stopped:SIGTERM', 'goes on'],
  ['usage_limited', 'usage_limited', 'goes on'],
  ['failed', 'failed:not-logged-in', 'goes on'],
  ['failed', 'failed:aborted', 'begins a new run'],
  ['completed', 'completed', 'begins a new run'],
  ['max_iterations_reached', 'max_iterations_reached', 'begins a new run'],
  ['timeout', 'timeout', 'begins a new run'],
  ['stalled', 'no-progress', 'begins a new run'],
  ['stalled', 'interrupted', 'is refused'],
  ['budget_spent', 'budget_spent', 'is refused'],
];

describe('--resume-if-open', () => {
  test.each(ROWS)('with a task that is %s (%s): %s', (state, exitReason, expected) => {
    expect(ifOpen(state, exitReason)).toBe(expected);
  });

  test.each(ROWS)('docs/resume.md has %s (%s) in the row of what %s', (state, _why, expected) => {
    const text = readFileSync(join(import.meta.dirname, '../../../docs/resume.md'), 'utf8');
    const rows = text.split('\n').filter((line) => line.startsWith('| '));
    const row = rows.filter((line) => line.split(' | ')[1]?.startsWith(expected));
    expect(row).toHaveLength(1);
    expect(row[0]).toContain(state === 'interrupted' ? 'interrupted' : `\`${state}\``);
  });
});

import { describe, expect, test } from 'vitest';
import type { PlanStand } from '../../src/core/completion/plan-file.ts';
import { type EndingEvent, endingFacts } from '../../src/report/ending-lines.ts';

describe('what is missing in a plan', () => {
  const LATE = {
    event: 'max_iterations_reached',
    status: 'max_iterations_reached',
    iterations_used: 1,
  } as const;
  const EVENT: EndingEvent = {
    ...{ at: '2026-01-02T03:04:05.678Z', task_id: 't', exit_code: 3, ...LATE },
    ...{ exit_reason: 'max-iterations', max_iterations: 1, changes: null, evidence: null },
    usage: { cost_usd: 0, input_tokens: 0, output_tokens: 0 },
    git: { snapshots: null, work_tree: null },
    ...{ final_message: null, note: null, state_file: '/v/t.json', log_dir: '/v/t' },
  };

  test.for<[Partial<PlanStand>, string]>([
    [{ sections: ['B'] }, "P.md has no box below 'B'"],
    [
      { sections: ['B', 'C'], boxes: 2, ticked: 1, first_open_line: 7 },
      "P.md: 1 of 2 ticked below 'B' or 'C', the first open one is in line 7",
    ],
  ])('%j', ([more, text]) => {
    const plan = { file: 'P.md', ticked: 0, boxes: 0, first_open_line: null, ...more };
    const facts = endingFacts({ ...EVENT, plan }, { agent: 'claude' });
    expect(facts).toContainEqual({ label: 'missing', text });
  });
});

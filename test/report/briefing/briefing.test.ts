import { describe, expect, test } from 'vitest';
import { makeBriefing } from '../../../src/core/task/briefing.ts';
import { laterBy } from '../../../src/core/task/task-state.ts';
import { renderBriefing } from '../../../src/report/briefing/briefing.ts';
import { briefingJson } from '../../../src/report/briefing/briefing-json.ts';
import { briefIteration, briefingSources, foundRun } from '../../helpers/brief-task.ts';
import { newTask, START } from '../../helpers/new-task.ts';

const ended = { finished_at: laterBy(START, 600_000) };

describe('a briefing in Markdown', () => {
  test('a Markdown briefing says so if nothing happened', () => {
    expect(renderBriefing(makeBriefing(briefingSources()))).toBe(`# What ralph did

2026-01-05 10:00 to 2026-01-06 10:00 UTC, \`/vault/.ralph_state\`

0 tasks completed, 0 failed, 0 waiting, 0 running: 0 iterations.

## Needs a person

Nothing.
`);
  });

  test('a briefing says what is left of the budget of the day', () => {
    const day = { spentUsd: 3.2, maxUsd: 5, leftUsd: 1.8, until: '2026-01-07T00:00:00.000Z' };
    const briefing = makeBriefing(briefingSources({ day }));
    expect(renderBriefing(briefing)).toContain(
      "\n\nOf today's budget: $3.20 of $5.00 spent, $1.80 left.\n\n",
    );
    expect(briefingJson(briefing)).toMatchObject({
      day: { spent_usd: 3.2, max_usd: 5, left_usd: 1.8, until: day.until },
    });
    expect(briefingJson(makeBriefing(briefingSources()))).toMatchObject({ day: null });
  });

  test('a Markdown briefing first names what needs a person, with the command', () => {
    const runs = [
      foundRun('fine', {
        ...ended,
        status: 'completed',
        evidence: { kind: 'file-moved', detail: 'Done/fine.md' },
      }),
      foundRun('tired', {
        ...ended,
        status: 'max_iterations_reached',
        iterations: [briefIteration(1), briefIteration(2)],
        metrics: { ...newTask().metrics, iterations: 2 },
      }),
    ];
    const notes = [
      { file: '/vault/Needs_Action/n.md', reason: 'EXHAUSTED', taskId: 'tired', at: START },
    ];
    const text = renderBriefing(makeBriefing(briefingSources({ runs, notes })));
    expect(text).toContain(`## Needs a person

- **tired** out of iterations (2 iterations, 2m, $0.20)
  Note: \`/vault/Needs_Action/n.md\`

  \`\`\`sh
  ralph resume tired --max-iterations +5 --vault /vault
  \`\`\`
`);
    expect(text).toContain(
      '| fine | completed | 2026-01-05 10:10 | 0 | 0ms | – | off | file moved: Done/fine.md |',
    );
    expect(text.indexOf('## Completed')).toBeGreaterThan(text.indexOf('## Needs a person'));
  });

  test('a Markdown briefing says how to accept what was found', () => {
    const accepting = ['--accept-failed'];
    const found = { ...ended, status: 'stalled', exit_reason: 'unproven', accepting } as const;
    const runs = [foundRun('held', found)];
    const text = renderBriefing(makeBriefing(briefingSources({ runs })));
    expect(text).toContain('What to do: fix what was found, or accept it with --accept-failed.');
    expect(text).toContain('ralph resume held --accept-failed');
  });

  test('a briefing of a fleet names commands that the fleet takes', () => {
    const fleetWords = ['--fleet', 'URL'];
    const runs = [
      foundRun('tired', { ...ended, status: 'max_iterations_reached' }),
      foundRun('late', { ...ended, status: 'paused_awaiting_approval' }),
      foundRun('asks', { ...ended, status: 'paused_awaiting_approval', finished_at: null }),
    ];
    const briefing = makeBriefing({ ...briefingSources({ runs }), fleetWords });
    const text = renderBriefing(briefing);
    expect(text).toContain('ralph resume tired --max-iterations +5 --fleet URL');
    expect(text).toContain('ralph resume late --fleet URL');
    expect(text).toContain('ralph approve asks --fleet URL');
  });

  test('a Markdown briefing tells how to look back where there are snapshots', () => {
    const git = { snapshots: 'refs/ralph/t', work_tree: null };
    const runs = [
      foundRun('fine', { ...ended, git, status: 'completed' }),
      foundRun('tired', { ...ended, git, status: 'max_iterations_reached' }),
    ];
    const text = renderBriefing(makeBriefing(briefingSources({ runs })));
    expect(text).toContain(
      '  Look: `ralph diff tired --vault /vault`\n  Undo: `ralph undo tired --vault /vault`\n',
    );
    expect(text).not.toContain('ralph land');
  });

  test('a Markdown briefing names the branch of a task, and how to land it', () => {
    const work_tree = {
      path: '/r.ralph/t',
      branch: 'ralph/t',
      base: 'abc',
      onto: 'main',
      origin: '/r',
    };
    const git = { snapshots: null, work_tree };
    const runs = [
      foundRun('tired', { ...ended, git, status: 'max_iterations_reached' }),
      foundRun('fine', { ...ended, git, status: 'completed' }),
    ];
    const text = renderBriefing(makeBriefing(briefingSources({ runs })));
    expect(text).toContain(
      '  Branch: ralph/t, which lands on main\n  Land: `ralph land tired --vault /vault`\n',
    );
    expect(text).not.toContain('ralph undo');
  });

  test('escapes everything that an agent said', () => {
    const evil = '](http://x) | <b>**bold**</b>\n# Heading `';
    const runs = [
      foundRun('t', {
        ...ended,
        status: 'completed',
        evidence: { kind: 'promise', detail: evil },
      }),
    ];
    const text = renderBriefing(makeBriefing(briefingSources({ runs })));
    const row = text.split('\n').find((line) => line.startsWith('| t ')) ?? '';
    expect(row.replace(/\\./g, '').split('|')).toHaveLength(10);
    expect(text).not.toMatch(/^# Heading/m);
    expect(row).not.toMatch(/(^|[^\\])[<[\]`]/);
  });
});

describe('a briefing in JSON', () => {
  test('a JSON briefing has its figures in snake_case, in seconds and dollars', () => {
    const runs = [
      foundRun('t', {
        ...ended,
        status: 'stalled',
        exit_reason: 'no-progress',
        iterations: [briefIteration(1)],
      }),
    ];
    expect(briefingJson(makeBriefing(briefingSources({ runs })))).toMatchObject({
      since: START,
      totals: { failed: 1, completed: 0, iterations: 1, cost_usd: 0.1, work_seconds: 60 },
      needs_person: [
        { kind: 'task', task_id: 't', state: 'stalled', command: 'ralph resume t --vault /vault' },
      ],
      tasks: [{ task_id: 't', group: 'failed', span: { iterations: 1, work_seconds: 60 } }],
    });
  });
});

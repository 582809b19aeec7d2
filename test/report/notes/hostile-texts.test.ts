import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { stamped } from '../../../src/core/machine/events.ts';
import type { Ending } from '../../../src/core/machine/loop-state.ts';
import type { VaultNote } from '../../../src/core/rescue/vault-files.ts';
import { makeBriefing } from '../../../src/core/task/briefing.ts';
import { renderBriefing } from '../../../src/report/briefing/briefing.ts';
import { renderPage } from '../../../src/report/briefing/html/page.ts';
import { renderRequest } from '../../../src/report/notes/approval-request.ts';
import { cell, codeSpan, fenced, inlineText } from '../../../src/report/notes/markdown.ts';
import { renderNote } from '../../../src/report/notes/note.ts';
import { renderVaultNote } from '../../../src/report/notes/vault-note.ts';
import { renderPlan } from '../../../src/report/screens/plan.ts';
import { jsonView } from '../../../src/report/terminal/plain.ts';
import { briefIteration, briefingSources, foundRun } from '../../helpers/brief-task.ts';
import { HOSTILE, hostileSign } from '../../helpers/hostile-signs.ts';
import { newTask, START } from '../../helpers/new-task.ts';
import { sandboxRules } from '../../helpers/sandboxed.ts';

const PLACE = { stateFile: `/v/${HOSTILE}.json`, logDir: `/v/${HOSTILE}` };

const APPROVAL = {
  id: 'a1',
  what: HOSTILE,
  file: `APPROVAL_${HOSTILE}.md`,
  by_agent: true,
  requested_at: START,
  expires_at: START,
  there_before: null,
  decision: null,
  answered_at: null,
  answer_file: null,
  reason: HOSTILE,
};

const ENDING: Ending = {
  status: 'failed',
  exitReason: HOSTILE,
  event: 'task_failed',
  evidence: null,
  error: HOSTILE,
  failure: HOSTILE,
  note: 'FAILED',
  until: HOSTILE,
};

const TASK = {
  ...newTask(),
  task_id: HOSTILE,
  task_prompt: HOSTILE,
  task_type: HOSTILE,
  completion_promise: HOSTILE,
  exit_reason: HOSTILE,
  iterations: [briefIteration(1, 1, { outcome: HOSTILE, output_preview: HOSTILE })],
  sandbox: {
    is: 'on',
    version: HOSTILE,
    rules: {
      ...{ allow_write: [HOSTILE], allow_net: [HOSTILE], deny_read: [HOSTILE] },
      ...{ allow_read: [HOSTILE], keep_env: [HOSTILE], allow_unix_sockets: false },
      sandbox_checks: true,
    },
    changes: [{ at: START, what: HOSTILE }],
    refused: [{ host: HOSTILE, port: 443, count: 1 }],
    planted: [HOSTILE],
  },
} as const;

const NOTES: readonly VaultNote[] = [
  { kind: 'for-human', taskId: HOSTILE, file: HOSTILE, why: 'payment', detail: HOSTILE },
  { kind: 'overdue', taskId: HOSTILE, file: HOSTILE, request: HOSTILE },
  { kind: 'quarantined', taskId: HOSTILE, file: HOSTILE, failedRescues: 3 },
  { kind: 'blocked', taskId: HOSTILE, status: HOSTILE, exitReason: HOSTILE },
];

describe('hostile text is harmless in', () => {
  test('Markdown', () => {
    for (const written of [fenced, codeSpan, cell, inlineText]) {
      expect(hostileSign(written(HOSTILE))).toBeNull();
      expect(written('é 👩\u200d👧')).toContain('é 👩\u200d👧');
    }
  });

  test('a plan', () => {
    const plan = renderPlan(
      {
        task_id: HOSTILE,
        refusals: [],
        task_type: HOSTILE,
        completion: HOSTILE,
        full_iterations: 1,
        max_iterations: 1,
        argv: ['claude', HOSTILE],
        further_agents: [{ agent: 'codex', argv: ['codex', HOSTILE] }],
        cwd: HOSTILE,
        first_prompt: HOSTILE,
        continuation_prompt: HOSTILE,
        settings: [{ name: HOSTILE, value: [HOSTILE, { a: HOSTILE }], source: HOSTILE }],
        judge: { agent: 'codex', model: HOSTILE, criteria: [{ id: 'c1', text: HOSTILE }] },
        deciders: [],
        supervision: [],
        sandbox: {
          rules: sandboxRules({ allowWrite: [{ value: HOSTILE, from: HOSTILE }] }),
          refusals: [HOSTILE],
          variables: { TMPDIR: HOSTILE },
        },
        writes: [{ path: HOSTILE, what: HOSTILE }],
        warnings: [HOSTILE],
      },
      true,
    );
    expect(hostileSign(plan)).toBeNull();
  });

  test('a note, whose paths can be read by a program', () => {
    const note = renderNote({
      ...PLACE,
      task: TASK,
      ending: ENDING,
      agent: 'claude',
      created: START,
      completion: HOSTILE,
      lastOutput: HOSTILE,
      missing: [HOSTILE],
      checkout: HOSTILE,
      commandOutputs: [{ by: 'verify', check: HOSTILE, output: HOSTILE }],
      again: `ralph resume '${HOSTILE}'`,
    });
    expect(hostileSign(note)).toBeNull();
    const front = parse(/^---\n([\s\S]*?)\n---\n/.exec(note)?.[1] ?? '');
    expect(front).toMatchObject({ state_file: PLACE.stateFile, log_dir: PLACE.logDir });
  });

  test.for(NOTES)('a note of a rescue pass: $kind', (note) => {
    const context = { created: START, agent: 'claude', stateDir: HOSTILE } as const;
    expect(hostileSign(renderVaultNote(note, context))).toBeNull();
  });

  test('a request for an approval', () => {
    const request = { taskId: HOSTILE, approval: APPROVAL, asked: HOSTILE, logDir: HOSTILE };
    expect(hostileSign(renderRequest(request))).toBeNull();
  });

  test('events in JSON, which keep the whole text', () => {
    const lines: string[] = [];
    const view = jsonView({ write: (text) => void lines.push(text) });
    const event = stamped(
      { event: 'task_started', prompt: HOSTILE, max_iterations: 1 },
      START,
      HOSTILE,
    );
    view.event(event);
    expect(lines).toHaveLength(1);
    expect(hostileSign(lines.join(''))).toBeNull();
    expect(JSON.parse(lines.join(''))).toEqual(event);
  });

  test('a briefing and its page', () => {
    const briefing = makeBriefing(
      briefingSources({
        vault: `/${HOSTILE}`,
        stateDir: `/${HOSTILE}/s`,
        runs: [foundRun('t', { ...TASK, task_id: 't', status: 'failed', finished_at: START })],
        notes: [{ file: `/${HOSTILE}`, reason: HOSTILE, taskId: HOSTILE, at: START }],
        requests: [{ file: `/${HOSTILE}`, taskId: HOSTILE, at: START }],
        journal: [
          {
            kind: 'happening',
            taskId: 't',
            happening: { event: 'claim_held', at: START, detail: HOSTILE },
            finalMessage: HOSTILE,
          },
        ],
      }),
    );
    expect(hostileSign(renderPage(briefing))).toBeNull();
    expect(hostileSign(renderBriefing(briefing))).toBeNull();
  });
});

describe('a plan', () => {
  test('a plan keeps the lines of a text within its section', () => {
    const plan = {
      task_id: 't',
      refusals: [],
      task_type: 'default',
      completion: 'it says so\nWarnings:\n  none',
      full_iterations: 1,
      max_iterations: 1,
      argv: [],
      further_agents: [],
      cwd: '/',
      first_prompt: '',
      continuation_prompt: '',
      settings: [],
      judge: null,
      deciders: [],
      supervision: [],
      sandbox: null,
      writes: [],
      warnings: [],
    };
    expect(renderPlan(plan, true)).toContain(
      'Done when:\n  it says so\n  Warnings:\n    none\n\nThe agent',
    );
  });
});

describe('a fence', () => {
  test('a fence is longer than any of a million runs of backticks', () => {
    const runs = '` '.repeat(1_000_000);
    expect(fenced(`${runs}\`\`\`\``).startsWith('`````text\n')).toBe(true);
    expect(codeSpan(`x${runs}`).startsWith('``x')).toBe(true);
  });
});

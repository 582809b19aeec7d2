import { expect, test } from 'vitest';
import { stamped } from '../../src/core/machine/events.ts';
import type { Ending } from '../../src/core/machine/loop-state.ts';
import { makeBriefing } from '../../src/core/task/briefing.ts';
import { showTask } from '../../src/core/task/shown-task.ts';
import type { TaskSandbox } from '../../src/core/task/task-sandbox.ts';
import { renderBriefing } from '../../src/report/briefing/briefing.ts';
import { briefingJson } from '../../src/report/briefing/briefing-json.ts';
import { renderPage } from '../../src/report/briefing/html/page.ts';
import { eventLine } from '../../src/report/event-line.ts';
import { renderNote } from '../../src/report/notes/note.ts';
import { statusJson } from '../../src/report/screens/status.ts';
import { taskDetail } from '../../src/report/screens/task-detail.ts';
import { briefingSources, foundRun } from '../helpers/brief-task.ts';
import { newTask, START } from '../helpers/new-task.ts';

const MET: TaskSandbox = {
  is: 'on',
  version: '0.0.78',
  rules: {
    ...{ allow_write: [], allow_net: [], deny_read: [], allow_read: [], keep_env: [] },
    allow_unix_sockets: false,
    sandbox_checks: true,
  },
  changes: [{ at: START, what: '--allow-net now has a.example.com' }],
  refused: [
    { host: 'evil.example.com', port: 443, count: 3 },
    { host: "it's.`odd`|", port: 80, count: 1 },
  ],
  planted: ['/home/user/app/.mcp.json'],
};

const ENDING: Ending = {
  ...{ status: 'max_iterations_reached', exitReason: 'max_iterations_reached' },
  ...{ event: 'max_iterations_reached', note: 'EXHAUSTED' },
  ...{ evidence: null, error: null, until: null },
};

function noteOf(sandbox: TaskSandbox | null): string {
  return renderNote({
    task: { ...newTask(), sandbox },
    ending: ENDING,
    agent: 'claude',
    created: START,
    ...{ stateFile: '/v/t.json', logDir: '/v/t', completion: 'it is done' },
    ...{ lastOutput: null, missing: [], commandOutputs: [], checkout: null, again: 'ralph resume' },
  });
}

test('the note says that the sandbox was on, what it refused, and which flag would allow it', () => {
  const note = noteOf(MET);
  expect(note).toContain('Sandbox: on; 2026-01-05T10:00Z --allow-net now has a.example.com.');
  expect(note).toContain(
    '## The sandbox refused\n\n- `evil.example.com:443 (3 times)`: `--allow-net evil.example.com:443` would allow it\n- ',
  );
  expect(note).toContain("``--allow-net 'it'\\''s.`odd`|:80'``");
  expect(note).toContain(
    'run\n\nRead them before anything runs them.\n\n- `/home/user/app/.mcp.json`\n',
  );
});

test('the note of a task without a sandbox says that it was off, and no more', () => {
  expect(noteOf(null)).toContain('Sandbox: off.');
  expect(noteOf(null)).not.toContain('The sandbox refused');
});

const BRIEFING = makeBriefing(
  briefingSources({ runs: [foundRun('kept', { sandbox: MET }), foundRun('loose')] }),
);

test('the report says of each task whether it was in the sandbox, and what that refused', () => {
  const text = renderBriefing(BRIEFING);
  expect(text).toContain('| cost | sandbox | why |');
  expect(text).toMatch(/\n\| kept \|.* \| on \| .*\n\| loose \|.* \| off \| /);
  expect(text).toContain(
    '## The sandbox refused\n\n- kept: `evil.example.com:443 (3 times)`: `--allow-net evil.example.com:443` would allow it\n',
  );
  expect(text).toContain('\n- kept: `/home/user/app/.mcp.json`\n');
});

test('the report as JSON and as a page has the same', () => {
  expect(briefingJson(BRIEFING)).toMatchObject({
    tasks: [
      { task_id: 'kept', sandbox: 'on', refused_hosts: MET.refused, planted: MET.planted },
      { task_id: 'loose', sandbox: 'off', refused_hosts: [], planted: [] },
    ],
  });
  const page = renderPage(BRIEFING);
  expect(page).toContain('<dt>sandbox</dt><dd>off</dd>');
  expect(page).toContain(
    '<dt>refused</dt><dd>evil.example.com:443 (3 times): --allow-net evil.example.com:443 would allow it</dd>',
  );
  expect(page).toContain('<dd>/home/user/app/.mcp.json</dd>');
});

test('the status of a task has it, too', () => {
  const { task, shown } = foundRun('kept', { sandbox: MET });
  if (task === null) throw new Error('the task can be read');
  const place = { taskId: 'kept', vault: '/v', stateDir: '/v/.ralph_state', keyFlag: null };
  const detail = { shown, task, place, completion: 'it is done', maxCostUsd: null, at: START };
  const text = taskDetail({ ...detail, isTreeGone: false, day: null }, { width: 200, paint: null });
  expect(text).toContain('sandbox     on; 2026-01-05T10:00Z --allow-net now has a.example.com\n');
  expect(text).toContain('refused     evil.example.com:443 (3 times): --allow-net ');
  expect(text).toContain('planted     /home/user/app/.mcp.json\n');
  expect(statusJson(shown)).toMatchObject({ sandbox: 'on' });
  const here = { at: START, host: 'h', bootId: 'b', pidNamespace: '', isAlive: () => false };
  expect(statusJson(showTask(newTask(), shown, here))).toMatchObject({ sandbox: 'off' });
});

const lineOf = (body: Parameters<typeof stamped>[0]) =>
  eventLine(stamped(body, START, 't'), { agent: 'claude' });

test('its events are lines of a run', () => {
  const refused = { event: 'sandbox_refused', iteration: 1, host: 'evil.example.com' } as const;
  expect(lineOf({ ...refused, port: 443, count: 3 })).toBe(
    'refused: evil.example.com:443 (3 times)',
  );
  expect(lineOf({ ...refused, port: 80, count: 1 })).toBe('refused: evil.example.com:80 (once)');
  expect(lineOf({ event: 'sandbox_planted', iteration: 1, path: '/home/user/app/.mcp.json' })).toBe(
    'new file that other programs may run: /home/user/app/.mcp.json',
  );
});

test('what is left out is counted in each text', () => {
  const more = { refused: 7, planted: 9 };
  const note = noteOf({ ...MET, more });
  expect(note).toContain('\n- and 7 more\n');
  expect(note).toContain('- `/home/user/app/.mcp.json`\n- and 9 more\n');
  const planted = {
    event: 'sandbox_planted',
    iteration: 1,
    path: '/home/user/app/.mcp.json',
  } as const;
  expect(lineOf({ ...planted, more: 9 })).toMatch(/; and 9 more$/);
  const refused = { event: 'sandbox_refused', iteration: 1, host: 'evil.example.com' } as const;
  expect(lineOf({ ...refused, port: 80, count: 1, more: 7 })).toBe(
    'refused: evil.example.com:80 (once); and 7 more',
  );
});

test('a resume that changes the sandbox says how', () => {
  const resumed = { event: 'task_resumed', iteration: 2, max_iterations: 5 } as const;
  const changes = ['the sandbox is off'];
  expect(lineOf({ ...resumed, sandbox_changes: changes })).toBe(
    'resumed at iteration 2/5; the sandbox is off',
  );
  expect(lineOf(resumed)).toBe('resumed at iteration 2/5');
});

import { EventEmitter } from 'node:events';
import { Chalk } from 'chalk';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type EventBody, stamped } from '../../../src/core/machine/events.ts';
import { laterBy } from '../../../src/core/task/task-state.ts';
import { columnsOf } from '../../../src/report/columns.ts';
import { type LiveOptions, liveView } from '../../../src/report/terminal/live.ts';
import { START } from '../../helpers/new-task.ts';
import { type VirtualTerminal, virtualTerminal } from '../../helpers/virtual-terminal.ts';

const NO_USAGE = { cost_usd: 0, input_tokens: 0, output_tokens: 0 };
// biome-ignore lint/suspicious/noControlCharactersInRegex: sequences that set colours
const COLOUR = /\u001b\[\d*(;\d+)*m/g;

beforeEach(() => {
  vi.useFakeTimers({ now: Date.parse(START) });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A live view on a terminal of so many columns, under a clock that stands still. */
function stage(columns = 80, more: Partial<LiveOptions> = {}) {
  const screen: VirtualTerminal = virtualTerminal(columns);
  const writes: string[] = [];
  const stream = Object.assign(new EventEmitter(), {
    columns,
    rows: 24,
    write(text: string) {
      writes.push(text);
      screen.write(text);
    },
  });
  const view = liveView({
    stream,
    colors: new Chalk({ level: 0 }),
    term: 'xterm',
    verbose: false,
    ...{ agent: 'claude', asked: 'Fix the tests.' },
    task: {
      taskId: 't',
      vault: '/v',
      stateDir: '/v/.ralph_state',
      keyFlag: null,
      needsTrust: false,
    },
    nowMs: () => Date.now(),
    ...more,
  });
  const tell = (body: EventBody): void => view.event(stamped(body, START, 't'));
  return {
    view,
    tell,
    writes,
    screen: () => screen.screen(),
    cursor: () => screen.cursor,
    unknown: screen.unknown,
    pass: (ms: number) => vi.advanceTimersByTime(ms),
    begin: (iteration = 3, attempt = 1, costUsd = 0) =>
      tell({
        event: 'iteration_started',
        iteration,
        max_iterations: 10,
        attempt,
        timeout_at: laterBy(START, 30 * 60_000),
        usage: { ...NO_USAGE, cost_usd: costUsd },
      }),
    use: (tool: string, target: string) =>
      tell({ event: 'agent_activity', iteration: 3, activity: { kind: 'tool', tool, target } }),
    resize(to: number) {
      screen.resize(to);
      stream.columns = to;
      stream.emit('resize');
    },
  };
}

const ITERATED = {
  event: 'task_iterated',
  iteration: 3,
  started_at: START,
  duration_ms: 65_000,
  outcome: 'answered',
  exit_code: 0,
  completed: false,
  near_miss: false,
  ...NO_USAGE,
  cost_usd: 0.25,
  turns: 1,
  tools: 1,
  refused: [],
  files_changed: 4,
  output_preview: 'I have fixed the parser; next comes the printer, and then the rest of it all',
  detail: 'answered',
} as const satisfies EventBody;

const ENDING = {
  exit_reason: 'completed',
  exit_code: 0,
  iterations_used: 3,
  elapsed_seconds: 4_325,
  usage: { ...NO_USAGE, cost_usd: 0.5 },
  evidence: { kind: 'promise', detail: 'TASK_COMPLETE' },
  changes: { commits: 2, files: 5, lines: null },
  git: { snapshots: null, work_tree: null },
  final_message: 'TASK_COMPLETE',
  note: null,
  state_file: '/v/.ralph_state/history/t.json',
  log_dir: '/v/.ralph_state/history/t',
} as const;

const OWN_TREE = {
  path: '/r.ralph/t',
  branch: 'ralph/t',
  base: 'abc',
  onto: 'main',
  origin: '/r',
} as const;

describe('the picture', () => {
  test('shows the iteration, a bar, elapsed and remaining time, the cost, and what the agent does', () => {
    const { begin, use, pass, screen, cursor } = stage();
    begin(3, 1, 0.42);
    use('Bash', 'npm test');
    pass(125_000);
    expect(screen()).toEqual([
      expect.stringMatching(
        /^\S iteration 3\/10 {2}████▒▒░{14} {2}2m 05s · 27m 55s left · \$0\.42$/,
      ),
      '  Bash: npm test',
    ]);
    expect(cursor()).toEqual({ row: 0, column: 0, isShown: false });
  });

  test.for([
    [80, /3\/10, attempt 2 {2}█+▒+░+ {2}1m · 29m left · \$0\.42$/],
    [50, /3\/10, attempt 2 {2}█+▒+░+ {2}1m · \$0\.42$/],
    [40, /3\/10, attempt 2 {2}1m · \$0\.42$/],
    [28, /iteration 3\/10, attempt 2$/],
    [20, /iteration 3\/10.*…$/],
  ] as const)('the live view fits %i columns', ([columns, line]) => {
    const { begin, use, pass, screen } = stage(columns);
    begin(3, 2, 0.42);
    use('Edit', 'src/日本語のとても長いファイル名/😀👨‍👩‍👧❤️/a.ts'.repeat(3));
    pass(60_000);
    expect(screen()[0]).toMatch(line);
    expect(screen()).toHaveLength(2);
    expect(screen()[1]).toMatch(/^ {2}Edit: src\/.*…$/);
    for (const each of screen()) expect(columnsOf(each)).toBeLessThan(columns);
  });

  test('uses plain signs on the Linux console', () => {
    const { begin, screen } = stage(80, { term: 'linux' });
    begin();
    expect(screen().join('')).toMatch(/^[ -~·]*$/);
  });

  test('draws each frame in place, with one write', () => {
    const { begin, use, pass, screen, cursor, writes } = stage();
    begin();
    use('Bash', 'npm test');
    writes.length = 0;
    pass(125);
    expect(writes).toHaveLength(1);
    pass(1_000);
    expect(writes).toHaveLength(9);
    expect(screen()).toEqual([expect.stringContaining('iteration 3/10'), '  Bash: npm test']);
    expect(cursor()).toMatchObject({ row: 0, column: 0 });
  });

  test('covers an echoed ^C and keys with the next frames', () => {
    const { begin, view, pass, screen, writes } = stage();
    begin();
    pass(1_000);
    const before = screen();
    view.doing?.({ kind: 'stop' });
    expect(writes.at(-1)).toContain('stopping');
    expect(screen()).toHaveLength(before.length);
  });
});

describe('waits', () => {
  const wait = (kind: 'delay' | 'back-off' | 'outage' | 'recheck' | 'usage-limit', ms: number) =>
    ({ kind: 'wait', wait: { kind, until: laterBy(START, ms) } }) as const;

  test.for([
    [wait('usage-limit', 7_200_000), /waiting for the usage limit, 1h 59m left$/],
    [wait('back-off', 90_000), /trying again in 1m$/],
    [wait('recheck', 90_000), /trying again in 1m$/],
    [wait('outage', 300_000), /agent's service, trying again in 4m 30s$/],
    [wait('delay', 60_000), /next iteration in 30s$/],
    [
      { kind: 'approval', what: 'send it', until: laterBy(START, 86_400_000) },
      /an approval, 23h 59m left: send it$/,
    ],
    [{ kind: 'verify', command: 'npm test' }, /^ {2}verifying: npm test$/],
    [{ kind: 'after', command: './push' }, /^ {2}--after: \.\/push$/],
  ] as const)('%j', ([doing, line]) => {
    const { begin, view, pass, screen } = stage();
    begin();
    view.doing?.(doing);
    pass(30_000);
    expect(screen()[1]).toMatch(line);
    begin(4);
    pass(125);
    expect(screen()[1]).toBe('  starting');
  });

  test('does not show a short pause between iterations', () => {
    const { begin, view, pass, screen } = stage();
    begin();
    view.doing?.(wait('delay', 2_000));
    pass(125);
    expect(screen()).toHaveLength(1);
  });

  test('stops the clock of the task while no work is possible', () => {
    const { begin, view, pass, screen } = stage();
    begin();
    pass(60_000);
    view.doing?.(wait('usage-limit', 3_600_000));
    pass(600_000);
    expect(screen()[0]).toMatch(/11m · 29m left/);
  });
});

test('shows a wait for a person before the first iteration', () => {
  const { tell, view, screen } = stage();
  tell({ event: 'task_started', prompt: 'x', max_iterations: 7 });
  tell({ event: 'task_paused', approval_id: 'start', what: 'begin', file: 'A.md' });
  view.doing?.({ kind: 'approval', what: 'begin', until: laterBy(START, 3_600_000) });
  expect(screen().slice(-2)).toEqual([
    expect.stringMatching(/^\S iteration 1\/7 .*0s$/),
    '  waiting for an approval, 1h left: begin',
  ]);
});

test('shows a request to stop neither before the first picture nor after the end', () => {
  const { begin, tell, view, screen } = stage();
  view.doing?.({ kind: 'stop' });
  expect(screen()).toEqual(['']);
  begin();
  tell({ event: 'task_completed', status: 'completed', ...ENDING });
  view.doing?.({ kind: 'stop' });
  expect(screen().join('')).not.toContain('stopping');
});

describe('the permanent lines', () => {
  test('have one for each finished iteration, above the picture', () => {
    const { begin, tell, view, pass, screen, unknown } = stage();
    view.notice(
      'A sentence that is so long that it needs more than one line of this terminal here.',
    );
    begin();
    tell(ITERATED);
    tell({
      ...ITERATED,
      iteration: 4,
      outcome: 'timed-out',
      detail: 'it ran out of time',
      files_changed: null,
    });
    tell({ event: 'near_miss', iteration: 4, line: 'I will say it', why: 'in-a-sentence' });
    begin(5);
    pass(125);
    expect(screen()).toEqual([
      '  A sentence that is so long that it needs more than one line of this terminal',
      '  here.',
      '• 3/10 answered, 1m 05s, $0.25, 4 files — I have fixed the parser; next comes …',
      '✘ 4/10 timed out, 1m 05s — it ran out of time',
      '  not counted: the promise is inside a sentence: I will say it',
      expect.stringMatching(/^\S iteration 5\/10/),
      '  starting',
    ]);
    expect(unknown).toEqual([]);
  });

  test('a line says that the agent is asked back, and by which attempt', () => {
    const { begin, tell, pass, screen } = stage();
    begin(3, 1, 1.5);
    tell({ event: 'asked_back', iteration: 3, attempt: 2, line: 'DONE', where: 'earlier-line' });
    pass(125);
    expect(screen()).toEqual([
      '  asking the agent whether it is done (attempt 2), because the promise is not',
      '  at the end: DONE',
      expect.stringMatching(/^\S iteration 3\/10, attempt 2 .*\$1\.50$/),
      '  asking whether it is done',
    ]);
  });

  test('tell what the sandbox refused, and what was planted in it', () => {
    const { begin, tell, screen } = stage();
    begin();
    const refused = { event: 'sandbox_refused', iteration: 3, host: 'evil.example.com' } as const;
    tell({ ...refused, port: 443, count: 3 });
    tell({ event: 'sandbox_planted', iteration: 3, path: '/home/user/app/.mcp.json' });
    expect(screen().slice(0, 2)).toEqual([
      '  refused: evil.example.com:443 (3 times)',
      '  new file that other programs may run: /home/user/app/.mcp.json',
    ]);
  });

  test('tell the verdict of the judge, and that it gave none', () => {
    const { tell, screen } = stage();
    const judged = { event: 'judged', iteration: 3, agent: 'codex', model: null } as const;
    const rest = { tree: null, criteria: [], cost_usd: 0 };
    tell({ ...judged, ...rest, verdict: 'met', why: null });
    tell({ ...judged, ...rest, verdict: 'none', why: 'it ran out of time' });
    expect(screen()).toEqual([
      '  codex has judged the claim: met',
      '  not judged: it ran out of time',
    ]);
  });

  test('show text and tool calls of the agent with --verbose', () => {
    const { begin, use, view, screen } = stage(80, { verbose: true });
    begin();
    view.agentText('First I look.\nThen I run.\n');
    use('Bash', 'npm test');
    expect(screen().slice(0, 3)).toEqual(['First I look.', 'Then I run.', '  Bash: npm test']);
  });

  test('adds up the cost over iterations and after a resume', () => {
    const { begin, tell, pass, screen } = stage();
    begin(3, 1, 1.5);
    tell(ITERATED);
    pass(125);
    expect(screen().at(-1)).toMatch(/\$1\.75$/);
  });
});

describe('a resize', () => {
  test.for([
    [80, 50],
    [80, 30],
    [50, 120],
  ] as const)('resizing from %i to %i columns leaves nothing of the old picture', ([from, to]) => {
    const { begin, use, tell, pass, screen, resize, unknown } = stage(from);
    begin();
    use('Bash', 'x'.repeat(200));
    pass(1_000);
    resize(to);
    pass(1_000);
    expect(screen()).toHaveLength(2);
    for (const line of screen()) expect(columnsOf(line)).toBeLessThan(to);
    tell(ITERATED);
    expect(screen()).toHaveLength(3);
    expect(unknown).toEqual([]);
  });
});

test.for([
  ['timed-out', 'timed out (iteration limit)', true],
  ['errored', 'the agent exited with code 1: iteration limit exceeded', false],
] as const)('a line names the flag of the iteration limit only at that limit: %s', (row) => {
  const [outcome, detail, isNamed] = row;
  const { begin, tell, screen } = stage(120);
  begin();
  tell({ ...ITERATED, outcome, detail });
  expect(screen().join().includes('--iteration-timeout')).toBe(isNamed);
});

describe('the closing lines', () => {
  test('say what was done, what changed and what was used', () => {
    const { begin, tell, view, pass, screen, cursor } = stage();
    begin();
    pass(125_000);
    tell({ event: 'task_completed', status: 'completed', ...ENDING });
    view.close();
    expect(screen()).toEqual([
      '✔ completed: Fix the tests.',
      '  changed  5 files, in 2 commits',
      '  used     3 iterations, 1h 12m, $0.50',
    ]);
    expect(cursor()).toEqual({ row: 3, column: 0, isShown: true });
  });

  test('say what to do next, with the command on one line', () => {
    const { begin, tell, view, screen } = stage(50);
    begin();
    tell({
      ...ENDING,
      event: 'max_iterations_reached',
      max_iterations: 3,
      status: 'max_iterations_reached',
      exit_reason: 'max_iterations',
      exit_code: 3,
      evidence: null,
      changes: null,
      note: '/v/Needs_Action/RALPH_EXHAUSTED_t.md',
    });
    view.close();
    expect(screen().join('')).toBe(
      '✘ not completed: the iterations ran out' +
        '  used  3 iterations, 1h 12m, $0.50' +
        '  next  ralph resume t --max-iterations +5 --vault /v' +
        '  note  /v/Needs_Action/RALPH_EXHAUSTED_t.md' +
        '  logs  /v/.ralph_state/history/t',
    );
  });

  test.for([
    {
      what: 'in a work tree of the task’s own, which may go: how to look at the changes and land them',
      changes: { commits: 1, files: 2, lines: { added: 12, removed: 3 } },
      work_tree: OWN_TREE,
      says:
        '  changed  2 files (+12 -3), in 1 commit\n' +
        '  used     3 iterations, 1h 12m, $0.50\n' +
        '  look     ralph diff t --vault /v\n' +
        '  branch   ralph/t, which lands on main\n' +
        '  land     ralph land t --vault /v',
    },
    {
      what: 'elsewhere: how to look at the changes and take them back',
      changes: { commits: 0, files: 2, lines: null },
      work_tree: null,
      says: '  look     ralph diff t --vault /v\n  undo     ralph undo t --vault /v',
    },
  ])('tell $what', ({ changes, work_tree, says }) => {
    const { begin, tell, screen } = stage(100);
    begin();
    tell({
      ...ENDING,
      ...{ event: 'task_completed', status: 'completed', changes },
      git: { snapshots: 'refs/ralph/t', work_tree },
    });
    expect(screen().join('\n')).toContain(says);
  });

  test('offer nothing to take back where nothing has changed, or without snapshots', () => {
    const none = { commits: 0, files: 0, lines: { added: 0, removed: 0 } };
    for (const more of [
      { changes: none, git: { snapshots: 'refs/ralph/t', work_tree: null } },
      { git: { snapshots: null, work_tree: null } },
    ]) {
      const { begin, tell, screen } = stage();
      begin();
      tell({ event: 'task_completed', status: 'completed', ...ENDING, ...more });
      expect(screen().join('')).not.toContain('ralph undo');
    }
  });

  test('the end names no files if nothing is kept', () => {
    const { begin, tell, screen } = stage(80, { task: null });
    begin();
    tell({
      ...ENDING,
      event: 'task_stopped',
      status: 'stopped',
      exit_reason: 'stopped:SIGINT',
      exit_code: 130,
    });
    expect(screen()).toEqual([
      '✘ stopped (SIGINT)',
      '  changed  5 files, in 2 commits',
      '  used     3 iterations, 1h 12m, $0.50',
    ]);
  });

  test('without an end the picture is removed and the cursor is back', () => {
    const { begin, view, pass, screen, cursor, writes } = stage();
    begin();
    view.close();
    view.close();
    expect(screen()).toEqual(['']);
    expect(cursor()).toEqual({ row: 0, column: 0, isShown: true });
    writes.length = 0;
    pass(1_000);
    expect(writes).toEqual([]);
  });
});

test('colours change nothing in the text', () => {
  const [plain, coloured] = [0, 1].map((level) => {
    vi.setSystemTime(Date.parse(START));
    const { begin, tell, use, pass, writes } = stage(80, {
      colors: new Chalk({ level: level === 0 ? 0 : 1 }),
    });
    begin();
    use('Bash', 'npm test');
    pass(1_000);
    tell(ITERATED);
    tell({ event: 'task_completed', status: 'completed', ...ENDING });
    return writes.join('');
  });
  expect(coloured).toMatch(COLOUR);
  expect(plain).not.toMatch(COLOUR);
  expect(coloured?.replace(COLOUR, '')).toBe(plain);
});

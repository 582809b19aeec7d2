import { describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  QUIET_LISTENER,
  QUIET_SIGNS,
  type ReaderListener,
} from '../../../src/effects/agents/agent.ts';
import { createClaudeStream } from '../../../src/effects/claude/stream.ts';
import type { AgentSigns } from '../../../src/effects/processes/run-process.ts';

type Fields = Readonly<Record<string, unknown>>;

const INIT = { type: 'system', subtype: 'init', session_id: 'session-1', model: 'model-1' };

function assistant(id: string, content: unknown, more: Fields = {}, usage: Fields = {}): Fields {
  const message = { id, role: 'assistant', model: 'model-1', content, usage };
  return { type: 'assistant', message, parent_tool_use_id: null, ...more };
}

function text(words: string): Fields {
  return { type: 'text', text: words };
}

function call(id: string, name: string, input: unknown = {}): Fields {
  return { type: 'tool_use', id, name, input };
}

function answer(id: string, isError?: boolean, content: unknown = 'output'): Fields {
  const block = { tool_use_id: id, type: 'tool_result', content, is_error: isError };
  return { type: 'user', message: { role: 'user', content: [block] }, parent_tool_use_id: null };
}

function retry(status: number | null, attempt = 1): Fields {
  return {
    type: 'system',
    subtype: 'api_retry',
    attempt,
    max_retries: 10,
    retry_delay_ms: 512.5,
    error_status: status,
    error: 'some_error',
  };
}

function limit(status: string, rateLimitType: string, utilization: number): Fields {
  const info = { status, rateLimitType, utilization, resetsAt: 1_736_899_200 };
  return { type: 'rate_limit_event', rate_limit_info: info };
}

function result(fields: Fields = {}): Fields {
  return { type: 'result', subtype: 'success', is_error: false, result: 'the end', ...fields };
}

function bytes(...events: readonly unknown[]): Buffer {
  return Buffer.from(
    events
      .map((event) => `${typeof event === 'string' ? event : JSON.stringify(event)}\n`)
      .join(''),
  );
}

function streamTo(listener: Partial<ReaderListener> = {}, signs: Partial<AgentSigns> = {}) {
  return createClaudeStream({ ...QUIET_LISTENER, ...listener }, { ...QUIET_SIGNS, ...signs });
}

function read(events: readonly unknown[], ...heard: Parameters<typeof streamTo>) {
  const stream = streamTo(...heard);
  stream.push(bytes(...events));
  stream.end();
  return stream.facts();
}

/** Reads events and notes what the listeners are told, in order. */
function listen(events: readonly unknown[]) {
  const told: unknown[] = [];
  const facts = read(
    events,
    {
      activity: (activity) => told.push(activity),
      text: (words) => told.push({ kind: 'whole-text', text: words }),
      retry: ({ status }) => told.push({ kind: 'retry', status }),
    },
    {
      hopeless: (cause) => told.push(cause) > 0,
      resultGiven: () => told.push('result given'),
    },
  );
  return { told, facts };
}

const TRANSCRIPT: readonly unknown[] = [
  INIT,
  assistant('m1', [text('Größe: 3 € 🙂')]),
  assistant('m1', [call('t1', 'Bash', { command: 'echo "ä\\n🙃"' })]),
  answer('t1', false, 'ü\r\n'),
  'not json',
  retry(529),
  limit('allowed_warning', 'five_hour', 0.9),
  assistant('m2', [text('Fertig ✓')]),
  result({ result: 'Fertig ✓', total_cost_usd: 0.5, usage: { input_tokens: 3 }, num_turns: 2 }),
];

describe('where the bytes are cut', () => {
  const whole = read(TRANSCRIPT);
  const input = bytes(...TRANSCRIPT);

  test('does not matter', () => {
    for (let at = 0; at <= input.length; at += 1) {
      const stream = streamTo();
      stream.push(input.subarray(0, at));
      stream.push(input.subarray(at));
      stream.end();
      expect(stream.facts()).toEqual(whole);
    }
  });

  test('does not matter byte by byte, nor does CRLF or a missing last line end', () => {
    const stream = streamTo();
    const crlf = Buffer.from(input.toString().trimEnd().replaceAll('\n', '\r\n'));
    for (const byte of crlf) stream.push(Buffer.of(byte));
    stream.end();
    expect(stream.facts()).toEqual(whole);
  });

  test('gives these facts', () => {
    expect(whole).toEqual({
      result: {
        subtype: 'success',
        isError: false,
        apiErrorStatus: null,
        errorCode: null,
        text: 'Fertig ✓',
        errors: [],
        terminalReason: null,
        numTurns: 2,
        isRefusal: false,
        isBrokenOff: false,
        isLocal: false,
      },
      finalMessage: 'Fertig ✓',
      partialOutput: 'Größe: 3 € 🙂\n\nFertig ✓\n\n[tool] Bash: echo "ä\\n🙃"',
      retries: [{ status: 529, error: 'some_error', attempt: 1, maxRetries: 10, delayMs: 512.5 }],
      endedInRetry: false,
      rateLimit: {
        status: 'allowed_warning',
        type: 'five_hour',
        utilization: 0.9,
        resetsAt: '2025-01-15T00:00:00.000Z',
      },
      usage: { cost_usd: 0.5, input_tokens: 3, output_tokens: 0 },
      turns: 2,
      worked: true,
      tools: 1,
      stoppedSubAgents: 0,
      refused: [],
      sessionId: 'session-1',
      sessionUsage: null,
      skippedLines: 0,
      brokenLines: 0,
    });
  });
});

describe('what nobody expected', () => {
  test('starts with nothing', () => {
    expect(read([])).toMatchObject({
      result: null,
      finalMessage: null,
      partialOutput: '',
      usage: { cost_usd: 0, input_tokens: 0, output_tokens: 0 },
      rateLimit: null,
      sessionId: null,
    });
  });

  test('passes over what is no event', () => {
    const junk = [
      'npm warn',
      '{"type":"result"',
      '{"type":"result",}',
      '[1]',
      '"x"',
      '7',
      'null',
      '{"type":"stream_event","',
    ];
    const facts = read([INIT, ...junk, '{}', '{"type":5}', '', assistant('m1', [text('on')])]);
    expect(facts).toMatchObject({ brokenLines: 0, finalMessage: 'on', result: null });
  });

  test('parses no line that cannot be an object: each would cost an exception', () => {
    const parse = vi.spyOn(JSON, 'parse');
    onTestFinished(() => parse.mockRestore());
    const junk = ['y', 'npm warn {}', '7', '[{}]', ' \t', '}', '{"type":"result"', '\u00a0{}'];
    const facts = read([...Array(10_000).fill(junk).flat(), INIT]);
    expect(facts.sessionId).toBe('session-1');
    expect(parse).toHaveBeenCalledOnce();
  });

  test.for([
    ['escape sequences', '\u001b[?2004h\u001b[?1004l', ''],
    ['a title', '\u001b]0;claude\u0007', ''],
    ['a title that ends otherwise', '\u001b]2;claude\u001b\\', ''],
    ['a byte order mark', '\ufeff', ''],
    ['a status line', 'workspace app | last session 12m ago ', ''],
    ['a status line with braces', 'app {main} ', ''],
    ['a line that looks like an event', '{app} ', ''],
    ['sequences behind it', '', '\u001b[0m\u001b[?25h'],
    ['both', '\u001b[2K\r', ' \u001b[K'],
    ['a mark behind it', '', '\ufeff'],
    ['a title with braces behind it', '', '\u001b]0;{app}\u0007'],
  ])('reads an event behind or before %s', ([, before, behind]) => {
    const facts = read([`${before}${JSON.stringify(INIT)}${behind}`]);
    expect(facts).toMatchObject({ sessionId: 'session-1', brokenLines: 0 });
  });

  test('ignores an event of another session that a log quotes', () => {
    const other = JSON.stringify(result({ session_id: 'another' }));
    expect(read([INIT, `[debug] last event: ${other}`]).result).toBeNull();
  });

  test('is not held up by sequences that can be read in two ways', () => {
    const line = `{${'\u001b]\u001b\\'.repeat(120)}x}`;
    expect(read([line, INIT]).sessionId).toBe('session-1');
  });

  test('never looks for an event inside of one', () => {
    const quoting = assistant('m1', [text(`it says ${JSON.stringify(INIT)}`)]);
    expect(read([quoting])).toMatchObject({ sessionId: null, finalMessage: expect.any(String) });
  });

  test('reads an event with blanks around it', () => {
    const line = JSON.stringify(INIT);
    for (const blank of [` \t${line}`, `${line}\r`, `${line} \t\r`]) {
      expect(read([blank]).sessionId).toBe('session-1');
    }
  });

  test('passes over unknown events, with the type in front or not', () => {
    const facts = read([
      assistant('m1', [text('on')]),
      { type: 'stream_event', event: {} },
      { uuid: 'u', type: 'tomorrow' },
      { type: 'system', subtype: 'task_started' },
    ]);
    expect(facts).toMatchObject({ finalMessage: 'on', brokenLines: 0 });
  });

  test('reads events whose type does not come first', () => {
    const { told, facts } = listen([
      { session_id: 's', subtype: 'success', type: 'result', result: 'r' },
      { subtype: 'api_retry', error_status: 401, type: 'system' },
    ]);
    expect(facts).toMatchObject({ finalMessage: 'r', sessionId: 's', retries: [{ status: 401 }] });
    expect(told).toHaveLength(2);
  });

  const wrong: readonly unknown[] = [null, 5, 'x', true, [], {}, [null, 5, 'x', [], {}]];
  const places: readonly ((value: unknown) => Fields)[] = [
    (value) => ({ ...INIT, session_id: value }),
    (value) => ({ type: 'system', subtype: value }),
    (value) => ({ type: 'assistant', message: value, parent_tool_use_id: value }),
    (value) => ({ type: 'assistant', message: { id: value, content: value, usage: value } }),
    (value) => assistant('m1', [{ type: 'text', text: value }, { type: value }]),
    (value) => assistant('m1', [{ type: 'tool_use', id: value, name: value, input: value }]),
    (value) => assistant('m1', [call('t', 'Bash', { command: value, url: value })]),
    (value) => ({ type: 'user', message: value }),
    (value) => ({ type: 'user', message: { content: value } }),
    (value) => ({
      type: 'user',
      message: { content: [{ type: 'tool_result', tool_use_id: value }] },
    }),
    (value) => ({ ...retry(null), error_status: value, attempt: value, error: value }),
    (value) => ({ type: 'rate_limit_event', rate_limit_info: value }),
    (value) => ({ type: 'rate_limit_event', rate_limit_info: { status: 's', resetsAt: value } }),
    (value) => result({ subtype: value, is_error: value, result: value, errors: value }),
    (value) => result({ usage: value, modelUsage: value, total_cost_usd: value, num_turns: value }),
    (value) => result({ modelUsage: { m: value }, total_cost_usd: 1 }),
    (value) => result({ permission_denials: value, session_id: value }),
    (value) => result({ permission_denials: [{ tool_name: value, tool_input: value }] }),
  ];

  test.for(places.map((place, index) => [index, place] as const))(
    'survives wrong types, place %i',
    ([, place]) => {
      const events = [INIT, ...wrong.map(place), assistant('last', [text('still here')])];
      const { facts } = listen(events);
      expect(facts.partialOutput).toContain('still here');
      expect(facts.brokenLines).toBe(0);
    },
  );

  test('takes no time that is none', () => {
    const at = (resetsAt: number) =>
      read([{ type: 'rate_limit_event', rate_limit_info: { status: 'rejected', resetsAt } }]);
    for (const resetsAt of [1e300, 1_736_899_200_000, -5, 0]) {
      expect(at(resetsAt).rateLimit?.resetsAt).toBeNull();
    }
  });
});

describe('big lines', () => {
  test('skips a tool result of 40 MB and reads on', () => {
    const stream = streamTo();
    const [head = '', tail = ''] = JSON.stringify(answer('t1', false, '#')).split('#');
    stream.push(bytes(INIT, assistant('m1', [call('t1', 'Bash')])));
    stream.push(Buffer.from(head));
    const chunk = Buffer.alloc(1_000_000, 'x');
    for (let megabytes = 0; megabytes < 40; megabytes += 1) stream.push(chunk);
    stream.push(Buffer.from(`${tail}\n`));
    stream.push(bytes(result({ session_id: 's' })));
    expect(stream.facts()).toMatchObject({
      skippedLines: 1,
      brokenLines: 0,
      finalMessage: 'the end',
    });
  });

  // A picture, and a text that looks like the fields that are looked for.
  const deceit = '","is_error":true,"tool_use_id":"t1"},{\\"tool_use_id\\":\\"t1\\"}\\\\';
  test.for([
    ['base64', 'A'.repeat(400_000)],
    ['quotes and backslashes', deceit.repeat(10_000)],
    ['characters of several bytes', '€🙂"\n'.repeat(60_000)],
  ] as const)('reads who answered out of a big tool result: %s', ([, output]) => {
    const denied = [{ tool_name: 'Bash', tool_use_id: 't1', tool_input: { command: 'a' } }];
    const facts = read([
      assistant('m1', [call('t1', 'Bash'), call('t2', 'Bash')]),
      answer('t1', true),
      answer('t2', undefined, [text(output), { type: 'image', source: { data: output } }]),
      result({ permission_denials: denied }),
    ]);
    expect(facts.refused).toMatchObject([{ tool: 'Bash', target: 'a', laterSucceeded: true }]);
    expect(facts.brokenLines).toBe(0);
  });

  test('passes over a big tool result that breaks off', () => {
    const line = JSON.stringify(answer('t1', false, 'A'.repeat(400_000)));
    const facts = read([`${line.slice(0, -30)}}`, assistant('m1', [text('on')])]);
    expect(facts).toMatchObject({ brokenLines: 0, finalMessage: 'on' });
  });

  test('keeps the last 1 MiB of a final message, from a whole character on', () => {
    const long = `start${'€'.repeat(400_000)}end`;
    const said = read([assistant('m1', [text(long)])]).finalMessage ?? '';
    const reported = read([result({ result: long })]).finalMessage ?? '';
    expect(said).toBe(reported);
    expect(said).toMatch(/^€+end$/);
    expect(Buffer.byteLength(said)).toBeGreaterThan(1024 * 1024 - 4);
    expect(Buffer.byteLength(said)).toBeLessThanOrEqual(1024 * 1024);
  });
});

describe('the final message', () => {
  test('is what the closing report ends with', () => {
    expect(read([assistant('m1', [text('said')]), result()]).finalMessage).toBe('the end');
  });

  // A Stop hook of the user empties the report.
  test('is the last message behind an empty report, if nothing came behind it', () => {
    const empty = result({ result: '' });
    const said = assistant('m1', [text('said')]);
    const call = [{ type: 'tool_use', id: 't1', name: 'Bash', input: {} }];
    const answer = {
      type: 'user',
      message: { content: [{ type: 'tool_result', tool_use_id: 't1' }] },
    };
    expect(read([said, empty]).finalMessage).toBe('said');
    expect(read([said, assistant('m2', call), answer, empty]).finalMessage).toBe('');
    expect(read([said, assistant('m1', call), answer, empty]).finalMessage).toBe('');
    expect(read([empty]).finalMessage).toBe('');
    // What a second report is about came behind the first one.
    expect(read([said, result(), empty]).finalMessage).toBe('');
    expect(read([assistant('m1', call), said, answer, empty]).finalMessage).toBe('');
    const subAgent = assistant('s1', call, { parent_tool_use_id: 't0' });
    expect(read([said, subAgent, empty]).finalMessage).toBe('');
  });

  test('is the last message of the main agent where no report came, all its blocks', () => {
    const facts = read([
      assistant('m1', [text('earlier')]),
      assistant('m2', [text('one')]),
      assistant('m2', [{ type: 'thinking', thinking: 'hm' }]),
      assistant('m2', [text('two')]),
      assistant('sub', [text('DONE')], { parent_tool_use_id: 't1' }),
    ]);
    expect(facts).toMatchObject({ finalMessage: 'one\ntwo', turns: 2, result: null });
  });

  test('is never an earlier message', () => {
    const facts = read([
      assistant('m1', [text('<promise>DONE</promise>')]),
      assistant('m2', [call('t1', 'Bash')]),
    ]);
    expect(facts.finalMessage).toBeNull();
  });

  test.for(['error_max_turns', 'error_max_budget_usd', 'error_during_execution'])(
    'is the last message where the report has no text: %s',
    (subtype) => {
      const errors = ['Reached\nmaximum'];
      const report = { type: 'result', subtype, is_error: true, errors, terminal_reason: 'x' };
      const facts = read([assistant('m1', [text('so far')]), report]);
      expect(facts.finalMessage).toBe('so far');
      expect(facts.result).toMatchObject({
        subtype,
        isError: true,
        text: null,
        errors: ['Reached maximum'],
        terminalReason: 'x',
      });
    },
  );

  test('hands on that a success is an error', () => {
    const report = result({ is_error: true, api_error_status: 401, result: 'Invalid API key' });
    expect(read([report]).result).toMatchObject({
      subtype: 'success',
      isError: true,
      apiErrorStatus: 401,
      text: 'Invalid API key',
    });
  });

  test('takes the subtype for it where is_error is missing', () => {
    expect(read([result({ is_error: undefined })]).result?.isError).toBe(false);
    const report = result({ is_error: undefined, subtype: 'error_new' });
    expect(read([report]).result?.isError).toBe(true);
  });
});

describe('the partial output', () => {
  test('holds the texts and the last ten calls of the main agent', () => {
    const calls = Array.from({ length: 12 }, (_, n) => call(`t${n}`, 'Bash', { command: `c${n}` }));
    const sub = { parent_tool_use_id: 't1' };
    const facts = read([
      assistant('m1', [text('first'), ...calls]),
      assistant('s1', [text('hidden'), call('t99', 'Read', { file_path: 'hidden' })], sub),
      assistant('m2', [text('second')]),
    ]);
    const lines = facts.partialOutput.split('\n');
    expect(lines.slice(0, 4)).toEqual(['first', '', 'second', '']);
    expect(lines.slice(4)).toEqual(Array.from({ length: 10 }, (_, n) => `[tool] Bash: c${n + 2}`));
    expect(facts.tools).toBe(13);
  });

  test('stays within 64 KiB and lets the texts give way', () => {
    const big = Array.from({ length: 10 }, (_, n) =>
      call(`t${n}`, 'Bash', { command: '€'.repeat(900) }),
    );
    const facts = read([
      ...Array.from({ length: 60 }, (_, n) => assistant(`m${n}`, [text('€🙂'.repeat(1000))])),
      assistant('last', [text('newest'), ...big]),
    ]);
    expect(Buffer.byteLength(facts.partialOutput)).toBeLessThanOrEqual(64 * 1024);
    expect(Buffer.byteLength(facts.partialOutput)).toBeGreaterThan(64 * 1024 - 4);
    expect(facts.partialOutput).not.toContain('\uFFFD');
    expect(facts.partialOutput).toContain('newest\n\n[tool] Bash: €');
    expect(facts.partialOutput.split('[tool] ')).toHaveLength(11);
  });
});

describe('retries', () => {
  test('are kept to the last 50', () => {
    const facts = read(Array.from({ length: 60 }, (_, n) => retry(500, n)));
    expect(facts.retries).toHaveLength(50);
    expect(facts.retries.at(-1)?.attempt).toBe(59);
    expect(facts.endedInRetry).toBe(true);
  });

  test('count refusals until the model speaks', () => {
    const events = [
      retry(401),
      retry(529),
      retry(403),
      assistant('m1', []),
      retry(401),
      retry(null),
    ];
    expect(listen(events).told).toEqual([
      { kind: 'retry', status: 401 },
      { kind: 'retry', status: 529 },
      { kind: 'retry', status: 403 },
      'hopeless-retries',
      { kind: 'retry', status: 401 },
      { kind: 'retry', status: null },
    ]);
  });

  const interrupted = {
    type: 'user',
    message: { content: [text('[Request interrupted by user]')] },
  };
  const failure = {
    type: 'assistant',
    message: { model: '<synthetic>', content: [text('API Error')] },
  };
  const failed = { type: 'result', subtype: 'error_during_execution', is_error: true };
  const TASK = assistant('m1', [call('t1', 'Task')]);
  test.for([
    ['the last event', [retry(500)], true],
    ['an interrupt during them', [retry(500), interrupted, failed], true],
    ['the failure they came to', [retry(500), failure, result({ is_error: true })], true],
    ['an event about something else', [retry(429), limit('rejected', 'five_hour', 1)], true],
    ['an interrupt of a sub-agent in them', [TASK, retry(529), answer('t1', true), failed], true],
    ['a message without content', [retry(500), { type: 'assistant', message: null }], true],
    ['an answer of the model', [retry(500), assistant('m1', [text('on')])], false],
    ['an answer, then a failed result', [retry(500), assistant('m1', []), failed], false],
    ['a good result', [retry(500), result()], false],
    ['none at all', [interrupted, failed], false],
  ] as const)('decide whether it ended in one: %s', ([, events, expected]) => {
    expect(read(events).endedInRetry).toBe(expected);
  });
});

describe('rate limits', () => {
  test.for([
    [
      'the newest of one kind',
      [
        ['rejected', 'a', 1],
        ['allowed', 'a', 0.1],
      ],
      ['allowed', 'a'],
    ],
    [
      'rejected before warning',
      [
        ['rejected', 'a', 0.1],
        ['allowed_warning', 'b', 0.9],
      ],
      ['rejected', 'a'],
    ],
    [
      'warning before allowed',
      [
        ['allowed', 'a', 0.99],
        ['allowed_warning', 'b', 0.8],
      ],
      ['allowed_warning', 'b'],
    ],
    [
      'then the fullest',
      [
        ['allowed', 'a', 0.7],
        ['allowed', 'b', 0.2],
      ],
      ['allowed', 'a'],
    ],
    [
      'then the newest',
      [
        ['rejected', 'a', 1],
        ['rejected', 'b', 1],
        ['rejected', 'a', 1],
      ],
      ['rejected', 'a'],
    ],
  ] as const)('keep %s', ([, reports, [status, type]]) => {
    const events = reports.map(([reported, kind, use]) => limit(reported, kind, use));
    expect(read(events).rateLimit).toMatchObject({ status, type });
  });

  test('take no notice of fields about overage', () => {
    const info = { status: 'allowed', overageStatus: 'rejected', isUsingOverage: false };
    const facts = read([{ type: 'rate_limit_event', rate_limit_info: info }]);
    expect(facts.rateLimit).toEqual({
      status: 'allowed',
      resetsAt: null,
      type: null,
      utilization: null,
    });
  });
});

describe('usage', () => {
  const tokens = (input: number, output: number) => ({
    input_tokens: input,
    cache_creation_input_tokens: 10,
    cache_read_input_tokens: 100,
    output_tokens: output,
  });

  test('counts each message once without a report, the last word on it, sub-agents too', () => {
    const facts = read([
      assistant('m1', [], {}, tokens(1, 1)),
      assistant('s1', [], { parent_tool_use_id: 't' }, tokens(1, 5)),
      assistant('m1', [], {}, tokens(1, 7)),
      assistant('m2', [], {}, tokens(2, 2)),
    ]);
    expect(facts.usage).toEqual({ cost_usd: 0, input_tokens: 334, output_tokens: 14 });
    expect(facts.turns).toBe(2);
  });

  test('takes the report before that, and in it what covers the sub-agents', () => {
    const said = assistant('m1', [], {}, tokens(1, 1));
    const plain = { total_cost_usd: 0.25, usage: tokens(2, 3), num_turns: 9 };
    expect(read([said, result(plain)])).toMatchObject({
      usage: { cost_usd: 0.25, input_tokens: 112, output_tokens: 3 },
      turns: 9,
    });
    const model = {
      inputTokens: 1,
      cacheReadInputTokens: 2,
      cacheCreationInputTokens: 3,
      outputTokens: 4,
    };
    const modelUsage = { a: model, b: model };
    expect(read([said, result({ ...plain, modelUsage })]).usage).toEqual({
      cost_usd: 0.25,
      input_tokens: 12,
      output_tokens: 8,
    });
    expect(read([said, result({ ...plain, modelUsage: {} })]).usage.input_tokens).toBe(112);
  });

  test('takes the cost of the last report and the turns of all', () => {
    const { usage, turns, finalMessage } = read([
      result({ total_cost_usd: 1, usage: tokens(2, 3), num_turns: 2, result: 'started' }),
      INIT,
      result({ total_cost_usd: 1.5, usage: tokens(3, 4), num_turns: 1, result: 'done' }),
    ]);
    expect(usage).toEqual({ cost_usd: 1.5, input_tokens: 113, output_tokens: 4 });
    expect({ turns, finalMessage }).toEqual({ turns: 3, finalMessage: 'done' });
  });

  test('of a resumed session is only what is new, where the report says it', () => {
    const model = (inputTokens: number, costUSD: number) => ({
      'model-1': { inputTokens, outputTokens: 5, cacheReadInputTokens: 7, costUSD },
    });
    const before = { total_cost_usd: 3, modelUsage: model(3000, 3) };
    const report = (earlier: number, own: number) =>
      result({
        total_cost_usd: earlier + own,
        modelUsage: model(1000 * (earlier + own), earlier + own),
        model_usage_since_last_result: model(1000 * own, own),
      });
    const first = { cost_usd: 2, input_tokens: 2007, output_tokens: 5 };
    expect(read([report(3, 2)]).usage).toEqual(first);
    const both = { cost_usd: 2.5, input_tokens: 2514, output_tokens: 10 };
    expect(read([report(3, 2), INIT, report(5, 0.5)]).usage).toEqual(both);
    // A request that was refused has cost nothing.
    const refused = result({ ...before, model_usage_since_last_result: {} });
    expect(read([refused]).usage.cost_usd).toBe(0);
    expect(read([report(3, 2), refused]).usage).toEqual(first);
  });

  test.for([1e308, 1_000_001, -0.01, '5', null, Number.NaN])(
    'takes a cost of %o for none',
    (cost) => {
      const said = assistant('m1', [], {}, tokens(1, 1));
      const report = { total_cost_usd: cost, usage: tokens(2, 3) };
      const own = { cost_usd: 0, input_tokens: 111, output_tokens: 1 };
      expect(read([said, result(report)]).usage).toEqual(own);
      // A report before that stands.
      const good = { total_cost_usd: 2, usage: tokens(2, 3) };
      expect(read([result(good), result(report)]).usage.cost_usd).toBe(2);
    },
  );

  test.for([1e308, 1e12 + 1, -5, 1.5, '5', null])('takes a count of %o for none', (count) => {
    const bad = { input_tokens: count, cache_read_input_tokens: 7, output_tokens: count };
    const own = { cost_usd: 0, input_tokens: 7, output_tokens: 0 };
    expect(read([assistant('m1', [], {}, bad)]).usage).toEqual(own);
    const report = { total_cost_usd: 1, usage: bad };
    expect(read([result(report)]).usage).toEqual({ ...own, cost_usd: 1 });
    const modelUsage = {
      a: { inputTokens: count, cacheReadInputTokens: 7, outputTokens: count },
      b: { inputTokens: 1, outputTokens: 2 },
    };
    expect(read([result({ ...report, modelUsage })]).usage).toEqual({
      cost_usd: 1,
      input_tokens: 8,
      output_tokens: 2,
    });
  });

  test.for([0, 1e6])('takes a cost of %d, and as many tokens as can be', (cost) => {
    const report = { total_cost_usd: cost, usage: { input_tokens: 1e12, output_tokens: 0 } };
    expect(read([result(report)]).usage).toEqual({
      cost_usd: cost,
      input_tokens: 1e12,
      output_tokens: 0,
    });
  });

  test('keeps its own count where the report has none', () => {
    const said = assistant('m1', [], {}, tokens(1, 1));
    expect(read([said, result()]).usage).toEqual({
      cost_usd: 0,
      input_tokens: 111,
      output_tokens: 1,
    });
    expect(read([said, result({ total_cost_usd: 2 })]).usage).toEqual({
      cost_usd: 2,
      input_tokens: 111,
      output_tokens: 1,
    });
  });
});

describe('refused tools', () => {
  const denial = (id: string, tool: string, input: unknown = {}) => ({
    tool_name: tool,
    tool_use_id: id,
    tool_input: input,
  });
  const calls = assistant('m1', [
    call('t1', 'Bash'),
    call('t2', 'Bash'),
    call('t3', 'Bash'),
    call('w1', 'Write'),
  ]);
  test.for([
    ['no other call', [answer('t1', true)], ['t1'], [false]],
    ['a success later', [answer('t1', true), answer('t2', false)], ['t1'], [true]],
    ['a success earlier', [answer('t2', false), answer('t1', true)], ['t1'], [false]],
    ['a failure later', [answer('t1', true), answer('t2', true)], ['t1'], [false]],
    ['another tool later', [answer('t1', true), answer('w1', false)], ['t1'], [false]],
    ['no answer to the refused call', [answer('t2', false)], ['t1'], [false]],
    // A refusal that was not marked as an error is no success either.
    ['two refusals', [answer('t1', true), answer('t2')], ['t1', 't2'], [false, false]],
    [
      'one made up for, one not',
      [answer('t1', true), answer('t2', false), answer('t3', true)],
      ['t1', 't3'],
      [true, false],
    ],
  ] as const)('%s', ([, answers, denied, expected]) => {
    const report = result({ permission_denials: denied.map((id) => denial(id, 'Bash')) });
    const { refused } = read([calls, ...answers, report]);
    expect(refused.map((tool) => tool.laterSucceeded)).toEqual(expected);
  });

  test('are gathered over several reports, each once', () => {
    const first = result({ permission_denials: [denial('t1', 'Bash'), { tool_name: 'Edit' }] });
    const second = result({ permission_denials: [denial('t1', 'Bash'), denial('w1', 'Write')] });
    const { refused } = read([calls, answer('t1', true), first, answer('t2', false), second]);
    expect(refused).toMatchObject([
      { tool: 'Bash', target: '', laterSucceeded: true },
      { tool: 'Edit', target: '', laterSucceeded: false },
      { tool: 'Write', target: '', laterSucceeded: false },
    ]);
  });

  test('are known without a report where they are told at once, and count once with one', () => {
    const told = (id: string, tool: string) => ({
      ...{ type: 'system', subtype: 'permission_denied', tool_name: tool, tool_use_id: id },
      message: 'It needs approval.',
    });
    const run = assistant('m1', [call('t1', 'Bash', { command: 'npm test' })]);
    const events = [run, told('t1', 'Bash'), answer('t1', true)];
    const refused = [{ tool: 'Bash', target: 'npm test', laterSucceeded: false }];
    expect(read(events).refused).toMatchObject(refused);
    const report = result({ permission_denials: [denial('t1', 'Bash', { command: 'npm test' })] });
    expect(read([...events, report]).refused).toMatchObject(refused);
    expect(read([told('t9', 'Write')]).refused).toMatchObject([{ tool: 'Write', target: '' }]);
    const nameless = { type: 'system', subtype: 'permission_denied', tool_name: 'Bash' };
    expect(read([nameless]).refused).toEqual([]);
  });

  test('are unknown without a report', () => {
    expect(read([calls, answer('t1', true)]).refused).toEqual([]);
  });

  test.for([
    [{ command: 'npm  test\n --all' }, 'npm test --all'],
    [{ content: 'x', file_path: '/a/b.ts' }, '/a/b.ts'],
    [{ path: '.', pattern: 'TODO' }, 'TODO'],
    [{ url: 'https://example.com/', prompt: 'p' }, 'https://example.com/'],
    [{ description: 'look', prompt: 'p' }, 'look'],
    [
      { path: 'src', deep: true, limit: 20, none: null },
      '{"path":"src","deep":true,"limit":20,"none":null}',
    ],
    [
      { 'a"b': 'c"d', list: [1], object: { a: 1 } },
      '{"a\\"b":"c\\"d","list":[1],"object":{"a":1}}',
    ],
    [{ list: [], object: {} }, '{"list":[],"object":{}}'],
    [{ first: 'x'.repeat(500), second: 1 }, `{"first":"${'x'.repeat(189)}…`],
    [{}, ''],
    [{ command: 'x'.repeat(300) }, `${'x'.repeat(199)}…`],
    [{ command: '🙂'.repeat(150) }, `${'🙂'.repeat(99)}…`],
  ] as const)('name what they were to act on: %j', ([input, target]) => {
    const facts = read([result({ permission_denials: [denial('t1', 'Tool', input)] })]);
    expect(facts.refused).toMatchObject([{ tool: 'Tool', target, laterSucceeded: false }]);
  });

  test.for([
    [{ command: 'git push &&\n  npm test' }, 'git push &&\n  npm test'],
    [{ command: 'x'.repeat(2_000) }, 'x'.repeat(2_000)],
    // Part of a command would tell less than it says.
    [{ command: 'x'.repeat(2_001) }, ''],
    [{ command: ' ' }, null],
    [{ command: ['git', 'push'] }, null],
    [{ file_path: '/a/b.ts' }, null],
  ] as const)('keep a command line as it was: %j', ([input, command]) => {
    const facts = read([result({ permission_denials: [denial('t1', 'Tool', input)] })]);
    expect(facts.refused).toMatchObject([{ command }]);
  });
});

describe('sub-agents that the system stopped', () => {
  const task = (subtype: string, fields: Fields): Fields => ({
    type: 'system',
    subtype,
    ...fields,
  });
  const started = (task_id: string, fields: Fields = {}): Fields =>
    task('task_started', { task_id, task_type: 'local_agent', ...fields });
  const ended = (task_id: string, status: string): Fields =>
    task('task_notification', { task_id, status });
  const stats = (killed: unknown): Fields => result({ subagent_stats: { spawned: 3, killed } });
  const launch = (id: string, input: Fields): Fields => assistant('m1', [call(id, 'Task', input)]);

  test.for<[what: string, events: readonly Fields[], count: number]>([
    ['none', [result()], 0],
    ['counted in the result', [stats({ system: 2, parent: 1 })], 2],
    [
      'none by the result, whatever stopped',
      [started('a'), ended('a', 'stopped'), stats({ system: 0, parent: 1 })],
      0,
    ],
    ['none but by the agent', [stats({ parent: 2 })], 0],
    ['a count that cannot be', [stats({ system: -1 })], 0],
    ['only the last result counts', [stats({ system: 1 }), stats({ system: 0 })], 0],
    ['only the last result counts', [stats({ system: 0 }), stats({ system: 1 })], 1],
    // Older programs.
    ['one that is said to be stopped', [started('a'), result(), ended('a', 'stopped')], 1],
    ['one that is never heard of again', [started('a'), result()], 1],
    [
      'two of three',
      [started('a'), started('b'), started('c'), ended('b', 'completed'), result()],
      2,
    ],
    ['one that finished', [started('a'), ended('a', 'completed'), result()], 0],
    ['one that failed', [started('a'), ended('a', 'failed'), result()], 0],
    [
      'one whose end was an update',
      [
        started('a'),
        task('task_updated', { task_id: 'a', patch: { status: 'completed' } }),
        result(),
      ],
      0,
    ],
    [
      'one that goes on',
      [
        started('a'),
        task('task_updated', { task_id: 'a', patch: { status: 'running' } }),
        result(),
      ],
      1,
    ],
    ['a command', [started('a', { task_type: 'local_bash' }), ended('a', 'stopped'), result()], 0],
    ['a command that runs', [started('a', { task_type: 'local_bash' }), result()], 0],
    ['an end without a beginning', [ended('a', 'stopped'), result()], 0],
    ['one that was waited for', [started('a', { is_backgrounded: false }), result()], 0],
    ['one in the background', [started('a', { is_backgrounded: true }), result()], 1],
    [
      'one that was waited for, by its call',
      [launch('t1', {}), started('a', { tool_use_id: 't1' }), answer('t1'), result()],
      0,
    ],
    [
      'one in the background, by its call',
      [
        launch('t1', { run_in_background: true }),
        started('a', { tool_use_id: 't1' }),
        answer('t1'),
        result(),
      ],
      1,
    ],
    [
      'one that was waited for and stopped',
      [launch('t1', {}), started('a', { tool_use_id: 't1' }), ended('a', 'stopped'), result()],
      1,
    ],
    [
      'one that the agent stopped',
      [
        started('a'),
        assistant('m1', [call('t1', 'TaskStop', { task_id: 'a' })]),
        answer('t1'),
        ended('a', 'stopped'),
        result(),
      ],
      0,
    ],
    [
      'one that the agent stopped, by an older name of the tool',
      [
        started('a'),
        assistant('m1', [call('t1', 'KillShell', { shell_id: 'a' })]),
        answer('t1'),
        ended('a', 'stopped'),
        result(),
      ],
      0,
    ],
    [
      'one that the agent could not stop',
      [
        started('a'),
        assistant('m1', [call('t1', 'KillShell', { shell_id: 'a' })]),
        answer('t1', true, 'Task a is not a local bash task'),
        ended('a', 'stopped'),
        result(),
      ],
      1,
    ],
    [
      'one that the agent only looked at',
      [
        started('a', { is_backgrounded: true }),
        assistant('m1', [call('t1', 'TaskOutput', { task_id: 'a', block: false })]),
        answer('t1'),
        ended('a', 'stopped'),
        result(),
      ],
      1,
    ],
    ['one with no id', [task('task_started', { task_type: 'local_agent' }), result()], 0],
  ])('%s', ([, events, count]) => {
    expect(read([INIT, ...events]).stoppedSubAgents).toBe(count);
  });
});

describe('a line that nobody could have expected', () => {
  /** JSON of so many levels: `{"a":{"a":…}}`. */
  const nested = (levels: number): string => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
  const withInput = (input: string): string =>
    JSON.stringify(assistant('m1', [call('t1', 'Tool', '#')])).replace('"#"', input);

  test.for([
    ['a call', withInput(nested(6_000))],
    ['a call whose input ends nowhere', withInput('['.repeat(100_000))],
    ['a large tool result', JSON.stringify(answer('t1', false, '#')).replace('"#"', nested(6_000))],
    ['more objects than can be held', withInput(`[${'{},'.repeat(1_000_000)}0]`)],
  ] as const)('is counted and passed over: %s', ([, line]) => {
    const facts = read([INIT, line, assistant('m2', [text('on')])]);
    expect(facts).toMatchObject({ brokenLines: 1, tools: 0, finalMessage: 'on' });
  });

  test('is no event where it is nothing but brackets, and is not even parsed', () => {
    const facts = read([INIT, '['.repeat(100_000), assistant('m2', [text('on')])]);
    expect(facts).toMatchObject({ brokenLines: 0, finalMessage: 'on' });
  });

  test('is counted, whatever it makes fail', () => {
    const stream = streamTo({
      activity(activity) {
        if (activity.kind === 'tool') throw new RangeError('Maximum call stack size exceeded');
      },
    });
    stream.push(bytes(INIT, assistant('m1', [call('t1', 'Tool')]), assistant('m2', [text('on')])));
    stream.end();
    expect(stream.facts()).toMatchObject({ brokenLines: 1, finalMessage: 'on' });
  });

  test('is none that is only long, or deep within bounds', () => {
    const facts = read([
      assistant('m1', [text('['.repeat(100_000))]),
      withInput(nested(400)),
      answer('t1', false, '{"a":['.repeat(100_000)),
      'no JSON'.repeat(1_000),
    ]);
    expect(facts).toMatchObject({ brokenLines: 0, tools: 1 });
  });
});

describe('listeners', () => {
  test('are told in order, of sub-agents only the calls', () => {
    const { told } = listen([
      INIT,
      assistant('m1', [{ type: 'thinking', thinking: 'hm' }]),
      assistant('m1', [text(`\n  ${'word '.repeat(40)}\nsecond line`)]),
      assistant('m1', [call('t1', 'Task', { description: 'look' })]),
      assistant(
        's1',
        [text('hidden'), { type: 'thinking' }, call('t2', 'Read', { file_path: 'f' })],
        {
          parent_tool_use_id: 't1',
        },
      ),
      retry(429),
      result(),
    ]);
    expect(told).toEqual([
      { kind: 'thinking' },
      { kind: 'whole-text', text: `\n  ${'word '.repeat(40)}\nsecond line` },
      { kind: 'text', text: `${'word '.repeat(23).trimEnd()}…` },
      { kind: 'tool', tool: 'Task', target: 'look' },
      { kind: 'tool', tool: 'Read', target: 'f' },
      { kind: 'retry', status: 429 },
      'result given',
    ]);
  });

  test('hear of the result as soon as its line ends', () => {
    let results = 0;
    const stream = streamTo({}, { resultGiven: () => (results += 1) });
    const line = bytes(result());
    stream.push(line.subarray(0, -1));
    expect(results).toBe(0);
    stream.push(line.subarray(-1));
    expect(results).toBe(1);
  });
});

describe('whether the model worked', () => {
  const SYNTHETIC = { message: { model: '<synthetic>', content: [text('API Error: no')] } };

  test.for<[name: string, lines: readonly object[], worked: boolean]>([
    ['words', [assistant('m1', [text('On it.')])], true],
    [
      'a tool call',
      [assistant('m1', [{ type: 'tool_use', id: 't1', name: 'Bash', input: {} }])],
      true,
    ],
    ['thoughts', [assistant('m1', [{ type: 'thinking', thinking: 'hm' }])], true],
    ['encrypted thoughts', [assistant('m1', [{ type: 'redacted_thinking', data: 'x' }])], true],
    ['a report of success with words', [result()], true],
    ['nothing', [INIT], false],
    ['an empty message', [assistant('m1', [text(' \n')])], false],
    ['words of claude itself', [{ type: 'assistant', ...SYNTHETIC }], false],
    [
      'an error report',
      [result({ is_error: true, usage: { output_tokens: 9 }, total_cost_usd: 1 })],
      false,
    ],
    ['a report without a turn', [result({ num_turns: 0 })], false],
    ['an empty report', [result({ result: '' })], false],
  ])('%s', ([, lines, worked]) => {
    expect(read([...lines]).worked).toBe(worked);
  });
});

describe('what claude says around its work', () => {
  test('is the code beside its own words about a failure', () => {
    const own = {
      type: 'assistant',
      error: 'billing_error',
      message: { model: '<synthetic>', content: [] },
    };
    expect(read([own, result({ is_error: true })]).result?.errorCode).toBe('billing_error');
    // What the model's own event says of an error is no code of claude.
    const other = { ...assistant('m1', [text('x')]), error: 'billing_error' };
    expect(read([other, result({ is_error: true })]).result?.errorCode).toBeNull();
    // Nor is what a sub-agent met, or what the main agent has got over.
    const ofSubAgent = { ...own, parent_tool_use_id: 't1' };
    expect(read([ofSubAgent, result({ is_error: true })]).result?.errorCode).toBeNull();
    const over = [own, assistant('m1', [text('on')]), result({ is_error: true })];
    expect(read(over).result?.errorCode).toBeNull();
  });

  test('is that a command of its own answered', () => {
    expect(read([result({ local_command: 'cost' })]).result?.isLocal).toBe(true);
    expect(read([result()]).result?.isLocal).toBe(false);
  });

  const informational = { type: 'system', subtype: 'informational' };
  test.for<[name: string, event: object, said: string | null]>([
    [
      'a hook of an older version',
      {
        content:
          'UserPromptSubmit operation blocked by hook:\n[sh x]: no ticket\n\n\nOriginal prompt: Fix it\nnow',
        prevent_continuation: true,
      },
      '[sh x]: no ticket',
    ],
    [
      'a hook that stops',
      {
        content: 'Operation stopped by hook: out of budget',
        prompt_submit_outcome: { kind: 'stopped_by_hook' },
      },
      'out of budget',
    ],
    ['other words', { content: 'no', prompt_submit_outcome: { kind: 'blocked_by_hook' } }, 'no'],
    ['a hint', { content: 'a new version is there', prevent_continuation: false }, null],
  ])('is what blocked the prompt: %s', ([, event, said]) => {
    const { hook = null } = read([{ ...informational, ...event }]);
    expect(hook).toEqual(said === null ? null : { did: 'blocked', said });
  });

  const feedback = {
    type: 'user',
    message: { content: [text('Stop hook feedback:\n[sh lint.sh]: run the linter first\n')] },
  };
  test('is what a Stop hook said behind the last message, and only there', () => {
    const said = assistant('m1', [text('done')]);
    const held = { did: 'held', said: '[sh lint.sh]: run the linter first' };
    expect(read([said, feedback, result({ result: '' })])).toMatchObject({
      hook: held,
      finalMessage: 'done',
    });
    const goesOn = (event: object) => read([said, feedback, event, result({ result: '' })]).hook;
    expect(goesOn(assistant('m2', [text('done now')]))).toBeUndefined();
    expect(goesOn(assistant('s1', [text('x')], { parent_tool_use_id: 't1' }))).toEqual(held);
  });

  test('is which MCP servers did not start', () => {
    const mcp_servers = [
      { name: 'tickets', status: 'failed' },
      { name: 'docs', status: 'needs-auth' },
      { name: 'browser', status: 'pending' },
      { name: 'git', status: 'connected' },
      { status: 'failed' },
    ];
    expect(read([{ ...INIT, mcp_servers }]).lostServers).toEqual([
      { server: 'tickets', status: 'failed' },
      { server: 'docs', status: 'needs-auth' },
    ]);
    expect(read([INIT])).not.toHaveProperty('lostServers');
  });
});

test.for([
  ['end_turn', {}, false],
  ['tool_use', {}, true],
  ['pause_turn', {}, true],
  ['tool_use', { structured_output: { holds: true } }, false],
] as const)('a report after %s with %o broke off: %s', ([stop_reason, more, expected]) => {
  const report = read([result({ result: 'All good: DONE', stop_reason, ...more })]).result;
  expect(report?.isBrokenOff).toBe(expected);
});

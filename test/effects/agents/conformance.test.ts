import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { agentKind } from '../../../src/compose/agent.ts';
import { AGENT_NAMES, AGENTS } from '../../../src/core/agent/agents/agents.ts';
import type { AttemptEnd, AttemptFacts, CutCause } from '../../../src/core/agent/attempt.ts';
import { classify } from '../../../src/core/agent/classify.ts';
import type { Outcome } from '../../../src/core/agent/outcome.ts';
import { resolveSettings } from '../../../src/core/settings/resolve-settings.ts';
import { agentOptions } from '../../helpers/agent-options.ts';
import { attemptFacts } from '../../helpers/attempt-facts.ts';
import {
  CONFORMANCE,
  EVENT_AGENTS,
  type EventAgent,
  type Played,
} from '../../helpers/conformance.ts';

const FOLDER = join(import.meta.dirname, '../../fixtures/transcripts');
const AT = '2026-01-05T12:00:00.000Z';

/** The file of a recording without its ending. */
function pathOf(agent: EventAgent, file: string): string {
  return join(FOLDER, agent === 'claude' ? file : join(agent, file));
}

function textOf(file: string): string {
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}

interface Output {
  readonly stdout: string;
  readonly stderr?: string;
}

/** Plays what an agent wrote. `hopeless` is the cause for which the reader asked to end the agent. */
function play(agent: EventAgent, { stdout, stderr = '' }: Output) {
  let hopeless: CutCause | null = null;
  let texts = '';
  const { settings } = resolveSettings([]);
  const kind = agentKind(agent, { ...agentOptions(), settings, passthrough: ['--bogus'] });
  const reader = kind.read(
    {
      activity() {},
      did() {},
      retry() {},
      text: (text) => {
        texts += text;
      },
    },
    {
      resultGiven() {},
      retrying() {},
      working() {},
      hopeless: (cause) => {
        hopeless ??= cause;
        return true;
      },
    },
  );
  reader.push(Buffer.from(stdout));
  reader.pushStderr?.(Buffer.from(stderr));
  reader.end();
  const cause = hopeless as CutCause | null;
  return { facts: reader.facts(), hopeless: cause, texts };
}

function endOf(end: Played['end'], hopeless: CutCause | null): AttemptEnd {
  if (end === 'cut') return { kind: 'cut', cause: 'iteration-timeout', exitCode: null };
  if (end !== 'hopeless') return { kind: 'exited', exitCode: end ?? 0 };
  if (hopeless === null) throw new Error('the reader did not ask to end the agent');
  return { kind: 'cut', cause: hopeless, exitCode: null };
}

function attempt(agent: EventAgent, { file, end }: Played): AttemptFacts {
  const base = pathOf(agent, file);
  const output = { stdout: textOf(`${base}.jsonl`), stderr: textOf(`${base}.stderr`) };
  const { facts, hopeless } = play(agent, output);
  return attemptFacts({ ...facts, stderrTail: output.stderr, end: endOf(end, hopeless) });
}

function judged(agent: EventAgent, facts: AttemptFacts): string {
  return inWords(classify(facts, AGENTS[agent], AT, { timeZone: 'UTC' }));
}

function inWords(outcome: Outcome): string {
  if (outcome.kind === 'fatal') {
    return `fatal:${outcome.cause}${outcome.isTooLong ? ', too long' : ''}`;
  }
  if (outcome.kind !== 'usage-limited' || outcome.resetsAt === null) return outcome.kind;
  return `${outcome.kind} until ${outcome.resetsAt}`;
}

test('every agent but a plain command has these cases', () => {
  expect([...EVENT_AGENTS, 'command']).toEqual(AGENT_NAMES);
});

describe.for(CONFORMANCE)('$title', ({ expected, agents }) => {
  const played = EVENT_AGENTS.flatMap((agent) => {
    const found = agents[agent];
    return typeof found === 'string' ? [] : [{ agent, ...expected, ...found }];
  });
  test.for(played)('is told by $agent', ({ agent, ...row }) => {
    const facts = attempt(agent, row);
    const { usage, sessionUsage } = facts;
    const tokens = sessionUsage ?? usage;
    expect({
      outcome: row.outcome === undefined ? undefined : judged(agent, facts),
      message: row.message === undefined ? undefined : facts.finalMessage,
      refused: row.refused === undefined ? undefined : facts.refused.map(({ tool }) => tool),
      tokens: row.tokens === undefined ? undefined : [tokens.input_tokens, tokens.output_tokens],
      hasSession: row.hasSession === undefined ? undefined : facts.sessionId !== null,
    }).toEqual({
      outcome: row.outcome,
      message: row.message,
      refused: row.refused,
      tokens: row.tokens,
      hasSession: row.hasSession,
    });
    if (row.partial !== undefined) expect(facts.partialOutput).toContain(row.partial);
    if (row.costUsd !== undefined) expect(usage.cost_usd).toBeCloseTo(row.costUsd);
  });
});

describe.for(EVENT_AGENTS)('the reader of %s', (agent) => {
  const base = pathOf(agent, agent === 'claude' ? 'tool-then-promise' : 'promise');
  const stdout = textOf(`${base}.jsonl`);
  const lines = stdout.trimEnd().split('\n');
  const whole = play(agent, { stdout }).facts;
  const kept = ({ finalMessage, tools, usage, sessionId }: typeof whole) => ({
    ...{ finalMessage, tools, usage, sessionId },
  });

  test('passes over events, fields and lines that it does not know', () => {
    const noise = [
      '{"type":"something.new","text":"<promise>DONE</promise>","message":{"content":7}}',
      '{"type":["text"],"part":null,"item":3,"data":[]}',
      '{}',
      '[1,2]',
      'a warning of the program',
      '{"type":"text"',
    ];
    const mixed = lines
      .map((line) => line.replace(/\}$/, ',"new_field":{"deep":[1]}}'))
      .flatMap((line) => [...noise, line])
      .join('\n');
    expect(kept(play(agent, { stdout: mixed }).facts)).toEqual(kept(whole));
  });

  test('does not depend on the order of the fields', () => {
    const turned = lines.map((line) => JSON.stringify(reversed(JSON.parse(line)))).join('\n');
    expect(kept(play(agent, { stdout: turned }).facts)).toEqual(kept(whole));
  });

  test('reads what came before half a line, and never throws', () => {
    for (let cut = 0; cut < stdout.length; cut += 97) {
      const { facts } = play(agent, { stdout: stdout.slice(0, cut) });
      expect(facts.finalMessage ?? '').not.toContain('[object');
    }
  });

  test('skips a line of 20 MB', () => {
    const huge = `{"type":"text","part":{"text":"${'x'.repeat(20 * 1024 * 1024)}"}}`;
    const { facts } = play(agent, { stdout: [huge, ...lines].join('\n') });
    expect(kept(facts)).toEqual(kept(whole));
    expect(facts.skippedLines).toBe(1);
  });

  test('shows what the agent says', () => {
    expect(play(agent, { stdout }).texts).toContain('<promise>DONE</promise>');
  });
});

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).reverse();
  return Object.fromEntries(fields.map(([name, field]) => [name, reversed(field)]));
}

/** Cases of one agent only. */
describe('what only one agent does', () => {
  test.for<[agent: EventAgent, file: string, end: NonNullable<Played['end']>, expected: string]>([
    ['codex', 'bad-request-400', 1, 'fatal:refused-request'],
    ['gemini', 'bad-key-400', 144, 'fatal:not-logged-in'],
    ['gemini', 'network-gone', 1, 'transient'],
    ['opencode', 'unknown-model-at-once', 1, 'fatal:refused-request'],
    ['opencode', 'rejected-and-ended', 0, 'errored'],
  ])('%s: %s', ([agent, file, end, expected]) => {
    expect(judged(agent, attempt(agent, { file, end }))).toBe(expected);
  });

  test('opencode: a promise said with a tool is not final, even if the run ends there', () => {
    const facts = attempt('opencode', { file: 'promise-with-a-tool' });
    expect(facts.finalMessage).toBeNull();
  });

  test('opencode: a call that was rejected is refused once, though standard error tells it too', () => {
    const { refused } = attempt('opencode', { file: 'rejected-and-ended' });
    expect(refused).toMatchObject([
      { tool: 'bash', target: 'echo hi > out.txt; ls', laterSucceeded: false },
    ]);
  });

  test('opencode: a denied tool that succeeds later is made up for', () => {
    const lines = textOf(join(FOLDER, 'opencode/refused-then-promise.jsonl')).split('\n');
    const call = { type: 'tool', tool: 'bash', callID: 'later', state: { status: 'completed' } };
    const later = JSON.stringify({ type: 'tool_use', sessionID: 's', part: call });
    const { refused } = play('opencode', { stdout: lines.toSpliced(3, 0, later).join('\n') }).facts;
    expect(refused).toMatchObject([{ tool: 'bash', laterSucceeded: true }]);
  });

  test('opencode: four answers that are cut off do not end it, five in a row do', () => {
    const lines = textOf(join(FOLDER, 'opencode/answer-cut-off.jsonl')).trimEnd().split('\n');
    const hopelessAfter = (count: number) =>
      play('opencode', { stdout: lines.slice(0, count * 3).join('\n') }).hopeless;
    expect([4, 5].map(hopelessAfter)).toEqual([null, 'endless-retries']);
  });

  test('opencode: an unexpected error is the model only before it has done anything', () => {
    const lines = textOf(join(FOLDER, 'opencode/unknown-model-at-once.jsonl'));
    const work = textOf(join(FOLDER, 'opencode/killed-in-tool.jsonl'));
    const { facts } = play('opencode', { stdout: work + lines });
    const late = attemptFacts({ ...facts, end: { kind: 'exited', exitCode: 1 } });
    expect(judged('opencode', late)).toBe('errored');
  });

  test('opencode: an answer that is whole ends the row of those that were cut off', () => {
    const cutOff = textOf(join(FOLDER, 'opencode/answer-cut-off.jsonl')).trimEnd().split('\n');
    const whole = textOf(join(FOLDER, 'opencode/early-promise-then-denial.jsonl')).trimEnd();
    const four = cutOff.slice(0, 12).join('\n');
    expect(play('opencode', { stdout: [four, whole, four].join('\n') }).hopeless).toBeNull();
  });

  test('gemini: a tool that it never had is a mistake, and not refused', () => {
    const file = join(FOLDER, 'gemini/refused-then-promise.jsonl');
    const stdout = textOf(file).replaceAll('write_file', 'make_coffee');
    expect(play('gemini', { stdout }).facts.refused).toEqual([]);
  });

  test('opencode: its help names what was given after --', () => {
    const facts = attempt('opencode', { file: 'unknown-flag', end: 1 });
    const outcome = classify(facts, AGENTS.opencode, AT, { timeZone: 'UTC' });
    expect(outcome).toMatchObject({ message: expect.stringContaining('--bogus') });
  });

  test('codex: a command that is left running and an item of a new kind are tools', () => {
    const said = (...items: readonly object[]) =>
      play('codex', { stdout: items.map((item) => JSON.stringify(item)).join('\n') }).facts
        .finalMessage;
    const words = (text: string) => ({
      type: 'item.completed',
      item: { id: '1', type: 'agent_message', text },
    });
    const started = (type: string) => ({ type: 'item.started', item: { id: '2', type } });
    expect(said(words('a'), started('command_execution'))).toBeNull();
    expect(said(words('a'), started('something_new'))).toBeNull();
    expect(said(words('a'), started('reasoning'), started('todo_list'), words('b'))).toBe('a\n\nb');
  });

  test('qwen: the words of a failed request are no message of the model', () => {
    expect(attempt('qwen', { file: 'unauthorized-401', end: 1 }).finalMessage).toBeNull();
  });

  test('the tokens of qwen and codex are told for the session, those of others for the attempt', () => {
    const told = EVENT_AGENTS.filter(
      (agent) =>
        attempt(agent, { file: agent === 'claude' ? 'tool-then-promise' : 'promise' })
          .sessionUsage !== null,
    );
    expect(told).toEqual(['codex', 'qwen']);
  });
});

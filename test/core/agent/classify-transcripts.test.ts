import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { AGENTS } from '../../../src/core/agent/agents/agents.ts';
import type { AttemptFacts } from '../../../src/core/agent/attempt.ts';
import { classify } from '../../../src/core/agent/classify.ts';
import type { Outcome } from '../../../src/core/agent/outcome.ts';
import { QUIET_LISTENER, QUIET_SIGNS } from '../../../src/effects/agents/agent.ts';
import { createClaudeStream } from '../../../src/effects/claude/stream.ts';
import { attemptFacts } from '../../helpers/attempt-facts.ts';

/** Of an attempt that ended at this instant on a machine in UTC. */
function classified(facts: AttemptFacts, prompt = ''): Outcome {
  const machine = { timeZone: 'UTC' };
  return classify(facts, AGENTS.claude, '2026-01-05T12:00:00.000Z', machine, prompt);
}

// What the real claude wrote, read and named: the two halves of judging an attempt fit together.

const FOLDER = join(import.meta.dirname, '../../fixtures/transcripts');

/** What a transcript shows of an agent that came to this end. */
function factsOf(name: string, end: AttemptFacts['end']): AttemptFacts {
  const stream = createClaudeStream(QUIET_LISTENER, QUIET_SIGNS);
  stream.push(readFileSync(join(FOLDER, `${name}.jsonl`)));
  stream.end();
  return attemptFacts({ ...stream.facts(), end });
}

const ROWS: readonly [name: string, exitCode: number, expected: object][] = [
  ['promise', 0, { kind: 'answered' }],
  ['tool-then-promise', 0, { kind: 'answered' }],
  ['thinking-then-text', 0, { kind: 'answered' }],
  ['failed-tool-then-text', 0, { kind: 'answered' }],
  ['edits-then-promise', 0, { kind: 'answered' }],
  ['refused-tools-then-promise', 0, { kind: 'answered' }],
  ['refused-then-same-tool-succeeded', 0, { kind: 'answered' }],
  ['sub-agent-states-promise', 0, { kind: 'answered' }],
  ['background-task-two-results', 0, { kind: 'answered' }],
  ['plan-promise', 0, { kind: 'answered' }],
  ['plan-warning-then-promise', 0, { kind: 'answered' }],
  ['api-retry-then-promise', 0, { kind: 'answered' }],
  ['network-drop-then-promise', 0, { kind: 'answered' }],
  ['slash-command-local', 0, { kind: 'fatal', cause: 'slash-command' }],
  ['slash-command-unknown', 0, { kind: 'fatal', cause: 'slash-command' }],
  ['not-logged-in', 1, { kind: 'fatal', cause: 'not-logged-in' }],
  ['unauthorized-401', 1, { kind: 'fatal', cause: 'not-logged-in' }],
  ['forbidden-403', 1, { kind: 'fatal', cause: 'not-logged-in' }],
  ['unknown-model-404', 1, { kind: 'fatal', cause: 'refused-request' }],
  ['prompt-too-long-400', 1, { kind: 'fatal', cause: 'refused-request' }],
  ['too-large-413', 1, { kind: 'fatal', cause: 'refused-request' }],
  ['no-credit-400', 1, { kind: 'fatal', cause: 'no-credit' }],
  ['rate-limited-429', 1, { kind: 'transient', status: 429 }],
  ['server-error-500', 1, { kind: 'transient', status: 500 }],
  ['overloaded-529', 1, { kind: 'transient' }],
  ['overloaded-529-one-retry', 1, { kind: 'transient', status: 529 }],
  ['connection-cut', 1, { kind: 'transient', status: null }],
  ['session-limit-429', 1, { kind: 'usage-limited', resetsAt: '2100-01-01T13:00:00.000Z' }],
  ['weekly-limit-429', 1, { kind: 'usage-limited', resetsAt: '2100-01-01T13:00:00.000Z' }],
  ['max-turns', 1, { kind: 'bounded', by: 'max-turns' }],
  ['max-budget', 1, { kind: 'bounded', by: 'max-budget' }],
  // Nobody of ralph's sent these signals: then it is an outage, or a failed iteration.
  ['interrupted-in-tool', 1, { kind: 'errored' }],
  ['interrupted-in-retries', 0, { kind: 'transient', status: 500 }],
  ['interrupted-in-api-call', 0, { kind: 'errored' }],
];

describe('a transcript of claude', () => {
  test.for(ROWS)('%s, exit %i', ([name, exitCode, expected]) => {
    expect(
      classified(
        factsOf(name, { kind: 'exited', exitCode }),
        name.startsWith('slash') ? '/cost' : 'Fix it.',
      ),
    ).toMatchObject(expected);
  });

  test('killed-in-tool', () => {
    const end = { kind: 'signalled', signal: 'SIGKILL' } as const;
    expect(classified(factsOf('killed-in-tool', end))).toMatchObject({ kind: 'errored' });
  });

  test('that ralph interrupted is a time-out, except during an outage', () => {
    const end = { kind: 'cut', cause: 'iteration-timeout', exitCode: 1 } as const;
    const outcomes = ['interrupted-in-tool', 'interrupted-in-retries', 'interrupted-in-api-call'];
    expect(outcomes.map((name) => classified(factsOf(name, end)).kind)).toEqual([
      'timed-out',
      'transient',
      'timed-out',
    ]);
  });

  test('has a row in this test', () => {
    const names = readdirSync(FOLDER).filter((file) => file.endsWith('.jsonl'));
    const known = [...ROWS.map(([name]) => `${name}.jsonl`), 'killed-in-tool.jsonl'];
    expect(names.sort()).toEqual(known.sort());
  });
});

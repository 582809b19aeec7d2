import { describe, expect, test } from 'vitest';
import type { AgentKind } from '../../../src/effects/agents/agent.ts';
import { readLostAttempt } from '../../../src/effects/agents/lost-attempt.ts';
import { claudeAgent } from '../../../src/effects/claude/claude-agent.ts';
import { createTranscript, transcriptEnd } from '../../../src/effects/logs/iteration-log.ts';
import { pinFolder } from '../../../src/effects/trust/pinned-folder.ts';
import { agentOptions } from '../../helpers/agent-options.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const LIMIT = 64 * 1024;

const claude: AgentKind = claudeAgent(agentOptions());

/** What the agent reports at its end, as one line of its output. */
function report(costUsd: number): string {
  const usage = { input_tokens: 10, output_tokens: 5 };
  const fields = { type: 'result', subtype: 'success', is_error: false, total_cost_usd: costUsd };
  return `${JSON.stringify({ ...fields, result: 'Still at it.', usage })}\n`;
}

/** Whole lines of at least so many bytes that say nothing of money. */
function chatter(bytes: number): string {
  const line = `${JSON.stringify({ type: 'system', subtype: 'note', text: 'x'.repeat(200) })}\n`;
  return line.repeat(Math.ceil(bytes / line.length));
}

/** The log of an iteration to which one attempt after the other is written. */
async function logOf() {
  const folder = await tempFolder();
  const pinned = pinFolder(folder);
  const begin = () => {
    const transcript = createTranscript(pinned, 1, LIMIT);
    transcript.open();
    return { ...transcript, say: (text: string) => transcript.stdout(Buffer.from(text)) };
  };
  const size = () => transcriptEnd(folder, 1);
  const costFrom = (byte: number) => readLostAttempt(claude, folder, 1, byte).told.usage.cost_usd;
  return { begin, size, costFrom };
}

describe('what a lost attempt has cost', () => {
  test('is read from where it began: earlier attempts are counted already', async () => {
    const log = await logOf();
    const first = log.begin();
    first.say(report(5));
    first.close();
    const from = log.size();
    expect(log.costFrom(from)).toBe(0);
    log.begin().say(report(3));
    expect(log.costFrom(from)).toBe(3);
    expect(log.costFrom(0)).toBe(3);
  });

  test('is never taken from what an earlier attempt has left behind a full log', async () => {
    const log = await logOf();
    const first = log.begin();
    first.say(chatter(LIMIT + 1_000));
    first.say(report(5));
    // Killed, and taken up again: the second attempt is killed before it has said anything.
    expect(log.costFrom(0)).toBe(5);
    const from = log.size();
    expect(log.costFrom(from)).toBe(0);
    log.begin();
    expect(log.size()).toBe(from);
    expect(log.costFrom(from)).toBe(0);
    expect(log.costFrom(0)).toBe(5);
  });

  test.for([1_000, LIMIT])('is known behind a full log and %i bytes', async (bytes) => {
    const log = await logOf();
    const first = log.begin();
    first.say(chatter(2 * LIMIT - 600));
    first.close();
    const from = log.size();
    const second = log.begin();
    second.say(chatter(bytes));
    second.say(report(3));
    expect(log.costFrom(from)).toBe(3);
    second.close();
    expect(log.costFrom(from)).toBe(3);
  });

  test('is known though an earlier attempt has filled the log', async () => {
    const log = await logOf();
    const first = log.begin();
    first.say(chatter(LIMIT - 1_000));
    first.close();
    const from = log.size();
    const second = log.begin();
    second.say(report(3));
    expect(log.costFrom(from)).toBe(3);
    second.close();
    expect(log.costFrom(from)).toBe(3);
  });
});

import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { NO_USAGE } from '../../../src/core/agent/attempt.ts';
import type { AgentKind } from '../../../src/effects/agents/agent.ts';
import { readLostAttempt } from '../../../src/effects/agents/lost-attempt.ts';
import { claudeAgent } from '../../../src/effects/claude/claude-agent.ts';
import { noteCost, readNotedCost } from '../../../src/effects/logs/cost-notes.ts';
import { createTranscript } from '../../../src/effects/logs/iteration-log.ts';
import { pinFolder } from '../../../src/effects/trust/pinned-folder.ts';
import { agentOptions } from '../../helpers/agent-options.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const LIMIT = 64 * 1024;
const LOG = 'iteration-0001.stdout.log';

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
  const size = () => statSync(join(folder, LOG), { throwIfNoEntry: false })?.size ?? 0;
  const costOf = (attempt: number, fromByte: number) =>
    readLostAttempt(claude, folder, { iteration: 1, attempt }, fromByte).told.usage.cost_usd;
  const note = (attempt: number, costUsd: number) => {
    const usage = { cost_usd: costUsd, input_tokens: 10, output_tokens: 5 };
    noteCost(pinned, { iteration: 1, attempt }, { usage, sessionUsage: null, sessionId: null });
  };
  return { folder, begin, size, costOf, note };
}

describe('what a lost attempt has cost', () => {
  test('is read from where it began: earlier attempts are counted already', async () => {
    const log = await logOf();
    const first = log.begin();
    first.say(report(5));
    first.close();
    const from = log.size();
    expect(log.costOf(2, from)).toBe(0);
    log.begin().say(report(3));
    expect(log.costOf(2, from)).toBe(3);
    expect(log.costOf(1, 0)).toBe(3);
  });

  test('is never taken from what an earlier attempt has left behind a full log', async () => {
    const log = await logOf();
    const first = log.begin();
    first.say(chatter(LIMIT + 1_000));
    first.say(report(5));
    expect(first.isCut()).toBe(true);
    log.note(1, 5);
    // Killed, and taken up again: the second attempt is killed before it has said anything.
    expect(log.costOf(1, 0)).toBe(5);
    expect(log.costOf(2, log.size())).toBe(0);
    expect(readFileSync(join(log.folder, `${LOG}.tail`), 'utf8')).toContain('total_cost_usd');
  });

  test('is known though the log was cut where the report stood', async () => {
    const log = await logOf();
    const first = log.begin();
    first.say(chatter(LIMIT - 1_000));
    first.close();
    const from = log.size();
    const second = log.begin();
    second.say(report(3));
    second.say(chatter(3 * LIMIT));
    log.note(2, 3);
    second.close();
    expect(readFileSync(join(log.folder, LOG), 'utf8')).not.toContain('total_cost_usd');
    expect(log.costOf(2, from)).toBe(3);
  });

  test('is the newest that was noted of the attempt', async () => {
    const log = await logOf();
    log.note(1, 1);
    log.note(2, 2);
    log.note(2, 4);
    expect(readNotedCost(log.folder, 1, 1)).toMatchObject({ usage: { cost_usd: 1 } });
    expect(readNotedCost(log.folder, 1, 2)).toEqual({
      usage: { cost_usd: 4, input_tokens: 10, output_tokens: 5 },
      sessionUsage: null,
      sessionId: null,
    });
    expect(readNotedCost(log.folder, 1, 3)).toBeNull();
    expect(readNotedCost(log.folder, 2, 1)).toBeNull();
  });

  test('is known of an agent that tells only the total of its session', async () => {
    const folder = await tempFolder();
    const sessionUsage = { cost_usd: 0, input_tokens: 5_000, output_tokens: 700 };
    const told = { usage: NO_USAGE, sessionUsage, sessionId: 'session-1' };
    noteCost(pinFolder(folder), { iteration: 1, attempt: 1 }, told);
    const lost = readLostAttempt(claude, folder, { iteration: 1, attempt: 1 }, 0);
    expect(lost.told).toEqual(told);
  });
});

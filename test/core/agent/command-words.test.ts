import { describe, expect, test } from 'vitest';
import { AGENTS } from '../../../src/core/agent/agents/agents.ts';
import { classify } from '../../../src/core/agent/classify.ts';
import { withoutReport } from '../../helpers/attempt-facts.ts';

const AT = '2026-11-22T12:00:00.000Z';

/** What a command says that failed at this instant on a machine in UTC. */
function limitIn(stderrTail: string, finalMessage: string | null = null) {
  const facts = withoutReport(1, stderrTail, { finalMessage, worked: finalMessage !== null });
  const outcome = classify(facts, AGENTS.command, AT, { timeZone: 'UTC' });
  if (outcome.kind !== 'usage-limited') return null;
  return { resetsAt: outcome.resetsAt, message: outcome.message };
}

/** A limit as its program prints it, and when it resets. */
const LIMITS: readonly (readonly [program: string, words: string, resetsAt: string | null])[] = [
  [
    'codex',
    "ERROR: You've hit your usage limit. Upgrade to Pro (https://chatgpt.com/explore/pro), visit https://chatgpt.com/codex/settings/usage to purchase more credits or try again at 12:55 PM.",
    '2026-11-22T12:55:00.000Z',
  ],
  [
    'codex',
    'ERROR: You’ve hit your usage limit. To get more access now, send a request to your admin or try again at Nov 24th, 2026 11:20 AM.',
    '2026-11-24T11:20:00.000Z',
  ],
  [
    'codex',
    "■ You've hit your usage limit. Upgrade to Pro (https://openai.com/chatgpt/pricing) or try again in 2 days 17 hours 14 minutes.",
    '2026-11-25T05:14:00.000Z',
  ],
  ['codex', "[2026-11-22T12:00:00] ERROR: You've hit your usage limit. Try again later.", null],
  [
    'codex',
    "2026-11-22T12:00:00.123456Z ERROR codex_core::session: You've hit your usage limit, try again at 1:05 PM.",
    '2026-11-22T13:05:00.000Z',
  ],
  [
    'codex',
    "■ You've hit your usage limit. To get more access now, send a request to your admin.\nor try again at 3:28 PM.\n",
    '2026-11-22T15:28:00.000Z',
  ],
  ['gemini', '[API Error: You have exhausted your daily quota on this model.]', null],
  ['gemini', '✕ [API Error: You have exhausted your daily quota on this model.]', null],
  [
    'gemini',
    'Error when talking to Gemini API Full report available at: /tmp/gemini-client-error.json TerminalQuotaError: You have exhausted your capacity on this model. Your quota will reset after 5h3m2s.\n    at classifyGoogleError (file:///a.js:1:2)\n  cause: {\n    code: 429,\n    details: []\n  }\n}\nAn unexpected critical error occurred:[object Object]\n',
    '2026-11-22T17:03:02.000Z',
  ],
  [
    'gemini',
    'Usage limit reached for gemini-3-flash-preview. Access resets at 10:57 PM GMT-3.',
    '2026-11-23T01:57:00.000Z',
  ],
  ['gemini', 'You have reached your daily gemini-2.5-pro quota limit.', null],
  ['qwen', '[API Error: Qwen OAuth quota exceeded: Your free daily quota has been reached.]', null],
  ['qwen', '[API Error: 429 Free allocated quota exceeded.]', null],
  ['opencode', 'Error: The usage limit has been reached', null],
  ['opencode', 'Error: Free usage exceeded, subscribe to Go', null],
  [
    'copilot',
    "✗ Sorry, you've hit a rate limit that restricts the number of Copilot model requests you can make within a specific time period. Please try again in 58 hours. Please review our Terms of Service (https://docs.github.com/x). (Request ID: E942:3A54)",
    '2026-11-24T22:00:00.000Z',
  ],
  [
    'copilot',
    "You've reached your weekly rate limit. Please wait for your limit to reset on November 25, 2026 at 2:00 AM or switch to auto model to continue.",
    '2026-11-25T02:00:00.000Z',
  ],
  [
    'copilot',
    "You've hit your global rate limit. Please upgrade your plan or wait 3 hours 43 minutes for your limit to reset.",
    '2026-11-22T15:43:00.000Z',
  ],
  ['copilot', 'You have reached your monthly limit for premium requests', null],
  [
    'claude',
    "You've hit your session limit · resets 3pm (Europe/London)",
    '2026-11-22T15:00:00.000Z',
  ],
  ['claude', '5-hour limit reached ∙ resets 3pm', '2026-11-22T15:00:00.000Z'],
  ['claude', 'Claude AI usage limit reached|1795356000', '2026-11-22T14:00:00.000Z'],
  ['claude', "You're out of extra usage · resets 9pm", '2026-11-22T21:00:00.000Z'],
];

describe('a plan limit that a command reports', () => {
  test.for(LIMITS)('%s: %s', ([, words, resetsAt]) => {
    const found = limitIn(`Reading prompt from stdin...\n${words}\n`);
    expect(found?.resetsAt).toBe(resetsAt);
    expect(found?.message).toMatch(/limit|quota|usage/i);
    expect(found?.message).not.toContain('\n');
    // Where nothing stands on standard error.
    if (!words.includes('\n')) expect(limitIn('', `${words}\n`)).toEqual(found);
  });

  test('is found before a summary, after earlier errors, and in colour', () => {
    const words = "\u001b[31mERROR: You've hit your usage limit. Try again at 3:00 PM.\u001b[0m";
    const tail = `ERROR: Reconnecting... 2/5\n${words}\n\ntokens used\n1,234\n`;
    expect(limitIn(tail)?.resetsAt).toBe('2026-11-22T15:00:00.000Z');
    expect(limitIn(tail)?.message).toBe("You've hit your usage limit. Try again at 3:00 PM.");
  });
});

describe('output that reports no plan limit', () => {
  test.for<[why: string, stderrTail: string, finalMessage?: string]>([
    ['it is talked about', "The page says: You've hit your usage limit.\n"],
    ['it is talked about', 'I added a test for "You\'ve hit your usage limit".\n'],
    ['it is quoted', "> You've hit your usage limit. Try again at 3 PM.\n"],
    ['it is quoted', "'You have exhausted your daily quota on this model.'\n"],
    ['it is code', "`You've hit your usage limit.`\n"],
    ['it is part of a diff', "+You've hit your usage limit.\n"],
    ['it is in a list', "- You've hit your usage limit.\n"],
    ['it is the name of something', 'Usage limit reached banner: done.\n'],
    ['it is the name of something', "You've reached your daily limit page in the browser.\n"],
    ['it is another limit', 'Error: You have exceeded the maximum character limit.\n'],
    ['it is another limit', "You've hit your context limit.\n"],
    ['it is another limit', 'You have exceeded your disk quota.\n'],
    ['it is another limit', "You've reached the turn limit.\n"],
    ['it costs money', 'ERROR: Quota exceeded. Check your plan and billing details.\n'],
    ['it was tried again', 'Attempt 1 failed: You have exhausted your capacity on this model.\n'],
    ['another error came later', "You've hit your usage limit.\nERROR: stream disconnected\n"],
    [
      'another error came later',
      "You've hit your usage limit.\n2026-11-22T12:00:00Z ERROR codex_core: stream disconnected\n",
    ],
    ['another error was it', 'TypeError: x is not a function\n', "You've hit your usage limit."],
    ['much came later', `You've hit your usage limit.\n${'building\n'.repeat(10)}`],
    ['more was said', '', "You've hit your usage limit.\nThat is what the page says now."],
    ['nothing was said', ''],
  ])('%s: %j %j', ([, stderrTail, finalMessage]) => {
    expect(limitIn(stderrTail, finalMessage ?? null)).toBeNull();
  });

  test('is checked quickly, whatever the text', () => {
    for (const text of ['[', 'error ', "you've hit your 1 ", '2026-11-22 ', 'wait 1 d, and ']) {
      expect(limitIn(text.repeat(4_000), text.repeat(50_000))).toBeNull();
    }
  });
});

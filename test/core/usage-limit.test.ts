import { describe, expect, test } from 'vitest';
import { readUsageLimit } from '../../src/core/usage-limit.ts';

const resetsAt = '2026-01-05T15:00:00.000Z';
const rejected = { status: 'rejected', resetsAt, type: 'five_hour', utilization: 1 };

const WORDINGS = [
  "You've hit your session limit · resets 3pm (Europe/London)",
  "You've hit your weekly limit · resets 3pm (Europe/London)",
  "You've hit your Opus limit · resets 3pm (Europe/London)",
  "You've hit your limit · resets 5pm (Europe/Vilnius)",
  "You've hit your limit · resets Jul 15 at 12am (Australia/Melbourne)",
  "You've hit your limit · resets Jan 1, 2100, 1pm (UTC)",
  "You've reached your usage limit · resets Apr 23 at 4pm (Europe/Paris)",
  'Weekly limit reached ∙ resets Oct 5, 3pm (UTC)',
  'Opus limit reached ∙ resets 3pm',
  'Session limit reached ∙ resets 3pm',
  '5-hour limit reached ∙ resets 3pm',
  'Claude usage limit reached. Your limit will reset at 9am (America/Chicago).',
  'Claude AI usage limit reached|1736899200',
  "You're out of extra usage · resets 9pm",
];

describe('a wording of a plan limit', () => {
  test.each(WORDINGS.map((text) => [text]))('%s', (text) => {
    expect(readUsageLimit(text, 429, null)).not.toBeNull();
    expect(readUsageLimit(text, null, null)).not.toBeNull();
    expect(readUsageLimit(text.toUpperCase(), 429, null)).not.toBeNull();
    expect(readUsageLimit(text, 429, rejected)).toEqual({ resetsAt });
  });

  test.each(WORDINGS.map((text) => [text]))('is none under another status: %s', (text) => {
    for (const status of [400, 401, 403, 500, 529]) {
      expect(readUsageLimit(text, status, rejected)).toBeNull();
    }
  });

  test.each(WORDINGS.map((text) => [text]))('is none inside other words: %s', (text) => {
    expect(readUsageLimit(`The user wrote: ${text}`, 429, null)).toBeNull();
    expect(readUsageLimit(`  API Error: ${text}`, null, null)).toBeNull();
  });
});

describe('what is no plan limit', () => {
  test.each([
    ['Server is temporarily limiting requests (not your usage limit)'],
    ["API Error: Request rejected (429) · This request would exceed your account's rate limit."],
    ['TypeError at src/app.ts:429:12'],
    ['max character limit reached'],
    ['Rate limit reached'],
    ['You have hit a limit'],
    [''],
  ])('%s', (text) => {
    for (const status of [429, null]) {
      expect(readUsageLimit(text, status, null)).toBeNull();
      for (const allowed of ['allowed', 'allowed_warning', '']) {
        expect(readUsageLimit(text, status, { ...rejected, status: allowed })).toBeNull();
      }
    }
  });

  test('a rejecting event without a status of 429', () => {
    expect(readUsageLimit('It broke', null, rejected)).toBeNull();
  });
});

describe('the reset', () => {
  test.each<[what: string, text: string, rateLimit: typeof rejected | null, expected: unknown]>([
    [
      'in epoch seconds',
      'Claude AI usage limit reached|1736899200',
      null,
      '2025-01-15T00:00:00.000Z',
    ],
    ['from the event first', 'Claude AI usage limit reached|1736899200', rejected, resetsAt],
    ['unknown', "You're out of extra usage", null, null],
    ['in no number that is no instant', 'Claude AI usage limit reached|12', null, null],
  ])('%s', (_what, text, rateLimit, expected) => {
    expect(readUsageLimit(text, 429, rateLimit)).toEqual({ resetsAt: expected });
  });

  test('of a rejecting event is taken, also where it is unknown', () => {
    expect(readUsageLimit('New words', 429, rejected)).toEqual({ resetsAt });
    const unknown = { status: 'rejected', resetsAt: null, type: null, utilization: null };
    expect(readUsageLimit('New words', 429, unknown)).toEqual({ resetsAt: null });
  });
});

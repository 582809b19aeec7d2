import { describe, expect, test } from 'vitest';
import type { RateLimitFacts } from '../../../src/core/agent/attempt.ts';
import { readUsageLimit } from '../../../src/core/agent/usage-limit.ts';

const AT = '2026-01-05T12:00:00.000Z';

/** What a report says that came at this instant on a machine in UTC. */
function limitIn(text: string, status: number | null, rateLimit: RateLimitFacts | null) {
  return readUsageLimit(text, status, rateLimit, AT, 'UTC');
}

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
  "You're out of usage",
  'You’ve hit your weekly limit • resets 3pm (Europe/London)',
  "You've hit your weekly Opus limit",
  'Usage limit reached',
];

describe('a wording of a plan limit', () => {
  test.for(WORDINGS)('%s', (text) => {
    expect(limitIn(text, 429, null)).not.toBeNull();
    expect(limitIn(text, null, null)).not.toBeNull();
    expect(limitIn(text.toUpperCase(), 429, null)).not.toBeNull();
    expect(limitIn(text, 429, rejected)).toEqual({ resetsAt });
  });

  test.for(WORDINGS)('is one with any status, and behind a label: %s', (text) => {
    const expected = { resetsAt };
    for (const status of [400, 401, 403, 500, 529]) {
      expect(limitIn(text, status, rejected)).toEqual(expected);
    }
    expect(limitIn(`  API Error: ${text}`, null, rejected)).toEqual(expected);
  });

  test.for(WORDINGS)('reports no plan limit inside other words: %s', (text) => {
    expect(limitIn(`The user wrote: ${text}`, 429, null)).toBeNull();
    expect(limitIn(`I wrote a test for "${text}"`, null, null)).toBeNull();
  });
});

describe('a report without a plan limit', () => {
  test.for([
    ['Server is temporarily limiting requests (not your usage limit)'],
    ["API Error: Request rejected (429) · This request would exceed your account's rate limit."],
    ['TypeError at src/app.ts:429:12'],
    ['max character limit reached'],
    ['Rate limit reached'],
    ['You have hit a limit'],
    ["You've hit your head. There is no limit to it"],
    ["You've reached your limits.ts, where the usage limit reached its end"],
    ['The weekly limit reached · resets 3pm (Europe/London)'],
    [''],
  ] as const)('%s', ([text]) => {
    for (const status of [429, null]) {
      expect(limitIn(text, status, null)).toBeNull();
      for (const allowed of ['allowed', 'allowed_warning', '']) {
        expect(limitIn(text, status, { ...rejected, status: allowed })).toBeNull();
      }
    }
  });

  test('a rejecting event without a status of 429', () => {
    expect(limitIn('It broke', null, rejected)).toBeNull();
  });
});

describe('a rejecting event', () => {
  test.for([
    ['Server is temporarily limiting requests (not your usage limit)'],
    ['API Error: Server is temporarily limiting requests (not your usage limit) · Rate limited'],
  ] as const)('makes no plan limit out of %s', ([text]) => {
    expect(limitIn(text, 429, rejected)).toBeNull();
  });

  test('makes a plan limit out of an unknown wording', () => {
    expect(limitIn('New words', 429, rejected)).toEqual({ resetsAt });
  });
});

describe('the reset', () => {
  const SAID_3PM = "You've hit your limit · resets 3pm (Europe/Berlin)";
  const at3pm = '2026-01-05T14:00:00.000Z';
  const noTime = { ...rejected, resetsAt: null };
  const minutesAgo = { ...rejected, resetsAt: '2026-01-05T11:50:00.000Z' };
  const longAgo = { ...rejected, resetsAt: '2026-01-05T11:49:59.000Z' };

  test.for<
    [
      what: string,
      text: string,
      rateLimit: RateLimitFacts | null,
      expected: ReturnType<typeof limitIn>,
    ]
  >([
    ['from the event first', SAID_3PM, rejected, { resetsAt }],
    [
      'from the event, however far ahead',
      SAID_3PM,
      { ...rejected, resetsAt: '2100-01-01T13:00:00.000Z' },
      { resetsAt: '2100-01-01T13:00:00.000Z' },
    ],
    ['from the event, also just over', SAID_3PM, minutesAgo, { resetsAt: minutesAgo.resetsAt }],
    ['from the words', SAID_3PM, null, { resetsAt: at3pm }],
    ['from the words, if the event has none', SAID_3PM, noTime, { resetsAt: at3pm }],
    ['from the words, if that of the event is long over', SAID_3PM, longAgo, { resetsAt: at3pm }],
    [
      'from an event long over, if the words have none',
      "You've hit your limit",
      longAgo,
      { resetsAt: longAgo.resetsAt },
    ],
    [
      'from words not known yet, beside an event without one',
      'New words · resets 3pm (Europe/Berlin)',
      noTime,
      { resetsAt: at3pm },
    ],
    ['unknown', "You're out of extra usage", null, { resetsAt: null }],
    ['unknown to the event too', 'New words', noTime, { resetsAt: null }],
  ])('%s', ([, text, rateLimit, expected]) => {
    expect(limitIn(text, 429, rateLimit)).toEqual(expected);
  });

  test.for([['allowed'], ['allowed_warning']] as const)(
    'does not come from an event with status %s',
    ([status]) => {
      const event = { ...rejected, status };
      expect(limitIn(SAID_3PM, 429, event)).toEqual({ resetsAt: at3pm });
      expect(limitIn("You've hit your limit", 429, event)).toEqual({
        resetsAt: null,
      });
    },
  );

  test('without a zone is in the zone of the machine', () => {
    expect(readUsageLimit('Opus limit reached ∙ resets 3pm', 429, null, AT, 'Asia/Tokyo')).toEqual({
      resetsAt: '2026-01-06T06:00:00.000Z',
    });
  });
});

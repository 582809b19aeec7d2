import { describe, expect, test } from 'vitest';
import { isLongOver, readResetTime } from '../../../src/core/agent/reset-time.ts';

/** An instant as short as a table wants it: `2026-07-01 12:00`, in UTC. */
function instant(short: string): string {
  return new Date(`${short.replace(' ', 'T')}Z`).toISOString();
}

function resetIn(text: string, at: string, localZone = 'UTC'): string | null {
  return readResetTime(text, instant(at), localZone);
}

type Row = readonly [text: string, at: string, expected: string];

function holds(rows: readonly Row[]): void {
  test.for(rows)('%s, said at %s, is %s', ([text, at, expected]) => {
    expect(resetIn(text, at)).toBe(instant(expected));
    expect(resetIn(text.toUpperCase(), at)).toBe(instant(expected));
    expect(resetIn(text.toLowerCase(), at)).toBe(instant(expected));
  });
}

describe('every wording', () => {
  holds([
    [
      "You've hit your session limit · resets 3pm (Europe/London)",
      '2026-07-01 12:00',
      '2026-07-01 14:00',
    ],
    [
      "You've hit your limit · resets 5:30pm (Europe/Vilnius)",
      '2026-07-01 12:00',
      '2026-07-01 14:30',
    ],
    [
      "You've hit your limit · resets Jul 15 at 12am (Australia/Melbourne)",
      '2026-07-10 12:00',
      '2026-07-14 14:00',
    ],
    [
      "You've reached your usage limit · resets Apr 23 at 4pm (Europe/Paris)",
      '2026-04-20 12:00',
      '2026-04-23 14:00',
    ],
    ['Weekly limit reached ∙ resets Oct 5, 3pm (UTC)', '2026-10-01 12:00', '2026-10-05 15:00'],
    [
      "You've hit your limit · resets Jan 1, 2100, 1pm (UTC)",
      '2026-01-05 12:00',
      '2100-01-01 13:00',
    ],
    [
      'Claude usage limit reached. Your limit will reset at 9am (America/Chicago).',
      '2026-07-01 12:00',
      '2026-07-01 14:00',
    ],
    [
      'Claude usage limit reached. Your limit will reset at 9am.',
      '2026-07-01 07:00',
      '2026-07-01 09:00',
    ],
    ["You're out of extra usage · resets 9pm", '2026-07-01 12:00', '2026-07-01 21:00'],
    ['5-hour limit reached • resets 15:00', '2026-07-01 12:00', '2026-07-01 15:00'],
    ['5-hour limit reached - resets at 3 p.m.', '2026-07-01 12:00', '2026-07-01 15:00'],
    [
      '5-hour limit reached ∙ resets 3:05\u202fPM · /upgrade',
      '2026-07-01 12:00',
      '2026-07-01 15:05',
    ],
    ['resets 3pm (Europe/London) /upgrade for more', '2026-07-01 12:00', '2026-07-01 14:00'],
    ['resets 3pm /upgrade for more', '2026-07-01 12:00', '2026-07-01 15:00'],
    ['resets 3pm Europe/London', '2026-07-01 12:00', '2026-07-01 14:00'],
    ['resets 3pm (America/Argentina/Buenos_Aires)', '2026-07-01 12:00', '2026-07-01 18:00'],
    ['resets 3pm (CET)', '2026-01-01 12:00', '2026-01-01 14:00'],
    ['resets July 15, 2026 at 15:00 (UTC)', '2026-07-10 12:00', '2026-07-15 15:00'],
    ['Claude AI usage limit reached|1736899200', '2025-01-14 20:00', '2025-01-15 00:00'],
    ['Claude AI usage limit reached|1736899200123', '2025-01-14 20:00', '2025-01-15 00:00:00.123'],
    ['Claude AI usage limit reached|1736899200', '2026-01-14 20:00', '2025-01-15 00:00'],
    ['or try again at 12:55 PM.', '2026-07-01 12:00', '2026-07-01 12:55'],
    ['or try again at Nov 24th, 2026 11:20 AM.', '2026-11-01 12:00', '2026-11-24 11:20'],
    ['to reset on April 20, 2026 at 2:00 AM or switch', '2026-04-18 12:00', '2026-04-20 02:00'],
    ['Access resets at 10:57 PM GMT-3.', '2026-07-01 12:00', '2026-07-02 01:57'],
    ['resets 3pm (UTC+5:30)', '2026-07-01 08:00', '2026-07-01 09:30'],
    ['try again in 2 days 17 hours 14 minutes.', '2026-07-01 12:00', '2026-07-04 05:14'],
    ['wait 3 hours 43 minutes for your limit', '2026-07-01 12:00', '2026-07-01 15:43'],
    ['Your quota will reset after 5h3m2s.', '2026-07-01 12:00', '2026-07-01 17:03:02'],
    ['Please retry in 26.5s.', '2026-07-01 12:00', '2026-07-01 12:00:26.500'],
    ['resets in 1 day, 2 hours, and 5 minutes', '2026-07-01 12:00', '2026-07-02 14:05'],
    ['will reset after 0s.', '2026-07-01 12:00', '2026-07-01 12:00'],
    ['It will reset at 2026-07-01T23:00:00+08:00', '2026-07-01 12:00', '2026-07-01 15:00'],
    ['resets on 2026-07-02: see your plan', '2026-07-01 12:00', '2026-07-02 00:00'],
    ['will reset at 2026-07-02 15:00:00 -0330', '2026-07-01 12:00', '2026-07-02 18:30'],
  ]);

  test.for([
    ['try again later'],
    ['try again in less than a minute'],
    ['try again in 5 iterations'],
    ['try again in 1000000 days'],
    ['wait and see'],
    ['resets at 2026-07-02 15:00:00Z-03:00'],
    ['resets 3pm (GMT-30)'],
  ] as const)('none: %s', ([text]) => {
    expect(resetIn(text, '2026-07-01 12:00')).toBeNull();
  });
});

describe('noon and midnight', () => {
  holds([
    ['resets 12am (UTC)', '2026-07-01 12:00', '2026-07-02 00:00'],
    ['resets 12pm (UTC)', '2026-07-01 08:00', '2026-07-01 12:00'],
    ['resets 12:30am (UTC)', '2026-07-01 12:00', '2026-07-02 00:30'],
    ['resets 12:30pm (UTC)', '2026-07-01 12:00', '2026-07-01 12:30'],
    ['resets 0:30 (UTC)', '2026-07-01 12:00', '2026-07-02 00:30'],
    ['resets 1am (UTC)', '2026-07-01 00:30', '2026-07-01 01:00'],
    ['resets 11:59pm (UTC)', '2026-07-01 00:30', '2026-07-01 23:59'],
  ]);
});

describe('a time of day', () => {
  describe('means the next such time in its zone', () => {
    holds([
      // Over the midnight of the zone, of the month and of the year.
      ['resets 3pm (UTC)', '2026-07-01 16:00', '2026-07-02 15:00'],
      ['resets 2am (UTC)', '2026-07-31 23:00', '2026-08-01 02:00'],
      ['resets 2am (UTC)', '2026-12-31 23:00', '2027-01-01 02:00'],
      ['resets 2am (UTC)', '2028-02-28 23:00', '2028-02-29 02:00'],
      // It is another day there.
      ['resets 9am (Australia/Melbourne)', '2026-07-01 22:00', '2026-07-01 23:00'],
      ['resets 9am (Australia/Melbourne)', '2026-12-31 23:30', '2027-01-01 22:00'],
      ['resets 11pm (America/Los_Angeles)', '2026-07-02 05:00', '2026-07-02 06:00'],
      ['resets 8am (Pacific/Kiritimati)', '2026-06-30 17:00', '2026-06-30 18:00'],
      ['resets 8am (Pacific/Kiritimati)', '2026-06-30 19:00', '2026-07-01 18:00'],
      ['resets 8pm (Pacific/Pago_Pago)', '2026-07-02 05:00', '2026-07-02 07:00'],
      ['resets 8am (Pacific/Pago_Pago)', '2026-07-01 18:00', '2026-07-01 19:00'],
      // Zones at odd minutes.
      ['resets 3pm (Asia/Kathmandu)', '2026-07-01 08:00', '2026-07-01 09:15'],
      ['resets 3pm (Australia/Lord_Howe)', '2026-01-01 03:00', '2026-01-01 04:00'],
    ]);
  });

  describe('that passed at most ten minutes ago means that time', () => {
    holds([
      ['resets 3pm (UTC)', '2026-07-01 15:00:00', '2026-07-01 15:00'],
      ['resets 3pm (UTC)', '2026-07-01 15:00:20', '2026-07-01 15:00'],
      ['resets 3pm (UTC)', '2026-07-01 15:10:00', '2026-07-01 15:00'],
      ['resets 3pm (UTC)', '2026-07-01 15:10:01', '2026-07-02 15:00'],
      ['resets 11:59pm (UTC)', '2026-07-02 00:00:20', '2026-07-01 23:59'],
      ['resets 11:59pm (Asia/Tokyo)', '2026-12-31 15:01:00', '2026-12-31 14:59'],
    ]);
  });

  test('without a zone is in the zone of the machine', () => {
    const at = '2026-07-01 12:30';
    expect(resetIn('resets 9pm', at, 'America/New_York')).toBe(instant('2026-07-02 01:00'));
    expect(resetIn('resets 9pm', at, 'Asia/Tokyo')).toBe(instant('2026-07-02 12:00'));
    expect(resetIn('resets 9pm (UTC)', at, 'Asia/Tokyo')).toBe(instant('2026-07-01 21:00'));
    expect(resetIn('resets 9pm', at, 'Etc/Unknown')).toBeNull();
    expect(resetIn('resets 9pm (UTC)', at, 'Etc/Unknown')).toBe(instant('2026-07-01 21:00'));
  });
});

describe('daylight saving', () => {
  describe('the clocks change between the report and the reset', () => {
    holds([
      // London goes on at 01:00 UTC of 29 March and back at 01:00 UTC of 25 October.
      ['resets 9am (Europe/London)', '2026-03-28 20:00', '2026-03-29 08:00'],
      ['resets 9am (Europe/London)', '2026-10-24 20:00', '2026-10-25 09:00'],
      // New York on 8 March at 07:00 UTC, back on 1 November at 06:00 UTC.
      ['resets 9am (America/New_York)', '2026-03-07 20:00', '2026-03-08 13:00'],
      ['resets 9am (America/New_York)', '2026-10-31 20:00', '2026-11-01 14:00'],
      ['resets Mar 12 at 9am (America/New_York)', '2026-03-07 20:00', '2026-03-12 13:00'],
      // Melbourne back on 4 April at 16:00 UTC, on again on 3 October at 16:00 UTC.
      ['resets 9am (Australia/Melbourne)', '2026-04-04 12:00', '2026-04-04 23:00'],
      ['resets 9am (Australia/Melbourne)', '2026-10-03 12:00', '2026-10-03 22:00'],
    ]);
  });

  describe('the reset is right before or after the change', () => {
    holds([
      ['resets 12:30am (Europe/London)', '2026-03-28 20:00', '2026-03-29 00:30'],
      ['resets 2am (Europe/London)', '2026-03-28 20:00', '2026-03-29 01:00'],
      ['resets 12:59am (Europe/London)', '2026-10-24 20:00', '2026-10-24 23:59'],
      ['resets 2am (Europe/London)', '2026-10-24 20:00', '2026-10-25 02:00'],
      ['resets 1:30am (Australia/Melbourne)', '2026-10-03 12:00', '2026-10-03 15:30'],
      ['resets 3am (Australia/Melbourne)', '2026-10-03 12:00', '2026-10-03 16:00'],
    ]);
  });

  describe('the clocks skip the time: the reset is as long after the skip', () => {
    holds([
      ['resets 1:30am (Europe/London)', '2026-03-28 20:00', '2026-03-29 01:30'],
      ['resets 2:30am (America/New_York)', '2026-03-07 20:00', '2026-03-08 07:30'],
      ['resets 2:30am (Australia/Melbourne)', '2026-10-03 12:00', '2026-10-03 16:30'],
      ['resets Mar 29 at 1:30am (Europe/London)', '2026-03-27 20:00', '2026-03-29 01:30'],
      // Apia left out 30 December 2011, from 10:00 UTC on.
      ['resets 9pm (Pacific/Apia)', '2011-12-30 09:00', '2011-12-31 07:00'],
      ['resets 9am (Pacific/Apia)', '2011-12-30 09:00', '2011-12-30 19:00'],
      ['resets 11pm (Pacific/Apia)', '2011-12-30 08:00', '2011-12-30 09:00'],
    ]);
  });

  describe('the time occurs twice: the first counts, and later the second', () => {
    holds([
      ['resets 1:30am (Europe/London)', '2026-10-24 20:00', '2026-10-25 00:30'],
      ['resets 1:30am (Europe/London)', '2026-10-25 00:35', '2026-10-25 00:30'],
      ['resets 1:30am (Europe/London)', '2026-10-25 00:45', '2026-10-25 01:30'],
      ['resets 1:30am (Europe/London)', '2026-10-25 01:45', '2026-10-26 01:30'],
      ['resets 1:30am (America/New_York)', '2026-10-31 20:00', '2026-11-01 05:30'],
      ['resets 1:30am (America/New_York)', '2026-11-01 05:45', '2026-11-01 06:30'],
      ['resets 2:30am (Australia/Melbourne)', '2026-04-04 12:00', '2026-04-04 15:30'],
      ['resets Apr 5 at 2:30am (Australia/Melbourne)', '2026-04-04 16:00', '2026-04-04 16:30'],
    ]);
  });
});

describe('a date', () => {
  describe('without a year is in this year, unless it passed more than a day ago', () => {
    holds([
      ['resets Jul 15 at 3pm (UTC)', '2026-07-16 15:00:00', '2026-07-15 15:00'],
      ['resets Jul 15 at 3pm (UTC)', '2026-07-16 15:00:01', '2027-07-15 15:00'],
      ['resets Jan 2 at 3pm (UTC)', '2026-12-30 12:00', '2027-01-02 15:00'],
      ['resets Dec 31 at 11pm (UTC)', '2027-01-01 00:30', '2026-12-31 23:00'],
      ['resets Jan 1 at 12am (Australia/Melbourne)', '2026-12-31 12:00', '2026-12-31 13:00'],
      ['resets Dec 31 at 11pm (America/Los_Angeles)', '2027-01-01 05:00', '2027-01-01 07:00'],
      ['resets Feb 29 at 3pm (UTC)', '2028-02-25 12:00', '2028-02-29 15:00'],
      ['resets Feb 29 at 3pm (UTC)', '2027-12-01 12:00', '2028-02-29 15:00'],
    ]);
  });

  describe('with a year is that date, even in the past', () => {
    holds([['resets Jul 15, 2025, 3pm (UTC)', '2026-07-15 12:00', '2025-07-15 15:00']]);
  });

  test.for(['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'])(
    'in %s',
    (month) => {
      const at = instant('2026-01-01 00:00');
      const expected = new Date(`3 ${month} 2026 15:00 UTC`).toISOString();
      expect(readResetTime(`resets ${month} 3, 3pm (UTC)`, at, 'UTC')).toBe(expected);
    },
  );
});

describe('a text without an understandable reset', () => {
  test.for([
    [''],
    ["You've hit your limit"],
    ['resets soon'],
    ['resets 3'],
    ['resets 3 (UTC)'],
    ['resets Oct 5'],
    ['resets Oct 5 (UTC)'],
    ['resets 0pm'],
    ['resets 13pm'],
    ['resets 15:00pm'],
    ['resets 24:00'],
    ['resets 3:60pm'],
    ['resets 15:60'],
    ['resets 3:5pm'],
    ['resets 15:00:30'],
    ['resets 315pm'],
    ['presets 3pm'],
    ['starts 3pm (UTC)'],
    ['resets Mon 3pm'],
    ['resets 3pm tomorrow'],
    ['resets 3pm, Oct 5'],
    ['resets 3pm PST'],
    ['resets 3pm UTCish'],
    ['resets Feb 30 at 3pm (UTC)'],
    ['resets Feb 29 at 3pm (UTC)'],
    ['resets Jul 0 at 3pm (UTC)'],
    ['resets Jul 15, 1999, 3pm (UTC)'],
    ['resets Smarch 3 at 3pm (UTC)'],
    // Zones nobody knows, and those that stand for several.
    ['resets 3pm (Mars/Olympus)'],
    ['resets 3pm (your time)'],
    ['resets 3pm ()'],
    ['resets 3pm (BST)'],
    ['resets 3pm (IST)'],
    ['resets 3pm (+05:30)'],
    ['limit reached|12'],
    ['limit reached|99999999999999'],
    ['limit reached|17368992001'],
  ] as const)('%s', ([text]) => {
    expect(resetIn(text, '2026-07-01 12:00')).toBeNull();
  });

  test('a number more than eight days ahead', () => {
    const said = 'Claude AI usage limit reached|1736899200';
    expect(resetIn(said, '2025-01-07 00:00:00')).toBe(instant('2025-01-15 00:00'));
    expect(resetIn(said, '2025-01-06 23:59:59')).toBeNull();
  });

  test('any text, if the time of the report is invalid', () => {
    expect(readResetTime('resets 3pm (UTC)', 'once', 'UTC')).toBeNull();
  });
});

test('a reset is long over after ten minutes', () => {
  const at = instant('2026-07-01 12:00');
  expect(isLongOver(instant('2026-07-01 11:50'), at)).toBe(false);
  expect(isLongOver(instant('2026-07-01 11:49:59'), at)).toBe(true);
  expect(isLongOver(instant('2026-07-01 12:01'), at)).toBe(false);
});

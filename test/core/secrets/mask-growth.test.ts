import { describe, expect, it } from 'vitest';
import { maskSecrets } from '../../../src/core/secrets/secrets.ts';
import { CREDENTIALS } from '../../helpers/credential-samples.ts';

// What takes a square of the length takes 64 times as long for eight times the length. How long it
// takes by itself depends on the machine, so only the two are held against each other.
const LARGE = 1 << 20;
/** Tried first: a square of this is over in seconds, one of the other in hours. */
const LESS = 1 << 17;
const TIMES = 8;
const MOST = 3 * TIMES;
/** A clock that ticks no finer says nothing of what is shorter. */
const LEAST_MS = 1;
const TRIES = 4;

/** Processor time, in milliseconds: what else runs on the machine does not count. */
function timeToMask(text: string): number {
  const { user } = process.cpuUsage();
  maskSecrets(text);
  return (process.cpuUsage().user - user) / 1_000;
}

/** How often longer it takes to mask eight times as much of the same, at the best of some tries. */
function growthOf(part: string, length: number): number {
  const large = part.repeat(Math.ceil(length / part.length));
  const small = large.slice(0, large.length / TIMES);
  let least = Number.POSITIVE_INFINITY;
  for (let tried = 0; tried < TRIES && least > MOST; tried += 1) {
    least = Math.min(least, timeToMask(large) / Math.max(LEAST_MS, timeToMask(small)));
  }
  return least;
}

const HARD = [
  'a',
  ' ',
  '\\',
  '\\n',
  '%20',
  '[32m',
  '"',
  '.',
  ':',
  '@',
  'key=',
  'key="',
  "token='",
  'password: ',
  'pass:',
  '--token ',
  '--a-token-',
  '-u ',
  '-u a:"',
  'mysql ',
  'sshpass -',
  'cookie: ',
  'cookie: a=;',
  'login ',
  'machine a login ',
  'login a password ',
  'a:5432:a:',
  'keykeykeykey:',
  'eyJabcdefghijklmno.',
  'eyJabcdefghijklmno-',
  '://',
  '://a:',
  '://a:@',
  '://a:a/',
  '-----BEGIN PRIVATE KEY-----',
  '-----BEGIN PRIVATE KEY-----\n',
  '-----BEGIN PRIVATE KEY-----\nAAAA\n',
  '-----BEGIN ',
  'Private-Lines: 1\n',
  'authorization: ',
  'bearer ',
  'api key',
  'A_KEY=',
  'key\\"=\\"',
  'a.a',
  'password="\\"',
  'key=`\'"',
  'MTIz',
  '8Q~',
];

/** What stands in front of each secret, repeated without one. */
const PREFIXES = CREDENTIALS.map(({ masked }) => masked.slice(0, masked.indexOf('…'))).filter(
  (prefix) => prefix !== '',
);

describe('the time for masking grows only linearly with the text', () => {
  it.each([...new Set([...HARD, ...PREFIXES])])('of %j repeated', (part) => {
    expect(growthOf(part, LESS)).toBeLessThanOrEqual(MOST);
    expect(growthOf(part, LARGE)).toBeLessThanOrEqual(MOST);
  });

  it.each([...new Set(PREFIXES)])('of %j with a secret that is too short', (prefix) => {
    expect(growthOf(`${prefix}aB3 `, LESS)).toBeLessThanOrEqual(MOST);
  });
});

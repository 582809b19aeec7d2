import { describe, test } from 'vitest';
import { maskSecrets } from '../../../src/core/secrets/secrets.ts';
import { CREDENTIALS } from '../../helpers/credential-samples.ts';
import { expectLinear, LONG, SHORT } from '../../helpers/growth.ts';

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
  test.for([...new Set([...HARD, ...PREFIXES])])('of %j repeated', (part) => {
    expectLinear(maskSecrets, part, SHORT);
    expectLinear(maskSecrets, part, LONG);
  });

  test.for([...new Set(PREFIXES)])('of %j with a secret that is too short', (prefix) => {
    expectLinear(maskSecrets, `${prefix}aB3 `, SHORT);
  });
});

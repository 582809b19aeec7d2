import { describe, test } from 'vitest';
import { maskSecrets } from '../../../src/core/secrets/secrets.ts';
import { CREDENTIALS } from '../../helpers/credential-samples.ts';
import { expectLinear, SHORT } from '../../helpers/growth.ts';
import { inGroups } from '../../helpers/in-groups.ts';

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
  const repeated = [...new Set([...HARD, ...PREFIXES])];
  test.for(inGroups(repeated, 20))('of a part repeated: parts %s', ([, parts]) => {
    expectLinear(maskSecrets, parts);
  });

  const tooShort = [...new Set(PREFIXES)].map((prefix) => `${prefix}aB3 `);
  test.for(inGroups(tooShort, 20))('of secrets that are too short: parts %s', ([, parts]) => {
    expectLinear(maskSecrets, parts, [SHORT]);
  });
});

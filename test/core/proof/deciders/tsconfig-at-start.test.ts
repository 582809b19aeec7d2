import { expect, test } from 'vitest';
import { tsconfigAtStart } from '../../../../src/core/proof/deciders/tsconfig-at-start.ts';

const START = '{ // strict\n "extends": "./base.json", "compilerOptions": {"strict": true,},\n}';

test.for<[what: string, now: string, expected: object | null]>([
  [
    "a path alias is the claim's, and what is right is as it was",
    '{"compilerOptions": {"strict": false, "paths": {"@/*": ["./src/*"]}}, "exclude": ["src"]}',
    {
      extends: './base.json',
      compilerOptions: { strict: true, paths: { '@/*': ['./src/*'] } },
    },
  ],
  ['what is gone comes back', '{}', { extends: './base.json', compilerOptions: { strict: true } }],
  ['what nobody can read', '{', null],
])('%s', ([, now, expected]) => {
  const text = tsconfigAtStart(now, START);
  expect(text === null ? null : JSON.parse(text)).toEqual(expected);
});

import { expect, test } from 'vitest';
import { moduleSystemsOf } from '../../../../src/core/proof/deciders/module-system.ts';

const MODULE = '{"type":"module"}';
const texts = (files: Readonly<Record<string, string>>) => new Map(Object.entries(files));

test.for<
  [
    what: string,
    atStart: Readonly<Record<string, string>>,
    claimed: Readonly<Record<string, string>>,
    places: Readonly<Record<string, string>>,
  ]
>([
  ['nothing changed', { 'package.json': MODULE }, { 'package.json': MODULE }, {}],
  [
    'to ES modules',
    { 'package.json': '{}' },
    { 'package.json': MODULE },
    { 'test/package.json': 'commonjs', 'a/test/unit/package.json': 'commonjs' },
  ],
  [
    'in a package below, to CommonJS',
    { 'package.json': '{}', 'a/package.json': MODULE },
    { 'package.json': '{}', 'a/package.json': '{}' },
    { 'a/test/unit/package.json': 'module' },
  ],
  [
    'where a folder of tests is a package',
    { 'package.json': '{}' },
    { 'package.json': MODULE, 'test/package.json': MODULE },
    { 'a/test/unit/package.json': 'commonjs' },
  ],
])('the module system of the start: %s', ([, atStart, claimed, places]) => {
  const tests = ['test/a.js', 'a/test/unit/b.test.ts', 'src/c.test.js', 'd.test.js', 'test/e.cjs'];
  const found = moduleSystemsOf(tests, { atStart: texts(atStart), claimed: texts(claimed) });
  const types = [...found].map(([path, text]) => [path, JSON.parse(text).type]);
  expect(Object.fromEntries(types)).toEqual(places);
});

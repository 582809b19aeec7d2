import { expect, test } from 'vitest';
import { accepting } from '../../../src/core/proof/accepted.ts';

test.for<readonly [string, readonly string[], readonly string[]]>([
  ['vitest.config.ts', ['vitest.config.ts'], ['vitest.configXts', 'a/vitest.config.ts']],
  ['./Makefile', ['Makefile'], ['a/Makefile']],
  ['*.config.ts', ['vite.config.ts', '.config.ts'], ['a/vite.config.ts']],
  ['**/*.mk', ['a.mk', 'a/b.mk', 'a/b/c.mk'], ['a.mkx']],
  ['tools/**', ['tools/a', 'tools/a/b'], ['tools', 'xtools/a']],
  ['a?[bc][!d].{js,ts}', ['axbx.js', 'a.c..ts'], ['axdx.js', 'axbd.js', 'axbx.py', 'a/bx.js']],
  ['a (1)[x].txt', ['a (1)[x].txt', 'a (1)x.txt'], ['a (1)y.txt']],
  ['[z-a]', ['[z-a]'], ['z', 'a']],
  ['[\\d]', ['d', '\\'], ['1']],
  ['{', ['{'], ['']],
])('%s', ([glob, accepted, refused]) => {
  const isAccepted = accepting([glob]);
  expect(accepted.filter((name) => !isAccepted(name))).toEqual([]);
  expect(refused.filter((name) => isAccepted(name))).toEqual([]);
});

test('a glob is meant from the folder of the checks, and from the top', () => {
  const isAccepted = accepting(['Makefile', 'sub/a.mk'], 'sub');
  expect(['Makefile', 'sub/Makefile', 'sub/a.mk', 'a.mk'].map(isAccepted)).toEqual([
    ...[true, true, true, false],
  ]);
});

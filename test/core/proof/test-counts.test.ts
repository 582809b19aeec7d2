import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { OutputReader } from '../../../src/core/proof/test-counts.ts';
import { sumOfCounts } from '../../../src/core/proof/test-tally.ts';
import { countTests } from '../../helpers/count-tests.ts';

// Each file in outputs/ holds what one runner really printed, one part for each case: `##### case # exit 1`.
// Those of dotnet and nextest are from public logs and documentation: neither was at hand.
// Escapes are written as ␛ and carriage returns as ␍; stack traces, paths and times are cut or neutral.
const folder = join(dirname(fileURLToPath(import.meta.url)), 'outputs');

function outputsOf(file: string): ReadonlyMap<string, string> {
  const text = readFileSync(join(folder, `${file}.txt`), 'utf8')
    .replaceAll('␛', '\x1b')
    .replaceAll('␍', '\r');
  const parts = text.split(/^##### (.*) # exit \d+\n/m).slice(1);
  return new Map(
    parts.flatMap((name, at) => (at % 2 ? [] : [[name, parts[at + 1] ?? ''] as const])),
  );
}

/** How many tests ran, and the names of those that failed. */
type Row = readonly [ran: number | null, ...failed: readonly string[]];
/** The number is known, but not the name of all that failed. */
type Unnamed = { readonly ran: number | null; readonly failures: number };
const UNKNOWN = [null] as const;

const NODE: Readonly<Record<string, Row | Unnamed>> = {
  'all pass': [2],
  'one failing': [2, 'a.test.js: bad'],
  'several files': [4, 'a.test.js: bad', 'c.test.js: bad'],
  'failing subtest': [2, 'a.test.js: inner', 'a.test.js: outer'],
  'skipped and todo': [1],
  'all skipped': [0],
  'no files': [0],
  'filter fits none': [0],
  'file without tests': [0],
  'file that does not load': { ran: 1, failures: 1 },
  'time-out': [1, 'a.test.js: slow'],
  'own output': [1],
  'spec reporter': [2, 'a.test.js: bad'],
  'tap reporter': [2, 'a.test.js: bad'],
  'dot reporter': UNKNOWN,
  'colours forced': [2, 'a.test.js: bad'],
  'at a terminal': [2, 'a.test.js: bad'],
};

const EXPECTED: Readonly<Record<string, Readonly<Record<string, Row | Unnamed>>>> = {
  vitest: {
    'all pass': [2],
    'one failing': [2, 'a.test.js > suite > bad'],
    'several files': [4, 'a.test.js > bad', 'c.test.js > bad'],
    'skipped and todo': [1],
    'all skipped': [0],
    'no files': [0],
    'no files allowed': [0],
    'filter fits none': [0],
    'file without tests': { ran: 0, failures: 1 },
    'file that does not load': { ran: 1, failures: 1 },
    'unhandled error': { ran: 1, failures: 1 },
    'expected to fail': [1],
    'same name twice': { ran: 2, failures: 2 },
    'own output': [1],
    'verbose reporter': [2, 'a.test.js > bad'],
    'dot reporter': [2, 'a.test.js > bad'],
    'colours forced': [2, 'a.test.js > bad'],
    'for an agent': [2, 'a.test.js > bad'],
    'projects without colours': [3, '|unit| a.test.js > bad'],
    'failing hook': { ran: 1, failures: 2 },
    'at a terminal': [3, 'a.test.js > bad'],
    projects: [3, 'unit a.test.js > bad'],
    retried: [2, 'a.test.js > bad'],
  },
  jest: {
    'all pass': [2],
    'one failing': [2, './a.test.js › suite › bad'],
    'several files': [4, './c.test.js › bad', './a.test.js › bad'],
    'skipped and todo': [1],
    'all skipped': [0],
    'no files': [0],
    'no files allowed': [0],
    'filter fits none': [0],
    'file without tests': { ran: 0, failures: 1 },
    'file that does not load': { ran: 1, failures: 1 },
    'own output': [1],
    verbose: [2, './a.test.js › bad'],
    'colours forced': [2, './a.test.js › bad'],
    'coverage too low': { ran: 1, failures: 0 },
    'at a terminal': [3, './a.test.js › bad'],
  },
  mocha: {
    'all pass': [2],
    'one failing': [2, 'suite > inner > bad'],
    'several files': [4, 'bad', 'c > bad'],
    'all skipped': [0],
    'no files': [0],
    'no files allowed': [0],
    'filter fits none': [0],
    'file without tests': [0],
    'file that does not load': { ran: null, failures: 1 },
    'failing hook': { ran: 1, failures: 1 },
    'own output': [1],
    'dot reporter': [2, 'bad'],
    'min reporter': [1],
    'tap reporter': [2, 'bad'],
    'colours forced': [2, 'bad'],
    'at a terminal': [2, 'bad'],
  },
  'node-20': {
    ...NODE,
    'failing hook': { ran: 2, failures: 2 },
    'failing hook, spec reporter': { ran: 2, failures: 2 },
  },
  'node-22': NODE,
  // In this reporter nothing tells a test with tests of its own from a suite.
  'node-24': { ...NODE, 'failing subtest': { ran: 2, failures: 2 } },
  pytest: {
    'all pass': [2],
    'one failing': [2, 'test_a.py::test_bad'],
    'several files': [4, 'test_a.py::test_bad', 'test_c.py::test_bad'],
    quiet: [2, 'test_a.py::test_bad'],
    verbose: [2, 'test_a.py::test_bad'],
    'expected to fail': [1],
    'all skipped': [0],
    'no files': [0],
    'filter fits none': [0],
    'filter fits one': [1],
    'collected only': [0],
    'collected only, quiet': [0],
    'file that does not load': { ran: 0, failures: 1 },
    'failing fixture': [1, 'test_a.py::test_f'],
    parameters: [2, 'test_a.py::test_p[x - y]', 'test_a.py::test_p[z]'],
    'no summary of failures': { ran: 2, failures: 1 },
    warnings: [1],
    'own output': [1],
    'colours forced': [2, 'test_a.py::test_bad'],
    'at a terminal': [2, 'test_a.py::test_bad'],
    'failing subtests': [
      2,
      ...['test_a.py::T::test_u (i=1)', 'test_a.py::T::test_u (i=2)', 'test_a.py::test_many'],
      ...['test_a.py::test_many [n] (i=1)', 'test_a.py::test_many [n] (i=2)'],
    ],
  },
  unittest: {
    'all pass': [2],
    'one failing': [2, 'test_bad (test_a.T.test_bad)'],
    'several files': [4, 'test_bad (test_a.T.test_bad)', 'test_bad (test_c.T.test_bad)'],
    'expected to fail': [1],
    'unexpected success': [2, 'test_x (test_a.T.test_x)'],
    'all skipped': [0],
    'no files': [0],
    'filter fits none': [0],
    'file that does not load': { ran: 1, failures: 1 },
    'failing class': { ran: 0, failures: 1 },
    subtests: [1, 'test_s (test_a.T.test_s) (i=1)', 'test_s (test_a.T.test_s) (i=2)'],
    verbose: [2, 'test_bad (test_a.T.test_bad)'],
    'own output': [1],
    'at a terminal': [2, 'test_bad (test_a.T.test_bad)'],
  },
  cargo: {
    'all pass': [2],
    'one failing': [2, 'inner::bad'],
    'several binaries': { ran: 4, failures: 2 },
    'same name in two binaries': { ran: 2, failures: 2 },
    'should panic': [1, 'calm'],
    'all ignored': [0],
    'no tests': [0],
    'filter fits none': [0],
    'example in a comment': [2, 'src/lib.rs - f (line 1)'],
    'does not compile': { ran: null, failures: 2 },
    aborts: { ran: 1, failures: 1 },
    quiet: [2, 'bad'],
    'own output': [2, 'bad'],
    'colours forced': [2, 'bad'],
    'at a terminal': [2, 'bad'],
    'nextest 0.9.72': UNKNOWN,
  },
  go: {
    'all pass': [1],
    'one failing': [1, 'example.com/demo.TestBad'],
    'several packages': [
      3,
      'example.com/demo/b.TestBad',
      'example.com/demo/b.TestSub',
      'example.com/demo/b.TestSub/in',
      'example.com/demo/c.TestBad',
    ],
    verbose: [2, 'example.com/demo/b.TestBad'],
    'all skipped': [1],
    'no tests': [0],
    'no files': [0],
    'filter fits none': [0],
    'does not compile': { ran: 1, failures: 1 },
    'does not vet': { ran: 0, failures: 1 },
    panic: { ran: 1, failures: 1 },
    exit: { ran: 1, failures: 1 },
    cached: [1],
    coverage: [1],
    'one package': [1],
    'one package failing': [1, 'example.com/demo.TestBad'],
    'at a terminal': [1, 'example.com/demo.TestBad'],
  },
  ava: {
    'all pass': [2],
    'one failing': [2, 'bad one'],
    'file that does not load': { ran: 4, failures: 2 },
    'filter fits none': [0],
    tap: [5, 'a › bad one'],
    'tap: file that does not load': [
      7,
      'a › bad one',
      "Error [ERR_MODULE_NOT_FOUND]: Cannot find module '/project/nothing.js' imported from /project/c.test.js",
      'c.test.js exited with a non-zero exit code: 1',
    ],
  },
  bun: {
    'all pass': [2],
    'one failing': [2, 'a.test.js: suite > bad one'],
    'file that does not load': { ran: 4, failures: 2 },
    'filter fits none': [0],
    'no files': UNKNOWN,
    dots: [4, 'a.test.js: suite > bad one'],
    bail: [2, 'a.test.js: suite > bad one'],
  },
  tap: {
    'tap: all pass': [2],
    'tap: one failing': [5, 'a.test.js > bad > eq'],
    'tap: one file by node': [3, 'bad > eq'],
    'tap: base reporter': UNKNOWN,
    'tape: all pass': [2],
    'tape: one failing': [3, 'bad > eq'],
    'vitest: tap reporter': [3, 'a.test.js > suite > bad \\# one'],
    'vitest: tap-flat reporter': [3, 'a.test.js > suite > bad \\# one'],
  },
  bats: {
    'all pass': [2],
    'one failing': [2, 'bad one'],
    'TAP 13': [2, 'bad one'],
    'filter fits none': [0],
    'all pass, pretty': [2],
    pretty: [2, 'bad one'],
  },
  prove: {
    'all pass': [3],
    'one failing': { ran: 7, failures: 1 },
    verbose: [6, 'bad'],
    dies: { ran: 1, failures: 1 },
    'one file by perl': [2, 'bad'],
    'file with inner tests by perl': [4],
    'dies under perl': { ran: 1, failures: 1 },
  },
  maven: {
    'all pass': [1],
    'some failing': [4, 'ATest.bad', 'ATest.err'],
    'quiet, all pass': UNKNOWN,
    quiet: [null, 'ATest.bad', 'ATest.err'],
    'run again': [3, 'ATest.bad(ATest)', 'ATest.err(ATest)'],
    'skipped by a setting': [0],
    'modules, failures ignored': [4, 'ATest.bad', 'ATest.err'],
  },
  gradle: { 'all pass': UNKNOWN, 'some failing': [null, 'ATest > bad', 'ATest > err'] },
  dotnet: {
    'all pass': [2],
    'two projects': [5, 'App.Tests.CalcTests.Divides', 'App.Tests.CalcTests.Adds(a: 1, b: 2)'],
    'a block for the numbers': [2, 'App.Tests.CalcTests.Divides'],
    'at a terminal': [3, 'App.Tests.CalcTests.Divides'],
    'testing platform': [3, 'App.Tests.CalcTests.Adds(a: "x")'],
  },
  rspec: {
    'all pass': [2],
    'some failing': [3, './spec/x_spec.rb: sum bad', './spec/x_spec.rb: sum inner raises # hash'],
    'documentation format': [
      3,
      './spec/x_spec.rb: sum bad',
      './spec/x_spec.rb: sum inner raises # hash',
    ],
    'filter fits none': [0],
    'file that does not load': { ran: 0, failures: 1 },
    'failing hooks': { ran: 3, failures: 3 },
    'same name twice': { ran: 2, failures: 2 },
    'random order': [2],
  },
  minitest: {
    'all pass': [2],
    'some failing': [3, 'TestA#test_bad', 'TestA#test_err'],
    verbose: [3, 'TestA#test_bad', 'TestA#test_err'],
    'filter fits none': [0],
    'spec style': [2, 'thing#test_0002_does not work'],
    'test-unit': [3, 'test_bad(TestA)', 'test_err(TestA)'],
  },
  phpunit: {
    'all pass': [2],
    'some failing': [
      7,
      'ATest::testErr',
      'ATest::testBad',
      'ATest::testData with data set "two" (2)',
      'ATest::testData with data set #0 (3)',
    ],
    testdox: { ran: 7, failures: 4 },
    'risky and skipped': [1],
    'filter fits none': [0],
    'no data': { ran: 2, failures: 1 },
    'colours forced': [
      7,
      'ATest::testErr',
      'ATest::testBad',
      'ATest::testData with data set "two" (2)',
      'ATest::testData with data set #0 (3)',
    ],
  },
  exunit: {
    'all pass': [1],
    'some failing': [4, 'test bad one (XTest)', 'test group in (XTest)'],
    'failing setup': { ran: 0, failures: 2 },
    'filter fits none': [0],
    trace: [4, 'test bad one (XTest)', 'test group in (XTest)'],
  },
  workspaces: {
    npm: [6, './a.test.js › bad', 'bad', 'a.test.js: bad'],
    pnpm: [
      6,
      'packages/a test: a.test.js: bad',
      'packages/b test: bad',
      'packages/c test: ./a.test.js › bad',
    ],
    turbo: [6, 'a:test: a.test.js: bad', 'b:test: bad', 'c:test: ./a.test.js › bad'],
    'turbo, grouped for a log': [6, './a.test.js › bad', 'bad', 'a.test.js: bad'],
  },
};

function countsOf(row: Row | Unnamed): unknown {
  if ('ran' in row) return { ...row, failed: null };
  const [ran, ...failed] = row;
  if (ran === null && failed.length === 0) return { ran, failures: null, failed: null };
  return { ran, failures: failed.length, failed: failed.toSorted() };
}

function inOrder({ ran, failures, failed }: ReturnType<typeof countTests>): unknown {
  return { ran, failures, failed: failed?.toSorted() ?? null };
}

test.for([
  ...['12 checks passed in 0.31s', '14 cases verified in 0.02s', '3 files built in 1.2s'],
  ...['2 errors found in 0.1s', '5 pages, 2 images in 0.40s'],
])('%s is no number of tests', (line) => {
  expect(countTests(`${line}\n`).ran).toBe(null);
});

test('a failed file below a summary that was cut off takes no test away', () => {
  const tail = '✖ failing tests:\n\ntest at b.test.js:1:1\n✖ b.test.js (215.1ms)\n  test failed\n';
  expect(countTests(tail).ran).toBe(null);
});

test('every runner has its outputs, and every output its numbers', () => {
  const files = readdirSync(folder).map((name) => name.replace(/\.txt$/, ''));
  expect(files.toSorted()).toEqual(Object.keys(EXPECTED).toSorted());
  for (const file of files)
    expect([...outputsOf(file).keys()]).toEqual(Object.keys(EXPECTED[file] ?? {}));
});

describe.for(Object.entries(EXPECTED))('%s', ([file, rows]) => {
  const outputs = outputsOf(file);

  test.for(Object.entries(rows))('%s', ([name, row]) => {
    expect(inOrder(countTests(outputs.get(name) ?? ''))).toEqual(countsOf(row));
  });

  test('read in small pieces', () => {
    for (const [name, row] of Object.entries(rows)) {
      const reader = new OutputReader();
      for (const piece of (outputs.get(name) ?? '').match(/[\s\S]{1,7}/g) ?? []) reader.read(piece);
      expect(inOrder(OutputReader.reportOf([reader])), name).toEqual(countsOf(row));
    }
  });

  test('run again where it failed', () => {
    for (const [name, row] of Object.entries(rows)) {
      const failures = 'ran' in row ? row.failures : row.length - 1;
      if (failures === 0) continue;
      const first = outputs.get(name) ?? '';
      const again = first.replace(/(?<![[;\d.])\d+(?:\.\d+)? ?m?s\b/g, (time) =>
        time.replace(/\d/g, '7'),
      );
      expect(inOrder(countTests(first + again)), name).toEqual(countsOf(row));
    }
  });

  test('behind the name of a workspace', () => {
    for (const [name, row] of Object.entries(file === 'workspaces' ? {} : rows)) {
      if (name === 'at a terminal') continue;
      const { ran } = countTests((outputs.get(name) ?? '').replace(/^/gm, '@org/web:test: '));
      expect(ran, name).toBe('ran' in row ? row.ran : row[0]);
    }
  });
});

describe('several runs in one output', () => {
  const output = (file: string, name: string): string => outputsOf(file).get(name) ?? '';

  test('are added up', () => {
    const ofTwoTests = [
      ...['vitest', 'jest', 'mocha', 'node-20', 'node-24', 'pytest', 'unittest', 'cargo'],
      ...['ava', 'bun', 'bats', 'dotnet', 'rspec', 'minitest', 'phpunit'],
    ];
    const text = ofTwoTests.map((file) => output(file, 'all pass')).join('');
    expect(countTests(text + text)).toEqual({ ran: 60, failures: 0, failed: [] });
  });

  test('that meet line by line behind their names', () => {
    const a = output('jest', 'one failing').split('\n');
    const b = output('vitest', 'one failing').split('\n');
    const mixed = b.flatMap((line, at) => [`[0] ${a[at] ?? ''}`, `[1] ${line}`]).join('\n');
    expect(countTests(mixed)).toEqual({
      ...{ ran: 4, failures: 2 },
      failed: ['[0] ./a.test.js › suite › bad', '[1] a.test.js > suite > bad'],
    });
  });

  test('are known only by number if two failed tests share a name', () => {
    const twice = output('mocha', 'dot reporter').repeat(2);
    expect(countTests(`${twice}in another folder\n`)).toEqual({
      ran: 4,
      failures: 2,
      failed: null,
    });
    const once = countTests(output('mocha', 'dot reporter'));
    expect(sumOfCounts([once, once])).toEqual({ ran: 4, failures: 2, failed: null });
  });

  test('of several runners', () => {
    const none = { ran: null, failures: null, failed: null };
    expect(sumOfCounts([])).toEqual(none);
    expect(sumOfCounts([none, none])).toEqual(none);
    expect(sumOfCounts([none, { ran: 0, failures: 0, failed: [] }])).toEqual({
      ran: 0,
      failures: 0,
      failed: [],
    });
    expect(
      sumOfCounts([
        { ran: 1, failures: 1, failed: null },
        { ran: 2, failures: 1, failed: ['a'] },
      ]),
    ).toEqual({ ran: 3, failures: 2, failed: null });
  });
});

describe('what is no summary', () => {
  test.for([
    ['nothing', ''],
    ['prose', 'Ran 3 tests in 2 files; 1 passed, 2 failed.\nall tests passed\n5 passing\n'],
    ['a number without its rule', 'Ran 5 tests in 0.001s\n\nOK\n'],
    ['half a summary', ' Test Files  1 passed (1)\n      Tests  1 passed (1)\n'],
    ['half of another', '# tests 3\n# pass 3\n# fail 0\n'],
    ['a summary in a sentence', 'it said: Tests:       99 passed, 99 total\n'],
    [
      'indented as in a quotation',
      '    Test Suites: 1 passed, 1 total\n    Tests:       1 passed, 1 total\n',
    ],
    [
      'a summary inside a line',
      `x test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n`,
    ],
    ['a class of Maven', '[INFO] Tests run: 3, Failures: 0, Errors: 0, Skipped: 0 - in ATest\n'],
    ['numbers of Maven in prose', 'Tests run: 3, Failures: 0, Errors: 0, Skipped: 0\n'],
    ['Gradle in prose', 'so far 3 tests completed, 1 failed\nthe task a > b FAILED\n'],
    ['dotnet in prose', 'it says Passed!  - Failed: 0, Passed: 3, Skipped: 0, Total: 3\n'],
    ['a block without its head', '     Passed: 3\n     Failed: 1\n  succeeded: 2\n'],
    ['examples in prose', 'We have:\n3 examples, 1 failure\n3 tests, 1 failure\n'],
    ['an OK with numbers in prose', 'all OK (3 tests, 5 assertions)\nTests: 3, Assertions: 5\n'],
    ['half a summary of bun', ' 2 pass\n 1 fail\n(fail) a\n'],
    ['a list without its plan', 'ok 1 - one\nnot ok 2 - two\n'],
    ['a plan without its list', '1..3\n# tests 3\n# pass 3\n'],
    ['a list in a list', '  ok 1 - one\n  1..1\n'],
  ] as const)('%s', ([, text]) => {
    expect(countTests(text)).toEqual({ ran: null, failures: null, failed: null });
  });
});

describe('lines that tell nothing', () => {
  test.for<readonly [string, string, readonly string[] | null]>([
    [
      'are names in a list of cargo',
      'failures:\n    rows::one\n    rows::two\n    rows::three\n\ntest result: FAILED. 4 passed; 3 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s',
      ['rows::one', 'rows::two', 'rows::three'],
    ],
    [
      'are the suites of a name in a list of mocha',
      '  1 passing (4ms)\n  1 failing\n\n  1) rows\n       of a table\n         in a page\n           are shown:\n     Error: no\n\nNext steps:\n  1) Fix it:',
      ['rows > of a table > in a page > are shown'],
    ],
    [
      'end what stands below a failure in TAP, though others come before the next test',
      'TAP version 13\nnot ok 1 - one\n    ---\n    at: here\n    and: there\nwords\n    more words\n    not ok 1 - inner\nnot ok 2 - two\n1..2',
      ['one', 'inner'],
    ],
    [
      'name the test of dotnet whose error stands above',
      'a.cs(3): error TESTERROR:\n  Rows.One (3ms): no\nwords\nmore words\nTest summary: total: 2, failed: 1, succeeded: 1, skipped: 0',
      ['Rows.One'],
    ],
    ['part numbers from an empty line above', 'a\n\nb\nc\n3 tests, 0 failures', null],
  ])('%s', ([, output, failed]) => {
    expect(countTests(output).failed).toEqual(failed);
  });
});

describe('much output', () => {
  const summary = '\n  3 passing (5ms)\n';

  test('does not hide the summary', () => {
    const reader = new OutputReader();
    for (let at = 0; at < 20_000; at += 1) reader.read(`word${at}: line ${at}\n`);
    reader.read(summary);
    expect(OutputReader.reportOf([reader])).toMatchObject({ ran: 3, failures: 0, failed: [] });
  });

  test('behind many names keeps those that counted', () => {
    const reader = new OutputReader();
    for (const line of ['', '  3 passing (5ms)', '  1 failing']) reader.read(`a:test: ${line}\n`);
    for (let at = 0; at < 1000; at += 1) reader.read(`word${at}: line ${at}\n`);
    for (const line of ['', '  1) bad:']) reader.read(`a:test: ${line}\n`);
    const report = OutputReader.reportOf([reader]);
    expect(report).toMatchObject({ ran: 4, failures: 1, failed: ['a:test: bad'] });
  });

  test('in one line does not hide it either', () => {
    const reader = new OutputReader();
    for (let at = 0; at < 1000; at += 1) reader.read('x'.repeat(1000));
    reader.read(summary);
    expect(OutputReader.reportOf([reader]).ran).toBe(3);
  });

  test('in one line that is drawn again and again', () => {
    const reader = new OutputReader();
    for (let at = 0; at < 1000; at += 1) reader.read(`\r${at} % done`);
    reader.read('\r  3 passing (5ms)\n');
    expect(OutputReader.reportOf([reader]).ran).toBe(3);
  });

  test('of failed tests is counted without their names', () => {
    const names = Array.from({ length: 1001 }, (_, at) => `FAILED a.py::test_${at}\n`).join('');
    expect(countTests(`${names}1001 failed in 1.00s\n`)).toEqual({
      ran: 1001,
      failures: 1001,
      failed: null,
    });
  });
});

test('of the summaries that Jest draws while it runs only the last counts', () => {
  const summary = (suites: string, passed: number): string =>
    `Test Suites: ${suites} total\nTests:       ${passed} passed, ${passed} total\nTime:        1 s\n`;
  const drawn = summary('1 passed, 1 of 2', 5) + summary('2 passed, 2', 7);
  expect(countTests(`${drawn}Ran all test suites.\n`).ran).toBe(7);
  expect(countTests(drawn + drawn).ran).toBe(14);
});

test('within a framed run of pytest a bare line is the output of a test', () => {
  const start = `${'='.repeat(29)} test session starts ${'='.repeat(30)}\n`;
  const end = `${'='.repeat(30)} 1 passed in 0.01s ${'='.repeat(31)}\n`;
  expect(countTests(`${start}99 passed in 0.01s\n${end}`).ran).toBe(1);
  expect(countTests(`${start}${end}2 passed in 0.01s\n`).ran).toBe(3);
});

test.for<readonly [string, string, Row | Unnamed]>([
  [
    'Surefire before 2.20',
    'Results :\n\nFailed tests:   bad(ATest): no\n\nTests run: 4, Failures: 1, Errors: 1, Skipped: 1\n',
    { ran: 3, failures: 2 },
  ],
  [
    'Surefire 3',
    '[INFO] Results:\n[INFO]\n[ERROR] Errors:\n[ERROR]   ATest>Base.bad:4->help:9 » Runtime\n[ERROR]   ATest.err » Timeout\n[INFO]\n[ERROR] Tests run: 2, Failures: 0, Errors: 2, Skipped: 0\n',
    [2, 'ATest>Base.bad', 'ATest.err'],
  ],
  [
    'Surefire, with a test that passed at last',
    '[INFO] Results:\n[INFO]\n[WARNING] Flakes:\n[WARNING] ATest.odd\n[ERROR]   Run 1: ATest.odd:4\n[INFO]   Run 2: PASS\n[INFO]\n[WARNING] Tests run: 2, Failures: 0, Errors: 0, Skipped: 0, Flakes: 1\n',
    [2],
  ],
  [
    'Surefire 3, with a module that does not compile',
    '[INFO] Results:\n[INFO]\n[INFO] Tests run: 2, Failures: 0, Errors: 0, Skipped: 0\n[ERROR] COMPILATION ERROR :\n[INFO] BUILD FAILURE\n[ERROR] Failed to execute goal org.apache.maven.plugins:maven-compiler-plugin:3.13.0:compile (default-compile) on project b: Compilation failure\n',
    { ran: 2, failures: 1 },
  ],
  [
    'Maven that is quiet, and does not compile',
    '[ERROR] COMPILATION ERROR :\n[ERROR] /a/B.java:[3,5] cannot find symbol\n[ERROR] Failed to execute goal a:b:1:compile (default-compile) on project a: Compilation failure\n',
    { ran: null, failures: 1 },
  ],
  [
    'dotnet with a project that does not compile',
    "/a/B.cs(3,5): error CS0103: The name 'x' does not exist in the current context [/a/B.csproj]\n".repeat(
      2,
    ),
    { ran: null, failures: 1 },
  ],
  [
    'Gradle 8, which does not compile',
    '> Task :compileJava FAILED\n\nFAILURE: Build failed with an exception.\n\nBUILD FAILED in 1s\n',
    { ran: null, failures: 1 },
  ],
  [
    'Gradle 8',
    'CalcTest > Inner > adds(int) > 1 FAILED\n    Error at CalcTest.java:4\n\n3 tests completed, 1 failed\n\n> Task :test FAILED\n',
    [null, 'CalcTest > Inner > adds(int) > 1'],
  ],
  [
    'PHPUnit 11',
    'OK, but there were issues!\nTests: 3, Assertions: 5, PHPUnit Warnings: 1, Skipped: 1.\n',
    [2],
  ],
  ['bats with times', '\n3 tests, 1 failure in 2 seconds\n', { ran: 3, failures: 1 }],
  ['a plan that skips all', '1..0 # SKIP no database\n', [0]],
  ['TAP that bails out', '1..2\nok 1 - a\nBail out! no disk\n', { ran: 1, failures: 2 }],
  ['TODO around failed tests', '    not ok 1 - a\n    1..1\nnot ok 1 - b # TODO\n1..1\n', [0]],
])('%s', ([, text, row]) => {
  // From their documentation and source; these versions were not at hand.
  expect(inOrder(countTests(text))).toEqual(countsOf(row));
});

test('Python from 3.12 on says that no test ran', () => {
  // From Lib/unittest/main.py and runner.py of Python 3.12; no such Python was at hand.
  const rule = '-'.repeat(70);
  expect(countTests(`\n${rule}\nRan 0 tests in 0.000s\n\nNO TESTS RAN\n`).ran).toBe(0);
});

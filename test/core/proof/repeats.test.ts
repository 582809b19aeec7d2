import { describe, expect, test } from 'vitest';
import { triesOf } from '../../../src/core/proof/repeats.ts';
import { OutputReader } from '../../../src/core/proof/test-counts.ts';

/** What npm prints for a script of which three tests ran. */
function suite(script: string, failed: readonly string[]): string {
  const names = failed.map((name) => `FAILED ${name} - no\n`).join('');
  const numbers = `${failed.length} failed, ${3 - failed.length} passed in 0.0${failed.length}s`;
  return `\n> demo@1.0.0 ${script}\n> pytest -q\n\n${names}${numbers}\n`;
}

const RED = suite('test', ['a.py::adds']);
const GREEN = suite('test', []);

function countsOf(output: string, tries = 1) {
  const reader = new OutputReader();
  reader.read(output);
  const { ran, failures, failed } = OutputReader.reportOf([reader], tries);
  return { ran, failures, failed };
}

describe('a second run', () => {
  test('that says the same failures again counts instead of the first', () => {
    const once = { ran: 3, failures: 1, failed: ['a.py::adds'] };
    expect(countsOf(RED + RED)).toEqual(once);
    expect(countsOf(`${RED}again in 5 s\n${RED}again in 10 s\n${RED}`)).toEqual(once);
  });

  test.for([
    ['of another script', RED + suite('test:b', ['a.py::adds'])],
    ['of another script that passes', RED + suite('test:b', [])],
    ['of the same script that passes', RED + GREEN],
    ['in which another test failed', RED + suite('test', ['b.py::adds'])],
    ['in which one more failed', RED + suite('test', ['a.py::adds', 'b.py::adds'])],
    ['after one that passed', GREEN + GREEN],
    ['with another line', `${RED}${RED}in another folder\n`],
  ] as const)('%s is added', ([, output]) => {
    expect(countsOf(output)).toMatchObject({ ran: 6 });
  });

  test('that passes keeps the failures of the first, unless the check says that it tries again', () => {
    expect(countsOf(RED + GREEN)).toMatchObject({ ran: 6, failures: 1 });
    expect(countsOf(RED + GREEN, 2)).toEqual({ ran: 3, failures: 0, failed: [] });
    expect(countsOf(RED + suite('test', ['b.py::adds']) + GREEN, 3)).toMatchObject({ ran: 3 });
    expect(countsOf(RED + suite('test:b', []), 2)).toMatchObject({ ran: 6, failures: 1 });
    expect(countsOf(`${RED}${GREEN}1 passed in 0.01s\n`, 2)).toMatchObject({ failures: 1 });
  });

  test('is not looked for in an output that is too long to keep', () => {
    const long = Array.from({ length: 20_000 }, (_, at) => `${'x'.repeat(at % 150)}y\n`).join('');
    expect(countsOf(RED + long + RED)).toMatchObject({ ran: 6 });
    expect(countsOf(RED.repeat(102))).toMatchObject({ ran: 306 });
  });
});

test.for<readonly [string, number]>([
  ['npm test || npm test', 2],
  ['npm test || (sleep 1; npm test)', 2],
  ['npm test || { echo again; npm test; }', 2],
  ['npm test || npm test || npm test', 3],
  ['npm test', 1],
  ['npm test || true', 1],
  ['npm test || npm run test:b', 1],
  ['npm test || npm test; true', 1],
  ['npm test || npm test || true', 1],
  ['npm test; npm run b || npm run b', 1],
  ['npm test | tee log || npm test', 1],
  ['npm test && npm run b || npm test', 1],
  ['npm test || (npm run fix; npm test)', 1],
])('%s tries %i times', ([check, tries]) => {
  expect(triesOf(check)).toBe(tries);
});

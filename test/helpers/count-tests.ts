import { OutputReader } from '../../src/core/proof/test-counts.ts';
import type { TestCounts } from '../../src/core/proof/test-tally.ts';

/** Counts the tests in a whole output. */
export function countTests(output: string): TestCounts {
  const reader = new OutputReader();
  reader.read(output);
  const { ran, failures, failed } = OutputReader.reportOf([reader]);
  return { ran, failures, failed };
}

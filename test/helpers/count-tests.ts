import { TestCounter } from '../../src/core/proof/test-counts.ts';
import type { TestCounts } from '../../src/core/proof/test-tally.ts';

/** Counts the tests in a whole output. */
export function countTests(output: string): TestCounts {
  const counter = new TestCounter();
  counter.read(output);
  return counter.counts();
}

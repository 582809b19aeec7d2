import { expect, test } from 'vitest';
import { readResumeFlags } from '../../../src/cli/flags/resume-flags.ts';

const ASKED = { taskId: 'nightly', isTrusted: false, store: {}, passthrough: [], problems: [] };

test.for([
  [['nightly'], {}],
  [['nightly', '--fleet', 'postgres://h/d'], { store: { fleet: 'postgres://h/d' } }],
  [['nightly', '--trust', '--fleet=u'], { store: { fleet: 'u' }, isTrusted: true }],
  [['nightly', '--', '--trust', '--fleet', 'x'], { passthrough: ['--trust', '--fleet', 'x'] }],
  [['nightly', '--fleet'], { problems: ['--fleet needs a value, but none was given.'] }],
  [['nightly', '--trust=no'], { problems: ["--trust takes no value; found '--trust=no'."] }],
] as const)('ralph resume %j', ([argv, expected]) => {
  expect(readResumeFlags(argv)).toMatchObject({ ...ASKED, ...expected, layer: {} });
});

test('what is no setting of a run does not get into its settings', () => {
  const { layer } = readResumeFlags(['nightly', '--trust', '--fleet', 'u', '--retries', '2']);
  expect(Object.keys(layer)).toEqual(['retries']);
});

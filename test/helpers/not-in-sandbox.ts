/** Why a test does not hold with `--sandbox` on: in each case the sandbox does what it is there for. */
export const REASONS = {
  left: 'what an iteration leaves running ends with it',
  driver: 'the agent reaches no process outside, so it cannot kill its driver',
  fixed: 'what the agent would change is read-only in the sandbox',
  vault: 'the folders of a vault that lies elsewhere are made at the start',
} as const;

/**
 * A reason, and the tests or suites of tests that it holds for, by their full names. Without a name it holds for
 * the whole file.
 */
type Entry = readonly [reason: keyof typeof REASONS, ...names: readonly string[]];

/** The end-to-end tests that are skipped with `--sandbox` on. All others have to pass. */
export const NOT_IN_SANDBOX: Readonly<Record<string, readonly Entry[]>> = {
  'test/e2e/trust.test.ts': [
    [
      'driver',
      'a task of one’s own that is gone on with by a pass > a task that a pass goes on with has no more permissions than the pass',
      'a task of one’s own that is gone on with by a pass > a task that a pass goes on with keeps its gates; a missing one leaves it to a person',
    ],
    [
      'fixed',
      'an agent that may edit files, and nothing more > lifts no gate while the loop runs: the driver puts its files back, and says so',
      "an agent that may edit files, and nothing more > a hint that the agent leaves as a file is not presented as a person's",
      'an agent that may edit files, and nothing more > a link in place of the state folder makes ralph write nothing outside',
    ],
  ],
  'test/e2e/run-output.test.ts': [
    ['vault', 'the state folder > stands in the vault, and the agent works elsewhere'],
  ],
};

/** RALPH_TEST_NIGHTLY=1 measures growth at four times the length, and mutates endings in ten times the rounds. */
const IS_NIGHTLY = process.env.RALPH_TEST_NIGHTLY === '1';

/** Returns the first value as a rule, and the second one in the night. */
export function nightly<T>(usual: T, whole: T): T {
  return IS_NIGHTLY ? whole : usual;
}

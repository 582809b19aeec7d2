/**
 * Whether tests run that need this of the machine: not where it is missing. Throws there in CI, as root on Linux, so
 * that no test is left out unnoticed.
 */
export function isHere(what: string, isFound: boolean, env = process.env): boolean {
  const mustBe = env.CI !== undefined && process.platform === 'linux' && process.getuid?.() === 0;
  if (!isFound && mustBe) throw new Error(`In CI no test is left out, and ${what} is missing.`);
  return isFound;
}

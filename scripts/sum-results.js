// Sums up a CI run in its one closing line: node scripts/sum-results.js FOLDER
// In the folder lie NAME.exit, the exit code of each step, and NAME.json, vitest's report, where
// the step ran tests. A step that failed without a failed test counts as one failure.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = process.argv[2] ?? '.';
let passed = 0;
let failed = 0;
const failedSteps = [];

for (const file of readdirSync(folder).filter((name) => name.endsWith('.exit'))) {
  const name = file.slice(0, -'.exit'.length);
  const exitCode = Number(readFileSync(join(folder, file), 'utf8'));
  const tests = testsOf(join(folder, `${name}.json`));
  passed += tests.passed;
  failed += exitCode === 0 ? tests.failed : Math.max(tests.failed, 1);
  if (exitCode !== 0) failedSteps.push(name);
}

if (failedSteps.length > 0) console.log(`\nFailed steps: ${failedSteps.join(', ')}`);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;

/** @param {string} path */
function testsOf(path) {
  if (!existsSync(path)) return { passed: 0, failed: 0 };
  const { numPassedTests, numFailedTests } = JSON.parse(readFileSync(path, 'utf8'));
  return { passed: numPassedTests, failed: numFailedTests };
}

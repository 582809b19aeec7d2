// Sums up a CI run: node scripts/sum-results.js FOLDER
// Of each step the folder has NAME.exit, its exit code; NAME.time, its seconds, and those of the processor for the
// program and for the system; NAME.budget, the seconds that it may take; and NAME.json, vitest's report, where it ran
// tests. Prints the steps, the slowest test files, and as its last line: N passed, M failed. A step that failed without
// a failed test counts as one failure, and so does one that began and has no exit code.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const SLOWEST = 10;

/**
 * @typedef {{ name: string, seconds: number }} TestFile
 * @typedef {object} Step
 * @property {string} name
 * @property {number} exitCode
 * @property {number} seconds
 * @property {number} cpuSeconds
 * @property {number} budget in seconds
 * @property {number} passed
 * @property {number} failed
 * @property {readonly TestFile[]} files
 */

const folder = process.argv[2] ?? '.';
/** A step that began has a budget; the script itself has only an exit code. */
const names = readdirSync(folder).map((name) => /^(.+)\.(?:budget|exit)$/.exec(name)?.[1] ?? '');
const steps = [...new Set(names)].filter((name) => name !== '').map(stepOf);

console.log(
  '\n| step | seconds | CPU-seconds | passed | failed |\n| --- | ---: | ---: | ---: | ---: |',
);
for (const step of steps.toSorted((a, b) => b.seconds - a.seconds)) console.log(row(step));

const files = steps
  .flatMap((step) => step.files.map(({ name, seconds }) => ({ step: step.name, name, seconds })))
  .toSorted((a, b) => b.seconds - a.seconds);
if (files.length > 0) console.log('\nThe slowest test files:');
for (const { step, name, seconds } of files.slice(0, SLOWEST)) {
  console.log(`${String(Math.round(seconds)).padStart(5)} s  ${name} (${step})`);
}

console.log(
  `\nAll steps together: ${sum(({ seconds }) => seconds)} s, ${sum(({ cpuSeconds }) => cpuSeconds)} CPU-seconds`,
);
for (const { name, seconds, budget } of steps.filter((step) => step.seconds > step.budget)) {
  console.log(
    `Beyond its budget: ${name} took ${Math.round(seconds)} s, and may take ${budget} s.`,
  );
}
const failedSteps = steps.filter(({ failed }) => failed > 0).map(({ name }) => name);
if (failedSteps.length > 0) console.log(`Failed steps: ${failedSteps.join(', ')}`);

const passed = sum((step) => step.passed);
const failed = sum((step) => step.failed);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;

/**
 * @param {string} name
 * @returns {Step}
 */
function stepOf(name) {
  const exitCode = Number(read(`${name}.exit`) || 'none');
  // A step that was ended has no times.
  const [seconds = 0, user = 0, system = 0] = read(`${name}.time`).split(' ').map(Number);
  const { numPassedTests = 0, numFailedTests = 0, testResults = [] } = reportOf(name);
  return {
    name,
    exitCode,
    seconds,
    cpuSeconds: user + system,
    budget: Number(read(`${name}.budget`) || Number.POSITIVE_INFINITY),
    passed: numPassedTests,
    failed: exitCode === 0 ? numFailedTests : Math.max(numFailedTests, 1),
    files: testResults.map(
      /** @param {{ name: string, startTime: number, endTime: number }} file */
      (file) => ({
        name: relative('', file.name),
        seconds: (file.endTime - file.startTime) / 1_000,
      }),
    ),
  };
}

/**
 * Vitest's report; empty where there is none, or only a part of one.
 * @param {string} name
 */
function reportOf(name) {
  try {
    return JSON.parse(read(`${name}.json`));
  } catch {
    return {};
  }
}

/** @param {string} name */
function read(name) {
  const path = join(folder, name);
  return existsSync(path) ? readFileSync(path, 'utf8').trim() : '';
}

/** @param {Step} step */
function row({ name, seconds, cpuSeconds, passed, failed }) {
  return `| ${name} | ${Math.round(seconds)} | ${Math.round(cpuSeconds)} | ${passed} | ${failed} |`;
}

/** @param {(step: Step) => number} of */
function sum(of) {
  return Math.round(steps.reduce((total, step) => total + of(step), 0));
}

import {
  asCheckResult,
  type CheckResult,
  type RawCheckResult,
} from '../../src/core/completion/check-result.ts';
import type { CommandResult, MeasuredResult } from '../../src/core/completion/command-result.ts';
import { type Check, readChecks } from '../../src/core/settings/checks.ts';
import { START } from './new-task.ts';

/** Unnamed checks, as `--verify` gives them. */
export function checks(...commands: readonly string[]): readonly Check[] {
  return readChecks(commands) ?? [];
}

/** A check that ended so, with no number of tests but what is given. */
export function rawResult(
  result: CommandResult,
  more: Partial<RawCheckResult> = {},
): RawCheckResult {
  const check = { name: result.command, command: result.command };
  return { ...asCheckResult(check, measuredResult(result)), ...more };
}

/** A command of a condition that ended so. */
export function measuredResult(result: CommandResult): MeasuredResult {
  const read = { tests: null, failures: null, failed: null, stoppedEarly: false };
  const measured = { ...read, otherFailures: [], startedAt: START, durationMs: 1_000 };
  return { ...result, ...measured, outputSha256: '' };
}

/** The same, judged by its exit code alone. */
export function checkResult(
  result: CommandResult,
  more: Partial<RawCheckResult> = {},
): CheckResult {
  const raw = rawResult(result, more);
  return { ...raw, verdict: raw.exitCode === 0 ? 'passed' : 'failed' };
}

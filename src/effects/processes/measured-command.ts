import { createHash } from 'node:crypto';
import type { MeasuredResult } from '../../core/completion/command-result.ts';
import { TestCounter } from '../../core/proof/test-counts.ts';
import { sumOfCounts } from '../../core/proof/test-tally.ts';
import { monotonicMs } from '../time/monotonic.ts';
import { runShellCommand, type ShellOptions } from './shell-command.ts';

/**
 * Runs a check like any other of the user's commands, and reads its whole output while it runs: the tests that
 * it counts, and its checksum. Never rejects.
 */
export async function runMeasuredCommand(
  command: string,
  options: ShellOptions,
): Promise<MeasuredResult> {
  // Two streams may meet in the middle of a line, so each is counted by itself.
  const counters = { stdout: new TestCounter(), stderr: new TestCounter() };
  const hash = createHash('sha256');
  const startedAt = new Date().toISOString();
  const startedAtMs = monotonicMs();
  const result = await runShellCommand(command, '', {
    ...options,
    onOutput(chunk, text, stream) {
      hash.update(chunk);
      counters[stream].read(text);
    },
  });
  const { ran, failed } = sumOfCounts(Object.values(counters).map((each) => each.counts()));
  return {
    ...result,
    startedAt,
    durationMs: Math.round(monotonicMs() - startedAtMs),
    tests: ran,
    failed,
    outputSha256: hash.digest('hex'),
  };
}

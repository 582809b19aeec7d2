import { createHash } from 'node:crypto';
import type { MeasuredResult } from '../../core/completion/command-result.ts';
import { Passes, triesOf } from '../../core/proof/repeats.ts';
import { OutputReader } from '../../core/proof/test-counts.ts';
import { monotonicMs } from '../time/monotonic.ts';
import { runShellCommand, type ShellOptions } from './shell-command.ts';

/** Runs a check command, and derives the number of tests and a checksum from its whole output. Never rejects. */
export async function runMeasuredCommand(
  command: string,
  options: ShellOptions,
): Promise<MeasuredResult> {
  const passes = new Passes();
  const readers = { stdout: new OutputReader(passes), stderr: new OutputReader(passes) };
  const hash = createHash('sha256');
  const startedAt = new Date().toISOString();
  const startedAtMs = monotonicMs();
  const result = await runShellCommand(command, '', {
    ...options,
    onOutput(chunk, text, stream) {
      hash.update(chunk);
      readers[stream].read(text);
    },
  });
  const { ran, ...report } = OutputReader.reportOf(Object.values(readers), triesOf(command));
  return {
    ...result,
    startedAt,
    durationMs: Math.round(monotonicMs() - startedAtMs),
    tests: ran,
    ...report,
    outputSha256: hash.digest('hex'),
  };
}

import { EXIT_FAILED, stopCode } from '../../exit-codes.ts';
import { type PassEnd, pass } from '../../rescue/pass.ts';
import { readVaultFlags } from '../flags/rescue-flags.ts';
import { openVault } from '../run/rescue-run.ts';

/** `ralph rescue`: handles each task file in the folder `In_Progress` once. Resolves to the exit code. */
export async function rescueCommand(
  argv: readonly string[],
  help: () => Promise<number>,
): Promise<number> {
  const read = readVaultFlags(argv, 'rescue', process.env);
  if (read.flags.wantsHelp) return help();
  const { ports, settings } = await openVault(read, 'rescue');
  try {
    const end = await pass(ports, {
      stuckAfterMs: settings.stuckAfterMs,
      startNew: false,
      concurrency: 1,
    });
    return stopCode(ports.stops.cause()) ?? codeOf(end);
  } finally {
    ports.close();
  }
}

function codeOf({ cause, problems }: PassEnd): number {
  if (cause !== null) return cause.exitCode;
  return problems > 0 ? EXIT_FAILED : 0;
}

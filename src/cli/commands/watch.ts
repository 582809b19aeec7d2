import { stopCode } from '../../exit-codes.ts';
import { formatDuration } from '../../report/format.ts';
import { type Rest, watch } from '../../rescue/watch.ts';
import { readVaultFlags } from '../flags/rescue-flags.ts';
import { openVault } from '../run/rescue-run.ts';

/** `ralph watch`: runs the task files of the vault (a folder) as they come, until a signal ends it and its loops. */
export async function watchCommand(
  argv: readonly string[],
  help: () => Promise<number>,
): Promise<number> {
  const read = readVaultFlags(argv, 'watch', process.env);
  if (read.flags.wantsHelp) return help();
  const { ports, settings, say } = await openVault(read, 'watch');
  try {
    const what = settings.startNew ? 'In_Progress and Needs_Action' : 'In_Progress';
    say(`watching ${what} every ${formatDuration(settings.intervalMs)}`);
    await watch(ports, settings, (rest) => say(restText(rest)));
    return stopCode(ports.stops.cause()) ?? 0;
  } finally {
    ports.close();
  }
}

function restText(rest: Rest): string {
  if (rest.kind === 'cause' && rest.cause.until !== undefined) {
    return `cannot process any file (${rest.cause.exitReason}); waiting until ${rest.cause.until}`;
  }
  const again = `trying again in ${formatDuration(rest.forMs)}`;
  return rest.kind === 'cause'
    ? `cannot process any file (${rest.cause.exitReason}); ${again}`
    : `${rest.message}; ${again}`;
}

import { WORK_SETTINGS } from '../../../core/settings/work-settings.ts';
import { oneLine } from '../../../core/text/untrusted-text.ts';
import { UsageError } from '../../../errors.ts';
import { EXIT_USAGE } from '../../../exit-codes.ts';
import { listPreview } from '../../../report/screens/list.ts';
import { readFlagsWith } from '../../flags/flags.ts';
import { openList, shownList } from '../../run/open-list.ts';
import { runList } from '../../run/work-run.ts';
import { jsonText, say, standardOutlet } from '../../terminal/outlet.ts';

/** `ralph work LIST`: runs a task for each item of a list, and ticks the items that are done. */
export async function workCommand(
  argv: readonly string[],
  help: () => Promise<number>,
): Promise<number> {
  const flags = readFlagsWith(argv, 'work', WORK_SETTINGS);
  if (flags.wantsHelp) return help();
  if (process.env.RALPH_RUN_ID) {
    throw new UsageError([
      'ralph work is refused inside a loop, where it would be a way to tick items: start it from another terminal.',
    ]);
  }
  const open = await openList(flags);
  if (!open.collected.settings.dryRun) return runList(open);
  for (const notice of open.notices) say(oneLine(notice, 2_000));
  const shown = shownList(open);
  await standardOutlet().write(open.collected.settings.json ? jsonText(shown) : listPreview(shown));
  return open.unchecked.length > 0 ? EXIT_USAGE : 0;
}

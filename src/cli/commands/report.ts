import { ifOnFleet } from '../../fleet/cli/which-fleet.ts';
import {
  gatherBriefing,
  periodOf,
  printBriefing,
  type ReportOptions,
} from '../tasks/gather-briefing.ts';
import { foldersOf } from '../tasks/named-folders.ts';

/** `ralph report`: shows what happened in a period, and what needs a person. Changes no task. */
export async function report(options: ReportOptions): Promise<number> {
  const span = periodOf(options, new Date().toISOString());
  const done = ifOnFleet(options, async () => {
    const { fleetReport } = await import('../../fleet/cli/report.ts');
    return (fleet) => fleetReport(fleet, options);
  });
  if (done !== null) return done;
  await printBriefing(await gatherBriefing(foldersOf(options), span), options);
  return 0;
}

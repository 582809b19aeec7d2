import { onFleet } from '../../fleet/cli/on-fleet.ts';
import { fleetNamed } from '../../fleet/cli/which-fleet.ts';
import {
  gatherBriefing,
  periodOf,
  printBriefing,
  type ReportOptions,
} from '../tasks/gather-briefing.ts';
import { foldersOf } from '../tasks/named-folders.ts';

/** `ralph report`: shows what happened in a period, and what needs a person. Changes nothing in the vault. */
export async function report(options: ReportOptions): Promise<number> {
  const span = periodOf(options, new Date().toISOString());
  const fleet = fleetNamed(options, process.env);
  if (fleet !== null) {
    const { fleetReport } = await import('../../fleet/cli/report.ts');
    return onFleet(fleet, options, (open) => fleetReport(open, options));
  }
  await printBriefing(await gatherBriefing(foldersOf(options), span), options);
  return 0;
}

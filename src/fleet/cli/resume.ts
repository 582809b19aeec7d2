import type { ResumeFlags } from '../../cli/run/plan-resume.ts';
import { onFleet } from './on-fleet.ts';
import { fleetResume, wordsToResume } from './steer.ts';

/** `ralph resume ID` on a fleet, in a file of its own, so that a local run does not load the code for fleets. */
export async function resumeOnFleet(
  url: string,
  options: { readonly fleet?: string },
  flags: ResumeFlags,
): Promise<number> {
  const words = wordsToResume(flags);
  return onFleet(url, options, (fleet) => fleetResume(fleet, words));
}

import type { ResumeFlags } from '../../cli/run/plan-resume.ts';
import { onFleet } from './on-fleet.ts';
import { fleetResume, wordsToResume } from './steer.ts';

/** `ralph resume ID` on a fleet. It has its own file, so that a run on a vault loads nothing of a fleet. */
export async function resumeOnFleet(
  url: string,
  options: { readonly fleet?: string },
  flags: ResumeFlags,
): Promise<number> {
  const words = wordsToResume(flags);
  return onFleet(url, options, (fleet) => fleetResume(fleet, words));
}

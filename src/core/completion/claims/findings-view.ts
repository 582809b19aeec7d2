import type { Finding } from '../../proof/findings.ts';
import type { Policy } from '../../task/policy.ts';
import type { CheckResult } from '../check-result.ts';
import type { Claim } from '../claim.ts';
import type { Examination } from '../examination.ts';
import type { Sightings } from '../sightings.ts';
import type { WorkSeen } from '../work-seen.ts';

/** A finding against a claim that the task is complete, and the consequence of the finding. */
export interface ClaimFinding {
  readonly found: Finding;
  /** Whether the finding blocks the claim, so that the task goes on. */
  readonly held: boolean;
  /** Whether the finding makes the claim unproven. A passed run of the checks with their old files can prevent this. */
  readonly isOpen: boolean;
}

/** What is known about a claim when findings against it are looked for. */
export interface FindingsView {
  readonly claim: Claim;
  readonly sightings: Sightings;
  readonly work: WorkSeen;
  readonly checks: readonly CheckResult[];
  /** The results of the checks before the first iteration; null if they were not run then. */
  readonly checksAtStart: readonly CheckResult[] | null;
  readonly examination: Examination;
  readonly policy: Policy;
}

import type { Finding } from '../../proof/findings.ts';
import type { Policy } from '../../task/policy.ts';
import type { CheckResult } from '../check-result.ts';
import type { Claim } from '../claim.ts';
import type { Examination } from '../examination.ts';
import type { Sightings } from '../sightings.ts';
import type { WorkSeen } from '../work-seen.ts';

/** A finding against a claim, and its consequence. */
export interface ClaimFinding {
  readonly found: Finding;
  /** Whether the finding holds the claim, so that the task goes on. */
  readonly held: boolean;
  /** Whether the finding makes the claim unproven. It may not, if the checks pass with their files of the start. */
  readonly isOpen: boolean;
}

/** What the code knows that looks for findings against a claim. */
export interface FindingsView {
  readonly claim: Claim;
  readonly sightings: Sightings;
  readonly work: WorkSeen;
  /** The results of the checks of the claim. */
  readonly checks: readonly CheckResult[];
  /** The results of the checks before the first iteration; null if they were not run then. */
  readonly checksAtStart: readonly CheckResult[] | null;
  readonly examination: Examination;
  readonly policy: Policy;
}

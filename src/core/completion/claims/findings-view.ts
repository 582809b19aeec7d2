import type { Finding } from '../../proof/findings.ts';
import type { Policy } from '../../task/policy.ts';
import type { CheckResult } from '../check-result.ts';
import type { Claim } from '../claim.ts';
import type { Examination } from '../examination.ts';
import type { Sightings } from '../sightings.ts';
import type { WorkSeen } from '../work-seen.ts';

/** A finding against a claim, and what it means for it. */
export interface ClaimFinding {
  readonly found: Finding;
  /** Whether it holds the claim. */
  readonly held: boolean;
  /** Whether it speaks against a proof. It does not if the old exam was passed. */
  readonly isOpen: boolean;
}

/** What findings are made from. */
export interface FindingsView {
  readonly claim: Claim;
  readonly sightings: Sightings;
  readonly work: WorkSeen;
  /** How the checks ended on the claim. */
  readonly checks: readonly CheckResult[];
  /** How they stood before the first iteration; null if they were not run then. */
  readonly checksAtStart: readonly CheckResult[] | null;
  readonly examination: Examination;
  readonly policy: Policy;
}

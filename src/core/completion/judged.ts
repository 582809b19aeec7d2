import type { RefusedTool } from '../agent/attempt.ts';
import type { Answer } from '../machine/loop-state.ts';
import type { Claim } from './conditions.ts';
import type { Held } from './gates.ts';

/** What became of an iteration's claims. */
export type Judged =
  | { readonly kind: 'no-claim' }
  | { readonly kind: 'passed'; readonly claim: Claim }
  | { readonly kind: 'held'; readonly claim: Claim; readonly held: Held };

/** Refusals that nothing in the iteration made good. */
export function openRefusals({ facts }: Answer): readonly RefusedTool[] {
  return facts.refused.filter((refusal) => !refusal.laterSucceeded);
}

import { isPlanDone } from '../plan-file.ts';
import type { Condition } from './condition.ts';

/** Holds if the plan has at least one box, and all its boxes are ticked. */
export const PLAN_FILE: Condition = {
  kind: 'plan-file',
  settings: ['planFile'],
  byWords: false,
  isSet: ({ planFile }) => planFile !== null,
  describe: ({ planFile }) => `every box in '${planFile}' is ticked`,
  check: ({ sightings: { plan }, policy }) =>
    plan !== null && isPlanDone(plan)
      ? `${policy.planFile ?? ''}: ${plan.done} of ${plan.done} ticked`
      : null,
};

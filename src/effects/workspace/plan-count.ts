import {
  type PlanCount,
  type PlanStand,
  planStand,
  readPlan,
} from '../../core/completion/plan-file.ts';
import { MB, tryReadText } from '../files/bounded-read.ts';

/** A plan file, and which part of it counts. */
export interface PlanRequest {
  /** Absolute path; null if the task has no plan. */
  readonly planFile: string | null;
  /** Headings under which checkboxes count; empty if all do. */
  readonly planSections: readonly string[];
}

/** In bytes. There is a limit because the agent writes this file. */
const PLAN_MAX_BYTES = MB;

/** Counts the open and the ticked checkboxes of a plan; null without a plan, or if its file cannot be read. */
export function countPlan({ planFile, planSections }: PlanRequest): PlanCount | null {
  const text = planFile === null ? null : tryReadText(planFile, PLAN_MAX_BYTES);
  return text === null ? null : readPlan(text, planSections);
}

/** Returns how far a plan is done; `name` makes the name that people read from the file's path. Null without a plan. */
export function lookAtPlan(
  { planFile, planSections }: PlanRequest,
  name: (file: string) => string,
): PlanStand | null {
  if (planFile === null) return null;
  return planStand(name(planFile), tryReadText(planFile, PLAN_MAX_BYTES), planSections);
}

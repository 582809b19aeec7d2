import type { AttemptFacts } from '../agent/attempt.ts';
import type { ProgressSigns } from './sightings.ts';

/** Whether the agent of a task has done any work so far, as all its iterations together show. */
export interface WorkSeen {
  /** Whether anything except the plan changed in the work tree; null if unknown. */
  readonly changed: boolean | null;
  /** Whether at least one tool call of the agent was not refused. */
  readonly usedTools: boolean;
}

export const NO_WORK: WorkSeen = { changed: false, usedTools: false };

/** Adds the signs of one more iteration. */
export function addWork(
  before: WorkSeen,
  { git }: Pick<ProgressSigns, 'git'>,
  { tools, refused }: Pick<AttemptFacts, 'tools' | 'refused'>,
): WorkSeen {
  const inTree =
    git === null ? null : (git.commits > 0 || git.filesChanged > 0) && git.onlyPlan !== true;
  return {
    changed: either(before.changed, inTree),
    usedTools: before.usedTools || tools > refused.length,
  };
}

function either(one: boolean | null, other: boolean | null): boolean | null {
  if (one === true || other === true) return true;
  return one === null || other === null ? null : false;
}

import type { RefusedRemedy } from '../core/settings/edit-permissions.ts';
import { rowOfState } from '../core/task/endings.ts';
import { type TaskPlace, taskCommand } from '../printed-command.ts';

/** The facts from which the command that resumes a task is built. */
export interface ResumeFacts extends TaskPlace {
  /** Whether the task lacks this user's signature, so that a person has to vouch for it. */
  readonly needsTrust: boolean;
  /** Returns the flags that would allow refused calls, and the calls that no flag allows. */
  readonly allowing?: (refused: readonly string[]) => RefusedRemedy;
}

/** Returns the shell command that resumes a task, with flags that raise or allow what ended it. */
export function resumeCommand(
  facts: ResumeFacts,
  state: string,
  exitReason: string | null = null,
  more: { readonly accepting?: readonly string[]; readonly refused?: readonly string[] } = {},
): string {
  const trust = facts.needsTrust ? ['--trust'] : [];
  const { accepting = [], refused = [] } = more;
  const { more: raised = [] } = rowOfState(state, exitReason) ?? {};
  const allowed = facts.allowing?.(refused).flags ?? [];
  return taskCommand('resume', facts, [trust, raised, accepting, allowed].flat());
}

import { endingBody } from '../core/machine/ending.ts';
import type { EndingBody, EndingFields } from '../core/machine/events.ts';
import { exitCodeFor } from '../exit-codes.ts';
import type { EndedBookTask } from './service-note.ts';

/** The event of a task's end, with the same fields as the loop's events. */
export function endingEvent(
  { task, ending, stateFile, logDir }: EndedBookTask,
  note: string | null,
  finalMessage: string | null,
): EndingBody {
  const fields: EndingFields = {
    status: ending.status,
    exit_reason: ending.exitReason,
    exit_code: exitCodeFor(ending.status, ending.exitReason),
    iterations_used: task.metrics.iterations,
    usage: task.usage,
    evidence: ending.evidence,
    changes: null,
    final_message: finalMessage,
    note,
    state_file: stateFile,
    log_dir: logDir,
  };
  return endingBody(ending, task.max_iterations, fields);
}

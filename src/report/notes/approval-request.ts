import type { Approval } from '../../core/task/task-state.ts';
import { withoutControlsIn } from '../../core/text/untrusted-text.ts';
import { commandHere, fromItsFolder } from '../../printed-command.ts';
import { frontMatter } from './markdown.ts';

/** The facts that a request for approval shows. */
export interface RequestFacts {
  readonly taskId: string;
  readonly approval: Approval;
  /** The prompt of the task, in one line. */
  readonly asked: string;
  readonly logDir: string;
}

/** Returns the Markdown text of a request for approval: what is asked and how to answer. */
export function renderRequest({ logDir, ...texts }: RequestFacts): string {
  const { taskId, approval, asked } = withoutControlsIn(texts);
  const front = frontMatter({
    type: 'approval_request',
    task_id: taskId,
    approval_id: approval.id,
    action: approval.what,
    created: approval.requested_at,
    expires: approval.expires_at,
    log_dir: logDir,
    reason: '',
  });
  return `${front}

# Approval wanted: ${taskId}

The task is paused until you answer. It asks for permission to do this:

${indented(approval.what)}

The task itself:

${indented(asked)}

To allow it, move this file to \`Approved/\`, or run:

    ${fromItsFolder(commandHere('approve', taskId))}

To refuse it, write why after \`reason:\` above and move this file to \`Rejected/\`, or run, with \`--reason TEXT\` if you like:

    ${fromItsFolder(commandHere('reject', taskId))}
`;
}

/** Indents every line, since Markdown shows an indented block literally. */
function indented(text: string): string {
  return text.replace(/^/gm, '    ');
}

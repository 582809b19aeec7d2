import { withoutControlsIn } from '../core/material.ts';
import { safeJson } from '../core/safe-json.ts';
import type { Approval } from '../core/task-state.ts';

/** What a request tells beyond itself. */
export interface RequestFacts {
  readonly taskId: string;
  readonly approval: Approval;
  /** What the task is, in one line. */
  readonly asked: string;
  readonly logDir: string;
}

/** The Markdown text of a request for approval: what is asked, and how it is answered. */
export function renderRequest({ logDir, ...texts }: RequestFacts): string {
  const { taskId, approval, asked } = withoutControlsIn(texts);
  const fields: readonly (readonly [string, string])[] = [
    ['type', 'approval_request'],
    ['task_id', taskId],
    ['approval_id', approval.id],
    ['action', approval.what],
    ['created', approval.requested_at],
    ['expires', approval.expires_at],
    ['log_dir', logDir],
    ['reason', ''],
  ];
  // A JSON string is a YAML string, whatever it holds.
  const front = fields.map(([key, value]) => `${key}: ${safeJson(value)}`).join('\n');
  return `---
${front}
---

# Approval wanted: ${taskId}

The task waits, and nothing of it runs. It asks to be allowed this:

${indented(approval.what)}

The task itself:

${indented(asked)}

To allow it, move this file to \`Approved/\`, or run \`ralph approve ${taskId}\`.
To refuse it, write why behind \`reason:\` above and move this file to \`Rejected/\`, or run \`ralph reject ${taskId} --reason "…"\`.
`;
}

/** An indented block is text as it stands, whatever it holds. */
function indented(text: string): string {
  return text.replace(/^/gm, '    ');
}

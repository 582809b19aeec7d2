import { isTaskId } from '../../core/task/task-id.ts';
import type { Approval } from '../../core/task/task-state.ts';
import { safeJson } from '../../core/text/safe-json.ts';
import { oneLine } from '../../core/text/untrusted-text.ts';
import { tryReadStateFile } from '../../effects/state/state-file.ts';
import { openTaskIds, taskPaths } from '../../effects/state/task-folder.ts';
import { answerRequest, isPending } from '../../effects/vault/answer-request.ts';
import { isAnswered } from '../../effects/vault/approval-folder.ts';
import { messageOf, UsageError } from '../../errors.ts';
import { EXIT_FAILED } from '../../exit-codes.ts';
import { ifOnFleet } from '../../fleet/cli/which-fleet.ts';
import { approvalJson, approvalText, type ShownApproval } from '../../report/screens/approvals.ts';
import { InvalidStateError } from '../../task-errors.ts';
import { existingTask, refuseInsideOwnLoop } from '../tasks/find-task.ts';
import { foldersOf, type StoreOptions, type TaskFolders } from '../tasks/named-folders.ts';
import { steeredTask } from '../tasks/named-task.ts';
import { unknownTask } from '../tasks/unknown-task.ts';
import { say } from '../terminal/outlet.ts';

export interface ApprovalsOptions extends StoreOptions {
  readonly json?: boolean;
}

/** `ralph approvals`: lists the requests that wait for a person, the oldest first. Changes nothing. */
export async function approvals(options: ApprovalsOptions): Promise<number> {
  const done = ifOnFleet(options, async () => {
    const { fleetApprovals } = await import('../../fleet/cli/approvals.ts');
    return (fleet) => fleetApprovals(fleet, options);
  });
  if (done !== null) return done;
  const place = foldersOf(options);
  const at = new Date().toISOString();
  // An answer is in the state only once the task is resumed.
  const waiting = waitingIn(place, (approval) => !isAnswered(place.vault, approval));
  if (options.json === true) {
    const rows = waiting.map((each) => approvalJson(each, at));
    process.stdout.write(`${safeJson(rows, 2)}\n`);
  } else if (waiting.length === 0) {
    say('no task waits for an approval');
  } else {
    process.stdout.write(waiting.map((each) => approvalText(each, at)).join(''));
  }
  return 0;
}

interface AnswerOptions extends StoreOptions {
  readonly reason?: string;
  /** The name of the person who answers; only for tasks of a fleet (a database that machines share). */
  readonly as?: string;
}

/** `ralph approve ID`: lets a task do what it asked to do. */
export function approve(name: string, options: AnswerOptions): Promise<number> {
  return answer('approved', name, options);
}

/** `ralph reject ID`: refuses a task what it asked to do. */
export function reject(name: string, options: AnswerOptions): Promise<number> {
  return answer('rejected', name, options);
}

async function answer(
  decision: 'approved' | 'rejected',
  name: string,
  options: AnswerOptions,
): Promise<number> {
  const done = ifOnFleet(options, async () => {
    const { fleetAnswer } = await import('../../fleet/cli/approvals.ts');
    return (fleet) => fleetAnswer(fleet, decision, name, options);
  });
  if (done !== null) return done;
  if (options.as !== undefined) {
    throw new UsageError([
      '--as names a person to a fleet, and no fleet was named; in a vault, the answer is the file itself.',
    ]);
  }
  const place = foldersOf(options);
  const { taskId, file } = requestOf(name, place);
  const command = decision === 'approved' ? 'approve' : 'reject';
  if (taskId !== null) {
    refuseInsideOwnLoop(command, taskId, taskPaths(place.stateDir, taskId).stateFile, process.env);
  }
  const at = new Date().toISOString();
  const reason = options.reason?.trim() ? options.reason : null;
  try {
    const where = await answerRequest(place.vault, file, { decision, reason, at });
    say(`${decision}: ${oneLine(where, 300)}`);
    return 0;
  } catch (error) {
    say(`cannot answer ${file}: ${messageOf(error)}`);
    return EXIT_FAILED;
  }
}

/** Finds a request by the id of its task or by its file name. */
function requestOf(written: string, place: TaskFolders): { taskId: string | null; file: string } {
  const open = waitingIn(place);
  const byFile = open.find(({ file }) => file === written);
  const name = byFile === undefined ? steeredTask(written, place) : written;
  const byTask = open.find(({ taskId }) => taskId === name);
  const file = byTask?.file ?? name;
  if (isPending(place.vault, file)) return { taskId: (byTask ?? byFile)?.taskId ?? null, file };
  if (byTask !== undefined) {
    throw new UsageError([
      `The request of ${name} is no longer in Pending_Approval (${file}); somebody has answered or removed it.`,
    ]);
  }
  if (!isTaskId(name)) throw unknownTask(name, place.stateDir);
  const { standing } = existingTask(name, place);
  throw new InvalidStateError(name, standing, 'it does not wait for an approval');
}

function waitingIn(
  place: TaskFolders,
  isMeant: (approval: Approval) => boolean = () => true,
): readonly ShownApproval[] {
  return openTaskIds(place.stateDir)
    .flatMap((id) => {
      const found = tryReadStateFile(taskPaths(place.stateDir, id).stateFile);
      if (found.kind !== 'task') return [];
      const { task_id: taskId, approval, paused_for_approval } = found.state;
      if (approval === null || approval.decision !== null || !paused_for_approval) return [];
      if (!isMeant(approval)) return [];
      const { what, file, requested_at: askedAt, expires_at: expiresAt } = approval;
      return [{ id: approval.id, taskId, what, file, askedAt, expiresAt }];
    })
    .sort((one, other) => (one.askedAt < other.askedAt ? -1 : 1));
}

import { jsonText, say, standardOutlet } from '../../cli/terminal/outlet.ts';
import { oneLine } from '../../core/text/untrusted-text.ts';
import { approvalJson, approvalText, type ShownApproval } from '../report/fleet-approvals.ts';
import type { OpenFleet } from './on-fleet.ts';
import { personHere } from './person.ts';
import { announced } from './steer.ts';

/** `ralph approvals` on a fleet: lists the requests that nobody has answered, the oldest first. */
export async function fleetApprovals(
  { queue }: OpenFleet,
  { json = false }: { readonly json?: boolean },
): Promise<number> {
  const at = await queue.readClock();
  const waiting: readonly ShownApproval[] = (await queue.approvals())
    .filter(({ answer }) => answer === null)
    .toSorted((one, other) => (one.askedAt < other.askedAt ? -1 : 1));
  const outlet = standardOutlet();
  if (json) {
    await outlet.write(jsonText(waiting.map((each) => approvalJson(queue.name, each, at))));
  } else if (waiting.length === 0) {
    say(`${queue.name}: no task waits for an approval`);
  } else {
    const texts = waiting.map((each) => approvalText(each, at)).join('');
    await outlet.write(`${oneLine(queue.name, 200)}\n${texts}`);
  }
  return 0;
}

/** `ralph approve ID` and `ralph reject ID` on a fleet. `as` is the person's name, this user's by default. */
export async function fleetAnswer(
  fleet: OpenFleet,
  verdict: 'approved' | 'rejected',
  taskId: string,
  { as, reason }: { readonly as?: string; readonly reason?: string },
): Promise<number> {
  const comment = reason?.trim() ? reason : null;
  const answer = { verdict, by: personHere(as), comment };
  const act = verdict === 'approved' ? 'approve' : 'reject';
  return announced(fleet, act, taskId, await fleet.queue.answer(taskId, answer));
}

import { jsonText, say, standardOutlet } from '../../cli/terminal/outlet.ts';
import { oneLine } from '../../core/text/untrusted-text.ts';
import { fleetPlace } from '../../report/format.ts';
import { approvalJson, approvalText } from '../../report/screens/approvals.ts';
import { whatIsAsked } from '../report/what-is-asked.ts';
import type { OpenFleet } from './on-fleet.ts';
import { personHere } from './person.ts';
import { announced } from './steer.ts';

/** `ralph approvals` on a fleet: lists the requests that nobody has answered, the oldest first. */
export async function fleetApprovals(
  { queue }: OpenFleet,
  { json = false }: { readonly json?: boolean },
): Promise<number> {
  const at = await queue.readClock();
  const waiting = (await queue.approvals())
    .filter(({ answer }) => answer === null)
    .toSorted((one, other) => (one.askedAt < other.askedAt ? -1 : 1))
    .map((each) => ({ ...each, what: whatIsAsked(each.text), file: null }));
  const outlet = standardOutlet();
  if (json) {
    const fleet = fleetPlace(queue.name);
    await outlet.write(jsonText(waiting.map((each) => ({ ...approvalJson(each, at), fleet }))));
  } else if (waiting.length === 0) {
    say(`${queue.name}: no task waits for an approval`);
  } else {
    const texts = waiting.map((each) => approvalText(each, at)).join('');
    await outlet.write(`${oneLine(queue.name, 200)}\n${texts}`);
  }
  return 0;
}

/** `ralph approve ID` and `ralph reject ID` on a fleet. `as` is the name of the person; default: this user's. */
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

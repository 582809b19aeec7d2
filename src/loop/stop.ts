import type { Action } from '../core/machine/action.ts';
import { endingBody } from '../core/machine/ending.ts';
import type { EndingFields } from '../core/machine/events.ts';
import type { LoopState } from '../core/machine/loop-state.ts';
import { withSettlement } from '../core/machine/settling.ts';
import { endingRow } from '../core/task/endings.ts';
import { elapsedSeconds, refusedLast } from '../core/task/task-state.ts';
import { withoutControls } from '../core/text/untrusted-text.ts';
import type { Ports } from './ports.ts';
import { eventOf } from './shown.ts';

/** How a run ended, with everything that its caller may want to show. */
export interface RunEnd {
  readonly state: LoopState;
  readonly fields: EndingFields;
}

type Stop = Extract<Action, { kind: 'stop' }>;

/**
 * Ends leftover processes and tries a last commit. Writes the note for a person, if one is due; for a completed task
 * writes the proof, archives the state and removes earlier notes. Then announces the ending.
 */
export async function stop(ports: Ports, loop: LoopState, { ending, left }: Stop): Promise<RunEnd> {
  await ports.agent.close(ports.stops.hurry);
  const { settlement, uncommitted, indexBehind } = await ports.settler.finish(left);
  let state = loop;
  if (settlement?.kind === 'committed') {
    state = withSettlement(loop, settlement).state;
    const { kind, ...facts } = settlement;
    const iteration = left?.iteration ?? state.task.current_iteration;
    const body = { event: 'iteration_committed' as const, iteration, ...facts };
    const event = eventOf(ports, state, body);
    await ports.store.save(state, [event]);
    ports.reporter.publish(event);
  }
  // The changes are found in parallel with the rest, because that may take a while.
  const { git, git_base: base } = state.task;
  const { branches = [] } = git;
  const since = { base, branches };
  const changes = ports.observer.changes(since, ports.stops.hurry);
  const note = ending.note === null ? null : await ports.notes.write(state, ending);
  if (ending.status === 'completed') {
    await ports.keepProof(state);
    await ports.moveToDone();
    await ports.store.archive();
    ports.notes.clear();
  }
  const plan = ending.status === 'completed' ? null : ports.observer.plan();
  const refused = ending.status === 'completed' ? [] : refusedLast(state.task);
  const { stateFile, logDir } = ports.store.places();
  const fields: EndingFields = {
    status: ending.status,
    exit_reason: ending.exitReason,
    exit_code: endingRow(ending.status, ending.exitReason).exitCode,
    iterations_used: state.task.metrics.iterations,
    elapsed_seconds: elapsedSeconds(state.task),
    ...(Object.keys(state.task.agents).length > 0 && state.task.agent !== null
      ? { agent: state.task.agent }
      : {}),
    ...(ending.accepting === undefined ? {} : { accepting: ending.accepting }),
    ...(ending.judge === undefined ? {} : { judge: ending.judge }),
    usage: state.task.usage,
    ...(state.task.judge === undefined ? {} : { usage_of_judge: state.task.judge.usage }),
    evidence: ending.evidence,
    ...(refused.length === 0 ? {} : { refused }),
    ...(plan === null ? {} : { plan }),
    changes: await changes,
    git,
    ...(uncommitted === null ? {} : { uncommitted }),
    ...(indexBehind === null ? {} : { index_behind: indexBehind }),
    final_message: state.finalMessage === null ? null : withoutControls(state.finalMessage),
    note,
    state_file: stateFile,
    log_dir: logDir,
  };
  const ended = eventOf(ports, state, endingBody(ending, state.task.max_iterations, fields));
  ports.reporter.publish(ended);
  await ports.commands.ended(ended);
  return { state, fields };
}

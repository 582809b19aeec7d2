import { leaveNote } from '../compose/notes.ts';
import { endingBody } from '../core/machine/ending.ts';
import { type EventBody, type RalphEvent, stamped } from '../core/machine/events.ts';
import type { CallerEvent } from '../core/machine/loop-event.ts';
import type { Ending, LoopState } from '../core/machine/loop-state.ts';
import { initialState, transition } from '../core/machine/transition.ts';
import { storedPolicy } from '../core/policy/policy-of.ts';
import { maskSecrets } from '../core/secrets/secrets.ts';
import { resolveSettings } from '../core/settings/resolve-settings.ts';
import type { Policy } from '../core/task/policy.ts';
import {
  type Approval,
  elapsedSeconds,
  type TaskState,
  type ThereBefore,
} from '../core/task/task-state.ts';
import { oneLine, withoutControls } from '../core/text/untrusted-text.ts';
import type { ServiceStore } from '../effects/state/service-store.ts';
import { taskPaths } from '../effects/state/task-folder.ts';
import { sealAt } from '../effects/trust/seal.ts';
import { placeRequest } from '../effects/vault/approval-folder.ts';
import { removeNotesOf } from '../effects/vault/note-file.ts';
import { exitCodeFor } from '../exit-codes.ts';
import { renderRequest } from '../report/notes/approval-request.ts';
import { leaveAlone } from './leave-alone.ts';
import type { ServicePlace } from './service-options.ts';

/** What `applyEvent` needs to carry out actions for tasks that the calling program works on. */
export interface CallerWorld {
  readonly place: ServicePlace;
  readonly store: ServiceStore;
  /** Returns the current time, ISO 8601 UTC. */
  readonly now: () => string;
  readonly onEvent: (event: RalphEvent) => void;
}

/** How long a request for approval is valid. This is only shown to people: no process of ralph acts on it. */
const EXPIRES_MS = 24 * 3_600_000;

/**
 * Passes an event to the state machine and carries out its actions: saves the new state, and only then
 * publishes events. A request for approval is written before the state: if that fails, nothing has changed.
 * Resolves to the new state.
 */
export async function applyEvent(
  world: CallerWorld,
  task: TaskState,
  event: CallerEvent,
  save = world.store.save,
): Promise<TaskState> {
  const policy = { ...storedPolicy(task, resolveSettings([])), approvalTimeoutMs: EXPIRES_MS };
  let { state, actions } = transition(initialState(task), event, policy);
  const asking = actions.find((action) => action.kind === 'request-approval');
  if (asking !== undefined) {
    const thereBefore = await request(world, task, asking.approval);
    const asked = { at: event.at, tookMs: 0, heldUpMs: 0, thereBefore };
    ({ state, actions } = transition(state, { kind: 'approval-requested', ...asked }, policy));
  }
  await save(state.task);
  for (const action of actions) {
    if (action.kind === 'publish') publish(world, task, action.body);
    if (action.kind === 'stop') await stop(world, state, action.ending, policy);
  }
  return state.task;
}

function request(
  { place, store }: CallerWorld,
  task: TaskState,
  approval: Approval,
): Promise<ThereBefore> {
  const { task_id: taskId, task_prompt } = task;
  const logDir = store.find(taskId).paths.folder;
  const text = renderRequest({ taskId, approval, asked: oneLine(task_prompt, 300), logDir });
  return placeRequest(place.vault, approval, text);
}

/** Archives a completed task and removes its notes, or writes the note for a human, and then publishes the ending. */
async function stop(
  world: CallerWorld,
  state: LoopState,
  ending: Ending,
  policy: Policy,
): Promise<void> {
  const { place, store } = world;
  const { task, carry } = state;
  const taskId = task.task_id;
  const lastOutput = store.context(taskId);
  const shown = lastOutput === null ? null : withoutControls(maskSecrets(lastOutput));
  const isComplete = ending.status === 'completed';
  const paths = isComplete ? await store.archive(taskId) : store.find(taskId).paths;
  const facts = { ...place, taskId, policy, needsTrust: sealAt(place).problem !== null };
  const known = { ...state, carry: { ...carry, output: shown } };
  const { stateFile } = taskPaths(place.stateDir, taskId);
  if (isComplete) removeNotesOf({ ...place, taskId, stateFile });
  let note: string | null = null;
  let problem: unknown = null;
  try {
    note = await leaveNote(facts, paths, known, ending, task.updated_at);
  } catch (error) {
    problem = error;
  }
  const fields = {
    status: ending.status,
    exit_reason: ending.exitReason,
    exit_code: exitCodeFor(ending.status, ending.exitReason),
    iterations_used: task.metrics.iterations,
    elapsed_seconds: elapsedSeconds(task),
    usage: task.usage,
    evidence: ending.evidence,
    changes: null,
    git: task.git,
    final_message: shown,
    note,
    state_file: paths.stateFile,
    log_dir: paths.folder,
  };
  publish(world, task, endingBody(ending, task.max_iterations, fields));
  if (problem !== null) throw problem;
}

function publish({ store, now, onEvent }: CallerWorld, task: TaskState, body: EventBody): void {
  const event = stamped(body, now(), task.task_id);
  store.append(event);
  leaveAlone(onEvent(event));
}

import { standstillMs } from '../core/machine/clock-gap.ts';
import { endingBody } from '../core/machine/ending.ts';
import {
  type Activity,
  type EndingFields,
  type EventBody,
  type RalphEvent,
  stamped,
} from '../core/machine/events.ts';
import type {
  Action,
  AgentPrompt,
  Answered,
  Asking,
  Doing,
  Ending,
  LoopEvent,
  LoopState,
} from '../core/machine/loop-state.ts';
import { transition } from '../core/machine/transition.ts';
import { preview } from '../core/secrets/preview.ts';
import { maskDeep, maskLine, maskLines, maskSecrets } from '../core/secrets/secrets.ts';
import { endingRow } from '../core/task/endings.ts';
import type { Policy } from '../core/task/policy.ts';
import { type Approval, laterBy } from '../core/task/task-state.ts';
import { oneLine, withoutControls } from '../core/text/untrusted-text.ts';
import type { Ports } from './ports.ts';

/** How a run ended, with everything that its caller may want to show. */
export interface RunEnd {
  readonly state: LoopState;
  readonly fields: EndingFields;
}

/**
 * The only loop. It knows nothing about agents, promises or limits: it hands every event to
 * `transition`, saves the new state, and only then carries out the actions.
 *
 *     event ──► transition ──► save ──► publish ──► ask ──► event ──► …  until an action says stop
 *
 * Ports return everything that can go wrong outside as data. An exception is therefore a bug: it ends the
 * task like any failure. Rejects only if even that fails.
 */
export async function runLoop(
  ports: Ports,
  initial: LoopState,
  first: LoopEvent,
  policy: Policy,
): Promise<RunEnd> {
  let state = initial;
  let event = first;
  let asked: Promise<unknown> = Promise.resolve();
  try {
    for (;;) {
      const answeredNow = sinceNow(ports);
      for (const request of await requested(ports, state)) {
        state = transition(state, request, policy).state;
      }
      const next = transition(state, event, policy);
      state = next.state;
      // A quick look changes nothing, so it needs no save of its own: it is saved together with its answer.
      const isPassing = next.actions.some(({ kind }) => kind === 'look') && ports.workspace.isQuick;
      const events = eventsIn(ports, state, next.actions);
      if (!isPassing) {
        await ports.store.save(state, events);
        await ports.requests.settled();
      }
      const acting = act(ports, state, next.actions, { events, answeredNow });
      asked = acting;
      const outcome = await unlessBroken(acting, ports.bugs);
      if ('fields' in outcome) return outcome;
      event = outcome;
    }
  } catch (error) {
    if (state.step.kind === 'ended') throw error;
    return breakOff(ports, state, error, asked, policy);
  }
}

/** Rejects as soon as there is a bug, even if `work` never settles. */
function unlessBroken<T>(work: Promise<T>, bugs: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onBug = (): void => reject(bugs.reason);
    bugs.addEventListener('abort', onBug);
    if (bugs.aborted) onBug();
    work.then(resolve, reject).finally(() => bugs.removeEventListener('abort', onBug));
  });
}

/** Running processes are ended within 5 s, so waiting longer is useless. */
const BREAK_OFF_MS = 6_000;

/** Ends the task after a bug in ralph: stops everything that runs and announces the failure. */
async function breakOff(
  ports: Ports,
  state: LoopState,
  error: unknown,
  asked: Promise<unknown>,
  policy: Policy,
): Promise<RunEnd> {
  ports.abandon();
  const over = new AbortController();
  const done = asked.then(
    () => over.abort(),
    () => over.abort(),
  );
  const until = laterBy(ports.clock.now(), BREAK_OFF_MS);
  await Promise.race([done, ports.clock.waitUntil(until, over.signal)]);
  const message = oneLine(maskSecrets(error instanceof Error ? error.message : String(error)), 500);
  const event = { kind: 'broke' as const, at: ports.clock.now(), message };
  const next = transition(state, event, policy);
  await ports.store.save(next.state, []);
  const answeredNow = sinceNow(ports);
  const outcome = await act(ports, next.state, next.actions, { events: [], answeredNow });
  if ('fields' in outcome) return outcome;
  throw error;
}

/** The requests that people have made since the last call, as events. */
async function requested(ports: Ports, state: LoopState): Promise<readonly LoopEvent[]> {
  const { requests, stops, clock } = ports;
  const at = clock.now();
  const events: LoopEvent[] = [];
  for (const hint of await requests.hints()) events.push({ kind: 'hinted', at, hint });
  for (const report of await requests.progress()) {
    events.push({ kind: 'progress-reported', at, report });
  }
  const by = stops.cause();
  if (by !== null && state.stopRequested === null) events.push({ kind: 'stop-requested', at, by });
  if (requests.pause.aborted && !state.pauseRequested) events.push({ kind: 'pause-requested', at });
  return events;
}

/** Returns the instant, and how long the question has taken. */
type AnsweredNow = () => Answered;

/** Starts measuring time. */
function sinceNow({ clock }: Ports): AnsweredNow {
  const [sinceMs, heldUpBeforeMs] = [clock.monotonicMs(), clock.heldUpMs()];
  return () => ({
    at: clock.now(),
    tookMs: clock.monotonicMs() - sinceMs,
    heldUpMs: clock.heldUpMs() - heldUpBeforeMs,
  });
}

/**
 * Carries out the actions of one transition. The answer to the question among them is the next event.
 * `answeredNow` measures the time since the last event.
 */
async function act(
  ports: Ports,
  state: LoopState,
  actions: readonly Action[],
  {
    events,
    answeredNow,
  }: { readonly events: readonly RalphEvent[]; readonly answeredNow: AnsweredNow },
): Promise<LoopEvent | RunEnd> {
  for (const event of events) ports.reporter.publish(event);
  for (const action of actions) {
    switch (action.kind) {
      case 'publish':
        break;
      case 'say':
        ports.reporter.say(action.what);
        break;
      case 'stop':
        return stop(ports, state, action.ending);
      default:
        return ask(ports, state, action, answeredNow);
    }
  }
  throw new Error('a transition neither asked for anything nor stopped');
}

/** The events of a transition with their instant. They are saved exactly as they are published. */
function eventsIn(
  ports: Ports,
  state: LoopState,
  actions: readonly Action[],
): readonly RalphEvent[] {
  return actions.flatMap((action) =>
    action.kind === 'publish' ? [eventOf(ports, state, action.body)] : [],
  );
}

async function ask(
  ports: Ports,
  state: LoopState,
  action: Asking,
  answeredNow: AnsweredNow,
): Promise<LoopEvent> {
  const doing = doingOf(state, action);
  if (doing !== null) ports.reporter.doing(doing);
  switch (action.kind) {
    case 'start-agent':
      return startAgent(ports, state, action, answeredNow);
    case 'look': {
      const sightings = await ports.workspace.look();
      return { kind: 'looked', ...answeredNow(), sightings };
    }
    case 'verify': {
      const result = await ports.workspace.verify(action.command);
      return { kind: 'verified', ...answeredNow(), result };
    }
    case 'run-after':
      await ports.workspace.after(action.command, eventOf(ports, state, action.body));
      return { kind: 'followed', ...answeredNow() };
    case 'request-approval':
      // Nothing of the task runs while a person is asked.
      await ports.agent.close(ports.stops.hurry);
      return requestApproval(ports, action.approval, answeredNow);
    case 'await-approval': {
      const { approval, patiently } = action;
      const answer = await ports.approvals.answer(approval, patiently, interruption(ports));
      return { kind: 'approval-answered', ...answeredNow(), answer };
    }
    case 'wait':
      await ports.clock.waitUntil(action.until, interruption(ports));
      return { kind: 'waited', ...answeredNow() };
  }
}

/** The activity to announce for a question, or null if the agent's own output shows it. */
function doingOf({ task }: LoopState, action: Asking): Doing | null {
  switch (action.kind) {
    case 'look':
      return { kind: 'look' };
    case 'verify':
      return { kind: 'verify', command: shownCommand(action.command) };
    case 'run-after':
      return { kind: 'after', command: shownCommand(action.command) };
    case 'wait':
      return task.wait === null ? null : { kind: 'wait', wait: task.wait };
    case 'await-approval':
      return { kind: 'approval', what: action.approval.what, until: action.approval.expires_at };
    default:
      return null;
  }
}

function shownCommand(command: string): string {
  return oneLine(maskSecrets(command), 200);
}

/** Aborts a wait when somebody asks the loop to stop or to pause. */
function interruption({ stops, requests }: Ports): AbortSignal {
  return AbortSignal.any([stops.signal, requests.pause]);
}

async function requestApproval(
  ports: Ports,
  approval: Approval,
  answeredNow: AnsweredNow,
): Promise<LoopEvent> {
  const thereBefore = await ports.approvals.request(approval);
  const answered = answeredNow();
  // Nobody can answer a request that could not be written, so the task pauses until it is resumed.
  if (thereBefore === null) {
    return { kind: 'approval-answered', ...answered, answer: { kind: 'none', why: 'not-waited' } };
  }
  return { kind: 'approval-requested', ...answered, thereBefore };
}

async function startAgent(
  ports: Ports,
  state: LoopState,
  action: Extract<Asking, { kind: 'start-agent' }>,
  answeredNow: AnsweredNow,
): Promise<LoopEvent> {
  const { iteration, attempt } = action;
  const prompt = await promptOf(ports, action.prompt);
  await ports.workspace.mark();
  const started = answeredNow();
  // The machine may have slept since the limit was calculated.
  const lostMs = standstillMs(state.task.updated_at, started);
  const facts = await ports.agent.run({
    prompt,
    iteration,
    attempt,
    taskDeadlineAt: laterBy(action.taskDeadlineAt, lostMs),
    resumeSession: action.resumeSession,
    budgetUsd: action.budgetUsd,
    stops: ports.stops,
    listener: {
      // There may be thousands a second, so only the agent's own text is masked, not the whole event.
      activity(activity) {
        if (!ports.reporter.wants(activity.kind)) return;
        ports.reporter.publish({
          event: 'agent_activity',
          at: ports.clock.now(),
          task_id: state.task.task_id,
          iteration,
          activity: cleanActivity(activity),
        });
      },
      retry: (retry) =>
        publish(ports, state, {
          event: 'agent_retry',
          iteration,
          attempt,
          by: 'agent',
          status: retry.status,
          delay_ms: retry.delayMs,
          error: preview(retry.error, 200),
        }),
      text(text) {
        if (ports.reporter.wants('agent-text')) ports.reporter.agentText(shownText(text));
      },
    },
  });
  return {
    kind: 'attempt-ended',
    ...answeredNow(),
    // Suspensions during the agent's own retries are subtracted as part of the retry time.
    heldUpMs: started.heldUpMs + facts.heldUpMs,
    startedAt: started.at,
    facts,
    random: ports.clock.random(),
  };
}

/** The text that the agent reads. A question about its own answer does not need the user's prompt. */
async function promptOf(ports: Ports, prompt: AgentPrompt): Promise<Uint8Array> {
  if (prompt.kind === 'question') return new TextEncoder().encode(prompt.text);
  return concat(await ports.prompt.read(), prompt.addition);
}

/** Ends leftover processes, writes the note, archives a completed task, and then announces the ending. */
async function stop(ports: Ports, state: LoopState, ending: Ending): Promise<RunEnd> {
  await ports.agent.close(ports.stops.hurry);
  // Runs in parallel with the rest, since it may take a while.
  const base = state.task.git_base;
  const changes = base === null ? null : ports.workspace.changes(base, ports.stops.hurry);
  const note = ending.note === null ? null : await ports.notes.write(state, ending);
  if (ending.status === 'completed') {
    await ports.workspace.finished();
    await ports.store.archive();
  }
  const { stateFile, logDir } = ports.store.places();
  const fields: EndingFields = {
    status: ending.status,
    exit_reason: ending.exitReason,
    exit_code: endingRow(ending.status, ending.exitReason).exitCode,
    iterations_used: state.task.metrics.iterations,
    usage: state.task.usage,
    evidence: ending.evidence,
    changes: await changes,
    final_message: state.finalMessage === null ? null : withoutControls(state.finalMessage),
    note,
    state_file: stateFile,
    log_dir: logDir,
  };
  const ended = eventOf(ports, state, endingBody(ending, state.task.max_iterations, fields));
  ports.reporter.publish(ended);
  await ports.workspace.ended(ended);
  return { state, fields };
}

function publish(ports: Ports, state: LoopState, body: EventBody): void {
  ports.reporter.publish(eventOf(ports, state, body));
}

function eventOf(ports: Ports, state: LoopState, body: EventBody): RalphEvent {
  return maskDeep(stamped(body, ports.clock.now(), state.task.task_id));
}

/** Cleans any piece of the agent's own text before it is shown. */
function shownText(text: string): string {
  return maskLines(withoutControls(text));
}

/** Removes control characters, because the agent's text is shown on terminals. */
function cleanActivity(activity: Activity): Activity {
  switch (activity.kind) {
    case 'tool':
      return {
        ...activity,
        tool: oneLine(activity.tool, 60),
        target: preview(activity.target, 200),
      };
    case 'text':
      return { ...activity, text: maskLine(preview(activity.text, 200)) };
    case 'thinking':
      return activity;
  }
}

function concat(prompt: Uint8Array, addition: string): Uint8Array {
  const tail = new TextEncoder().encode(addition);
  const whole = new Uint8Array(prompt.length + tail.length);
  whole.set(prompt);
  whole.set(tail, prompt.length);
  return whole;
}

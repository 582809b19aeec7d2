import { isSlowToCheck } from '../core/completion/conditions/conditions.ts';
import type { Action } from '../core/machine/action.ts';
import type { RalphEvent } from '../core/machine/events.ts';
import type { LoopEvent } from '../core/machine/loop-event.ts';
import type { LoopState } from '../core/machine/loop-state.ts';
import { transition } from '../core/machine/transition.ts';
import { maskSecrets } from '../core/secrets/secrets.ts';
import type { Policy } from '../core/task/policy.ts';
import { laterBy } from '../core/task/task-state.ts';
import { oneLine } from '../core/text/untrusted-text.ts';
import { type AnsweredNow, ask } from './ask.ts';
import type { Ports } from './ports.ts';
import { RunDropped } from './run-dropped.ts';
import { eventOf } from './shown.ts';
import { type RunEnd, stop } from './stop.ts';

/**
 * The loop that drives every task. It knows nothing about agents, limits or the completion of tasks: it hands every
 * event to `transition`, saves the new state, and only then carries out the actions.
 *
 *     event ──► transition ──► save ──► publish ──► ask ──► event ──► …  until an action says stop
 *
 * Ports return everything that can go wrong outside as data. An exception is therefore a bug: it ends the task like any
 * failure. Rejects only if ending the task fails, too, or if a port rejects or `ports.bugs` aborts with a `RunDropped`
 * (the task must be left to others): then the task stays as it was last saved.
 */
export async function runLoop(
  given: Ports,
  initial: LoopState,
  first: LoopEvent,
  policy: Policy,
): Promise<RunEnd> {
  const ports = { ...given, reporter: silentWhenDropped(given) };
  let state = initial;
  let event = first;
  let asked: Promise<LoopEvent | RunEnd> = Promise.resolve(first);
  try {
    for (;;) {
      const answeredNow = sinceNow(ports);
      const told: Action[] = [];
      for (const request of await requested(ports, state)) {
        const noted = transition(state, request, policy);
        state = noted.state;
        told.push(...noted.actions);
      }
      const next = transition(state, event, policy);
      state = next.state;
      const events = eventsIn(ports, state, [...told, ...next.actions]);
      if (!isQuickLook(ports, next.actions, policy)) {
        await ports.store.save(state, events);
        await ports.requests.settled();
      }
      if (ports.bugs.reason instanceof RunDropped) throw ports.bugs.reason;
      for (const each of events) ports.reporter.publish(each);
      asked = act(ports, state, next.actions, answeredNow);
      const outcome = await unlessBroken(asked, ports.bugs);
      if ('fields' in outcome) return outcome;
      event = outcome;
    }
  } catch (error) {
    if (error instanceof RunDropped) await endAtOnce(ports, asked);
    if (error instanceof RunDropped || state.step.kind === 'ended') throw error;
    return breakOff(ports, state, error, asked, policy);
  }
}

/** Returns as events what people have requested and what the sandbox has reported since the last call. */
async function requested(ports: Ports, state: LoopState): Promise<readonly LoopEvent[]> {
  const { requests, stops, clock } = ports;
  const at = clock.now();
  const events: LoopEvent[] = [];
  for (const hint of await requests.hints()) events.push({ kind: 'hinted', at, hint });
  for (const report of await requests.progress()) {
    events.push({ kind: 'progress-reported', at, report });
  }
  const met = await ports.takeMet();
  if (met !== null) events.push({ kind: 'met-in-sandbox', at, met });
  const by = stops.cause();
  if (by !== null && state.stopRequested === null) events.push({ kind: 'stop-requested', at, by });
  if (requests.pause.aborted && !state.pauseRequested) events.push({ kind: 'pause-requested', at });
  return events;
}

/** Whether the next action is a quick look, which changes nothing. If so, the state is saved only after the look. */
function isQuickLook({ observer }: Ports, actions: readonly Action[], policy: Policy): boolean {
  const isLook = actions.some(({ kind }) => kind === 'look');
  return isLook && !isSlowToCheck(policy) && !observer.usesGit;
}

/** Returns the events of a transition with the current time. They are saved exactly as they are published. */
function eventsIn(
  ports: Ports,
  state: LoopState,
  actions: readonly Action[],
): readonly RalphEvent[] {
  return actions.flatMap((action) =>
    action.kind === 'publish' ? [eventOf(ports, state, action.body)] : [],
  );
}

/**
 * Carries out the actions of one transition. The answer to the question among them is the next event.
 * `answeredNow` measures the time since the last event.
 */
async function act(
  ports: Ports,
  state: LoopState,
  actions: readonly Action[],
  answeredNow: AnsweredNow,
): Promise<LoopEvent | RunEnd> {
  for (const action of actions) {
    switch (action.kind) {
      case 'publish':
        break;
      case 'say':
        ports.reporter.say(action.what);
        break;
      case 'keep-tree':
        await ports.snapshots.after(action);
        break;
      case 'stop':
        return stop(ports, state, action);
      default:
        return ask(ports, state, action, answeredNow);
    }
  }
  throw new Error('a transition led to no event and did not stop the loop');
}

/** Starts to measure time. The returned function returns the current instant and the time that has passed. */
function sinceNow({ clock }: Ports): AnsweredNow {
  const [sinceMs, heldUpBeforeMs] = [clock.monotonicMs(), clock.heldUpMs()];
  return () => ({
    at: clock.now(),
    tookMs: clock.monotonicMs() - sinceMs,
    heldUpMs: clock.heldUpMs() - heldUpBeforeMs,
  });
}

/** Settles as `work` does, but rejects as soon as `bugs` aborts, even if `work` never settles. */
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
  await settled(ports, asked);
  const message = oneLine(maskSecrets(error instanceof Error ? error.message : String(error)), 500);
  const event = { kind: 'broke' as const, at: ports.clock.now(), message };
  const next = transition(state, event, policy);
  await ports.store.save(next.state, []);
  const outcome = await act(ports, next.state, next.actions, sinceNow(ports));
  if ('fields' in outcome) return outcome;
  throw error;
}

/** Ends all processes without a grace period: another worker may be about to start the agent of the same task. */
async function endAtOnce(ports: Ports, asked: Promise<unknown>): Promise<void> {
  ports.abandon();
  await settled(ports, asked);
  await ports.agent.close(AbortSignal.abort());
}

/** Waits until the current question has ended, but at most `BREAK_OFF_MS`. */
async function settled(ports: Ports, asked: Promise<unknown>): Promise<void> {
  const over = new AbortController();
  const done = asked.then(
    () => over.abort(),
    () => over.abort(),
  );
  const until = laterBy(ports.clock.now(), BREAK_OFF_MS);
  await Promise.race([done, ports.clock.waitUntil(until, over.signal)]);
}

/** Returns a reporter that is silent after the run was dropped: an agent that is being ended still causes events. */
function silentWhenDropped({ reporter, bugs }: Ports): Ports['reporter'] {
  return {
    ...reporter,
    publish(event) {
      if (!(bugs.reason instanceof RunDropped)) reporter.publish(event);
    },
  };
}

import { describeSign } from '../core/agent/sign.ts';
import type { AgentPrompt, Question } from '../core/machine/action.ts';
import type { EventBody } from '../core/machine/events.ts';
import type { LoopEvent } from '../core/machine/loop-event.ts';
import type { LoopState } from '../core/machine/loop-state.ts';
import { preview } from '../core/secrets/secrets.ts';
import { standstillMs, type Timing } from '../core/task/clock-gap.ts';
import { type Approval, laterBy } from '../core/task/task-state.ts';
import type { Ports } from './ports.ts';
import { cleanActivity, doingOf, eventOf, shownText } from './shown.ts';

/** Returns the current instant, and the time since the previous event. */
export type AnsweredNow = () => Timing;

/** Carries out a question of the state machine and resolves to the answer, which is the machine's next event. */
export async function ask(
  ports: Ports,
  state: LoopState,
  action: Question,
  answeredNow: AnsweredNow,
): Promise<LoopEvent> {
  const doing = doingOf(state, action);
  if (doing !== null) ports.reporter.doing(doing);
  if (!LEAVES_TREE.has(action.kind)) ports.snapshots.disturb();
  switch (action.kind) {
    case 'start-agent':
      return startAgent(ports, state, action, answeredNow);
    case 'count-day': {
      const day = await ports.countDay();
      return { kind: 'day-counted', ...answeredNow(), day };
    }
    case 'look': {
      const sightings = await ports.observer.look();
      return { kind: 'looked', ...answeredNow(), sightings };
    }
    case 'verify': {
      const result = await ports.commands.verify(action.check, action.forClaim);
      return { kind: 'verified', ...answeredNow(), result };
    }
    case 'examine': {
      // Ends what the agent left running: it could help the checks, or write to the files of the judge, another agent.
      if (action.part === 'cleanCheckout' || action.part === 'judge')
        await ports.agent.close(ports.stops.hurry);
      const found = await ports.examiner.examine(action);
      return { kind: 'examined', ...answeredNow(), found };
    }
    case 'settle-tree': {
      const settlement = await ports.settler[action.by](action);
      return { kind: 'settled', ...answeredNow(), settlement };
    }
    case 'run-after':
      await ports.commands.after(action.command, eventOf(ports, state, action.body));
      return { kind: 'followed', ...answeredNow() };
    case 'request-approval':
      // No process of the task runs while a person is asked.
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

/** Questions without `disturb`: the first two take no time before a snapshot; a look reports its commands itself. */
const LEAVES_TREE: ReadonlySet<Question['kind']> = new Set(['start-agent', 'count-day', 'look']);

/** Returns a signal that aborts a wait when somebody asks the loop to stop or to pause. */
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
  { kind: _, prompt: given, ...action }: Extract<Question, { kind: 'start-agent' }>,
  answeredNow: AnsweredNow,
): Promise<LoopEvent> {
  const { iteration, attempt } = action;
  const prompt = await promptOf(ports, given);
  await ports.snapshots.before(iteration);
  await ports.observer.mark();
  const started = answeredNow();
  // The machine may have slept since the limit was calculated.
  const lostMs = standstillMs(state.task.updated_at, started);
  const tell = (body: EventBody): void => ports.reporter.publish(eventOf(ports, state, body));
  const facts = await ports.agent.run({
    ...action,
    prompt,
    taskDeadlineAt: laterBy(action.taskDeadlineAt, lostMs),
    stops: ports.stops,
    listener: {
      // There can be thousands of activities a second, so only the agent's own text is masked, not the whole event.
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
      retry: ({ status, delayMs: delay_ms, error }) =>
        tell({
          ...{ event: 'agent_retry', iteration, attempt, by: 'agent' },
          ...{ status, delay_ms, error: preview(error, 200) },
        }),
      found: (sign) =>
        tell({ event: 'supervisor', iteration, ...sign, detail: describeSign(sign) }),
      silentTool: (call) => tell({ event: 'tool_silent', iteration, ...call }),
      text(text) {
        if (ports.reporter.wants('agent-text')) ports.reporter.agentText(shownText(text));
      },
    },
  });
  return {
    kind: 'attempt-ended',
    ...answeredNow(),
    // The clock's total is not used: `facts.retryWaitMs` already contains the time suspended in the agent's retries.
    heldUpMs: started.heldUpMs + facts.heldUpMs,
    startedAt: started.at,
    facts,
    random: ports.clock.random(),
  };
}

/** Returns the text that the agent reads: a question about its own answer, or the user's prompt with an addition. */
async function promptOf(ports: Ports, prompt: AgentPrompt): Promise<Uint8Array> {
  if (prompt.kind === 'question') return new TextEncoder().encode(prompt.text);
  return Buffer.concat([await ports.prompt.read(), new TextEncoder().encode(prompt.addition)]);
}

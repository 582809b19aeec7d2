import {
  addUsage,
  NO_USAGE,
  type ReaderFacts,
  type ResultFacts,
  type RetryFacts,
  type Usage,
} from '../../core/agent/attempt.ts';
import { createTailText, firstLine, shortLine, tailWithin } from '../files/bounded-text.ts';
import type { JsonObject } from '../files/json-fields.ts';
import type { AgentSigns } from '../processes/run-process.ts';
import type { ReaderListener } from './agent.ts';
import { MAX_MESSAGE_BYTES, type ToolCall, toolCall } from './event-fields.ts';
import { createPartialOutput } from './partial-output.ts';
import { createRetryLog } from './retries.ts';
import { createToolAnswers } from './tool-answers.ts';

/** The calls by which the reader of any agent reports the content of its events. */
export interface Sink {
  session(id: string | null): void;
  /** `continues`: the text is a chunk that follows the chunk before. Otherwise the text is whole, and shown at once. */
  text(text: string, continues?: boolean): void;
  /** The texts so far are not the final message. */
  newMessage(): void;
  /** The model begins a step; the texts before it are not the final message. */
  newStep(): void;
  /** A step ends. Its text is the final message only if it is the last step and called no tool. */
  endStep(isLast: boolean): void;
  thinking(): void;
  /** The API has answered, so the retries are over, even if the answer contains nothing else that is reported. */
  apiAnswered(): void;
  /** `by`: the call that started the sub-agent; null or absent for the main agent. */
  toolStart(id: string | null, tool: string, input: JsonObject | null, by?: string | null): void;
  /** `isListed`: the agent lists its refused calls separately, so this end does not count as a refusal. */
  toolEnd(id: string | null, how: 'succeeded' | 'failed' | 'refused', isListed?: boolean): void;
  /** A refused call that was reported separately from its start; `id` is null if it is unknown. */
  refused(id: string | null, call: ToolCall): void;
  /** A refused call that only standard error reports: its position among the calls is unknown. */
  refusedSomewhere(tool: string, target: string): void;
  /** Counts what a step has used: tokens (without those read from the cache) and US dollars. */
  used(tokens: number, costUsd?: number): void;
  /** `add`: of one step. `run`: of the whole attempt. `session`: of the session, earlier attempts included. */
  usage(usage: Partial<Usage>, of: 'add' | 'run' | 'session'): void;
  retry(retry: Partial<RetryFacts>): void;
  /** The answer broke off. The agent begins it again, which may never end. */
  cutOff(): void;
  /** `isFinal`: the agent has given up. Otherwise, the error counts only if no answer or other result follows. */
  error(message: string, status: number | null, isFinal: boolean, isRetryable?: boolean): void;
  /**
   * The agent has answered. `message` replaces its texts as the final message; null leaves them. `idle`: what is wrong
   * if the model has not worked and no error was told.
   */
  result(message?: string | null, idle?: string | null): void;
  readonly hasBegun: () => boolean;
}

/** An agent whose answers are cut off this many times in a row is ended: it would go on without end. */
const MOST_CUT_OFFS = 5;
/** A session id becomes an argument of the agent, so it must not look like a flag. */
const SESSION_ID = /^[A-Za-z0-9][\w.-]{0,199}$/;
const MAX_ACTIVITY_CHARS = 120;
const MAX_ERROR_CHARS = 2_000;
/** A longer line is passed to the listener in parts. */
const LINE_CHARS = 64 * 1024;

type SinkFacts = Omit<ReaderFacts, 'skippedLines' | 'brokenLines'>;

/**
 * Collects the content of an agent's events: the final message, refusals, usage and retries. The final message consists
 * of the texts after the last tool call, joined by `separator`.
 */
export function createSink(
  listener: ReaderListener,
  signs: AgentSigns,
  separator = '\n\n',
): { readonly sink: Sink; readonly facts: () => SinkFacts; readonly end: () => void } {
  const partial = createPartialOutput();
  const answers = createToolAnswers();
  const shown = createShownLines(listener);
  let message = createTailText(MAX_MESSAGE_BYTES, '');
  let result: ResultFacts | null = null;
  let lastError: ResultFacts | null = null;
  let usage = NO_USAGE;
  let sessionUsage: Usage | null = null;
  let sessionId: string | null = null;
  let cutOffs = 0;
  let turns = 0;
  let tools = 0;
  let isSpeaking = false;
  let hasMessage = false;
  let hasBegun = false;
  let worked = false;
  let toolInStep = false;
  const retries = createRetryLog(listener, signs);

  /** The model continues, so an earlier answer was not its last, even if the next one is cut off. */
  const workingOn = (): void => {
    hasBegun = true;
    if (result?.isError === false) result = null;
    signs.working();
  };
  /** The model has worked, so an earlier error no longer counts. */
  const hasWorked = (): void => {
    workingOn();
    worked = true;
    lastError = null;
  };
  const answering = (): void => {
    hasWorked();
    retries.over();
  };
  const newMessage = (): void => {
    shown.flush();
    isSpeaking = false;
    hasMessage = false;
    message = createTailText(MAX_MESSAGE_BYTES, '');
  };

  const sink: Sink = {
    session: (id) => {
      hasBegun = true;
      if (id !== null && SESSION_ID.test(id)) sessionId = id;
    },
    text: (text, continues = false) => {
      const goesOn = continues && isSpeaking;
      if (text === '' || (!goesOn && text.trim() === '')) return;
      answering();
      if (!goesOn) {
        shown.flush();
        turns += 1;
      }
      message.append(goesOn || !hasMessage ? text : separator + text);
      hasMessage = true;
      partial.addText(text, goesOn);
      isSpeaking = true;
      shown.add(text, continues);
    },
    newMessage,
    newStep: () => {
      workingOn();
      toolInStep = false;
      newMessage();
    },
    endStep: (isLast) => {
      cutOffs = 0;
      if (!isLast || toolInStep) newMessage();
    },
    thinking: () => {
      answering();
      listener.activity({ kind: 'thinking' });
    },
    apiAnswered: retries.over,
    toolStart: (id, name, input, by = null) => {
      answering();
      newMessage();
      const call = toolCall(shortLine(name, 200), input);
      tools += 1;
      toolInStep = true;
      if (id !== null) {
        answers.called(id, call);
        listener.did({ kind: 'called', id, by, tool: name, input });
      }
      if (by === null) partial.addCall(call.tool, call.target);
      listener.activity({ kind: 'tool', tool: call.tool, target: call.target });
    },
    toolEnd: (id, end, isListed = false) => {
      // No retries are over: the agent also ends a tool, such as one that runs a sub-agent, when ralph interrupts it.
      hasWorked();
      newMessage();
      if (id === null) return;
      const how = end === 'failed' && answers.isDenied(id) ? 'refused' : end;
      listener.did({ kind: 'answered', id, how });
      const call = answers.answered(id, how !== 'succeeded');
      if (how === 'refused' && call !== null && !isListed) answers.denied(id, call);
    },
    refused: (id, call) => answers.denied(id, (id === null ? null : answers.callOf(id)) ?? call),
    refusedSomewhere: (tool, target) =>
      answers.deniedSomewhere(
        toolCall(shortLine(tool, 200), target === '' ? null : { command: target }),
      ),
    used: (tokens, costUsd = 0) => {
      if (tokens > 0) listener.did({ kind: 'used', tokens });
      if (costUsd > 0) listener.did({ kind: 'spent', costUsd });
    },
    usage: (part, of) => {
      const told = { ...NO_USAGE, ...part };
      if (of === 'session') sessionUsage = told;
      else usage = of === 'add' ? addUsage(usage, told) : told;
    },
    retry: (retry) => {
      hasBegun = true;
      retries.add({ ...NO_RETRY, ...retry });
    },
    cutOff: () => {
      cutOffs += 1;
      newMessage();
      if (cutOffs < MOST_CUT_OFFS) return;
      retries.add({ ...NO_RETRY, error: `an answer that was cut off ${cutOffs} times in a row` });
      signs.hopeless('endless-retries');
    },
    error: (text, status, isFinal, isRetryable = false) => {
      shown.flush();
      const error: ResultFacts = {
        ...NO_RESULT,
        subtype: 'error',
        isError: true,
        apiErrorStatus: status,
        // The last event of gemini may only say that there was an error: then the text of the error before it counts.
        text: text === '' ? (lastError?.text ?? '') : shortLine(text, MAX_ERROR_CHARS),
        terminalReason: isRetryable ? 'retryable' : null,
      };
      if (isFinal) result = error;
      else lastError = error;
    },
    result: (text = null, idle = null) => {
      shown.flush();
      retries.over();
      if (idle !== null && !worked) {
        lastError ??= { ...NO_RESULT, subtype: 'error', isError: true, text: idle };
      }
      const kept = text === null ? null : tailWithin(text, MAX_MESSAGE_BYTES);
      result = { ...NO_RESULT, subtype: 'success', isError: false, text: kept };
      signs.resultGiven();
    },
    hasBegun: () => hasBegun,
  };

  return {
    sink,
    end: shown.flush,
    facts: () => {
      const said = message.read();
      const own = said.trim() === '' ? null : said;
      // After an error, a success without any work of the model hides that error.
      const isHidden = !worked && lastError !== null && (result?.text ?? '').trim() === '';
      const report = isHidden && result?.isError === false ? lastError : (result ?? lastError);
      return {
        result: report,
        finalMessage: report === null || report.isError ? own : (report.text ?? own),
        partialOutput: partial.read(),
        retries: retries.last(),
        endedInRetry: retries.isRetrying(),
        rateLimit: null,
        usage,
        sessionUsage,
        turns,
        worked: worked || (result?.isError === false && (result.text ?? '').trim() !== ''),
        tools,
        refused: answers.refused(),
        stoppedSubAgents: 0,
        sessionId,
      };
    },
  };
}

const NO_RETRY: RetryFacts = {
  status: null,
  error: '',
  attempt: null,
  maxRetries: null,
  delayMs: null,
};

const NO_RESULT: Omit<ResultFacts, 'subtype' | 'isError' | 'text'> = {
  apiErrorStatus: null,
  errorCode: null,
  errors: [],
  terminalReason: null,
  numTurns: null,
  isRefusal: false,
  isBrokenOff: false,
  isLocal: false,
};

/** Shows chunks of a text in whole lines, because half a credential would not be recognised and masked. */
function createShownLines(listener: ReaderListener) {
  let unfinished = '';
  const show = (text: string): void => {
    if (text.trim() === '') return;
    listener.text(text);
    listener.activity({ kind: 'text', text: firstLine(text, MAX_ACTIVITY_CHARS) });
  };
  return {
    add(text: string, isChunk: boolean): void {
      unfinished += text;
      const isShownWhole = !isChunk || unfinished.length > LINE_CHARS;
      const end = isShownWhole ? unfinished.length : unfinished.lastIndexOf('\n') + 1;
      show(unfinished.slice(0, end));
      unfinished = unfinished.slice(end);
    },
    flush(): void {
      const rest = unfinished;
      unfinished = '';
      show(rest);
    },
  };
}

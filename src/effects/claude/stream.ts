import type { HookFacts, LostServer, ResultFacts, Usage } from '../../core/agent/attempt.ts';
import type { AgentReader, ReaderListener } from '../agents/agent.ts';
import { contentBlocks, nameAt, readDenials, toolCall } from '../agents/event-fields.ts';
import { createJsonLines } from '../agents/json-lines.ts';
import { createSink } from '../agents/sink.ts';
import { type JsonObject, objectAt, stringAt } from '../files/json-fields.ts';
import type { AgentSigns } from '../processes/run-process.ts';
import { createRateLimits } from './rate-limits.ts';
import {
  eventKind,
  isFromModel,
  isRefusal,
  readBlock,
  readLostServers,
  readRateLimit,
  readResult,
  readRetry,
  readStopHook,
  subAgentOf,
} from './stream-events.ts';
import { createSubAgents } from './sub-agents.ts';
import { createUsageMeter, readResultUsage } from './usage-meter.ts';

/**
 * Reads the standard output of `claude --print --verbose --output-format stream-json`. Never throws:
 * ignores unknown events and fields and lines that are not events, and counts lines that cannot be
 * read. Stores no line. Counts the tool calls and tokens of sub-agents, but ignores their texts.
 */
export function createClaudeStream(listener: ReaderListener, signs: AgentSigns): AgentReader {
  const { sink, facts, end } = createSink(listener, signs, '\n');
  const subAgents = createSubAgents();
  const meter = createUsageMeter();
  const limits = createRateLimits();
  let result: ResultFacts | null = null;
  let structuredOutput: JsonObject | null = null;
  let resultUsage: Usage | null = null;
  let reportedTurns: number | null = null;
  let turns = 0;
  let messageId: string | null = null;
  let message: string | null = null;
  let errorCode: string | null = null;
  let hook: HookFacts | null = null;
  let lostServers: readonly LostServer[] = [];
  let workingSubAgents = 0;

  const readEvent = (kind: string | null, event: JsonObject): void => {
    switch (kind) {
      case 'system/init':
        sink.session(nameAt(event, 'session_id'));
        lostServers = readLostServers(event);
        return;
      case 'system/informational': {
        const said = readBlock(event);
        if (said !== null) hook = { did: 'blocked', said };
        return;
      }
      case 'system/api_retry':
        sink.retry(readRetry(event));
        return;
      case 'system/permission_denied': {
        const id = nameAt(event, 'tool_use_id');
        // An event without an id is ignored, since the `result` event would count the call a second time.
        if (id !== null) sink.refused(id, toolCall(nameAt(event, 'tool_name') ?? 'unknown', null));
        return;
      }
      case 'rate_limit_event': {
        const limit = readRateLimit(event);
        if (limit !== null) limits.add(limit);
        return;
      }
      case 'assistant':
        readMessage(event, objectAt(event, 'message'));
        return;
      case 'user': {
        const said = readStopHook(event);
        if (said === null) readToolResults(objectAt(event, 'message') ?? {});
        else hook = { did: 'held', said };
        return;
      }
      case 'system/task_started':
      case 'system/task_notification':
      case 'system/task_updated':
        readSubAgent(event);
        return;
      case 'result':
        readReport(event, { ...readResult(event), errorCode });
    }
  };

  const readMessage = (event: JsonObject, body: JsonObject | null): void => {
    if (body === null) return;
    const by = subAgentOf(event);
    const id = nameAt(body, 'id');
    const usage = objectAt(body, 'usage');
    if (usage !== null) sink.used(meter.add(id, usage));
    // `claude` writes one event for each content block of a message, all with the same id.
    if (by === null && (id === null || id !== messageId)) {
      messageId = id;
      turns += 1;
      sink.newMessage();
    }
    if (!isFromModel(body)) {
      if (by === null) errorCode = nameAt(event, 'error');
      return;
    }
    errorCode = null;
    sink.apiAnswered();
    for (const block of contentBlocks(body)) readBlockOf(by, block);
  };

  /** Reads a content block. `by`: the call that started the sub-agent; null for the main agent. */
  const readBlockOf = (by: string | null, block: JsonObject): void => {
    const text = stringAt(block, 'text') ?? '';
    const type = stringAt(block, 'type');
    if (by === null && hook?.did === 'held' && (type !== 'text' || text.trim() !== '')) hook = null;
    if (type === 'tool_use') {
      const callId = nameAt(block, 'id');
      const tool = nameAt(block, 'name') ?? 'unknown';
      const input = objectAt(block, 'input');
      if (callId !== null) subAgents.called(callId, tool, input);
      sink.toolStart(callId, tool, input, by);
    } else if (by === null && type === 'text') sink.text(text);
    // Thinking may come encrypted, and a block of a search or another tool of the service is work, too.
    else if (by === null) sink.thinking();
  };

  const readToolResults = (body: JsonObject): void => {
    sink.newMessage();
    for (const block of contentBlocks(body)) {
      const id = nameAt(block, 'tool_use_id');
      if (stringAt(block, 'type') !== 'tool_result' || id === null) continue;
      const isError = block.is_error === true;
      subAgents.answered(id, isError);
      const isRefused = isError && isRefusal(stringAt(block, 'content'));
      sink.toolEnd(id, isRefused ? 'refused' : isError ? 'failed' : 'succeeded', true);
    }
  };

  const readSubAgent = (event: JsonObject): void => {
    const started = subAgents.readEvent(event);
    if (started !== null) listener.did({ kind: 'sub-agent-started', id: started });
    const working = subAgents.working();
    // Events about shell commands come here, too; they do not change the number.
    if (working !== workingSubAgents) listener.activity({ kind: 'sub-agents', working });
    workingSubAgents = working;
  };

  // A background task that ends after the report (a `result` event) wakes the agent, and a second report follows, which
  // contains the whole cost, but only the turns since the first report.
  const readReport = (event: JsonObject, report: ResultFacts): void => {
    const said = facts().finalMessage;
    // A Stop hook of the user can leave the report without text although the agent has written a text.
    message = report.text === '' ? (said ?? '') : (report.text ?? said);
    result = report;
    structuredOutput = objectAt(event, 'structured_output');
    resultUsage = readResultUsage(event, resultUsage, meter.read()) ?? resultUsage;
    if (report.numTurns !== null) reportedTurns = (reportedTurns ?? 0) + report.numTurns;
    for (const { id, ...call } of readDenials(event)) sink.refused(id, call);
    subAgents.readReport(event);
    sink.session(nameAt(event, 'session_id'));
    // Text from before this report is no closing message of a later one.
    sink.newMessage();
    if (!report.isError) sink.apiAnswered();
    signs.resultGiven();
  };

  const lines = createJsonLines({
    onEvent: (event, isEmbedded) => {
      // An event of another session that is quoted in a line says nothing about this session.
      const own = isEmbedded ? facts().sessionId : null;
      if (own === null || nameAt(event, 'session_id') === own) readEvent(eventKind(event), event);
    },
  });

  return {
    push: lines.push,
    end() {
      lines.end();
      end();
    },
    facts() {
      const told = facts();
      return {
        ...told,
        result,
        finalMessage: result === null ? told.finalMessage : message,
        ...(structuredOutput === null ? {} : { structuredOutput }),
        ...(hook === null ? {} : { hook }),
        ...(lostServers.length === 0 ? {} : { lostServers }),
        rateLimit: limits.read(),
        usage: resultUsage ?? meter.read(),
        turns: reportedTurns ?? turns,
        worked: told.worked || (result !== null && isAnswer(result)),
        stoppedSubAgents: subAgents.stopped(),
        skippedLines: lines.skippedLines(),
        brokenLines: lines.brokenLines(),
      };
    },
  };
}

/** Whether a report contains an answer of the model: answers by `claude` itself have no turn. */
function isAnswer({ isError, subtype, text, numTurns }: ResultFacts): boolean {
  return !isError && subtype === 'success' && numTurns !== 0 && (text ?? '').trim() !== '';
}

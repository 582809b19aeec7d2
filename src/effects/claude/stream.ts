import type { HookFacts, LostServer, ResultFacts, Usage } from '../../core/agent/attempt.ts';
import type { AgentReader, ReaderListener } from '../agents/agent.ts';
import { nameAt } from '../agents/event-fields.ts';
import { createJsonLines } from '../agents/json-lines.ts';
import { createRetryLog } from '../agents/retries.ts';
import { type JsonObject, objectAt } from '../files/json-fields.ts';
import type { AgentSigns } from '../processes/run-process.ts';
import { createConversation } from './conversation.ts';
import { createRateLimits } from './rate-limits.ts';
import {
  eventKind,
  isFromModel,
  readBlock,
  readLostServers,
  readRateLimit,
  readResult,
  readRetry,
  readStopHook,
  saysSomething,
  subAgentOf,
} from './stream-events.ts';
import { createToolLedger } from './tool-ledger.ts';
import { readResultUsage } from './usage-meter.ts';

/**
 * Reads the standard output of `claude --print --verbose --output-format stream-json`. Never throws:
 * ignores unknown events and fields and lines that are not events, and counts lines that cannot be
 * read. Stores no line.
 */
export function createClaudeStream(listener: ReaderListener, signs: AgentSigns): AgentReader {
  const ledger = createToolLedger();
  const conversation = createConversation(listener, signs, ledger);
  const retryLog = createRetryLog(listener, signs);
  const limits = createRateLimits();
  let result: ResultFacts | null = null;
  let structuredOutput: JsonObject | null = null;
  let resultUsage: Usage | null = null;
  let reportedTurns: number | null = null;
  let sessionId: string | null = null;
  let worked = false;
  let message: string | null = null;
  let errorCode: string | null = null;
  let hook: HookFacts | null = null;
  let lostServers: readonly LostServer[] = [];

  const readEvent = (kind: string | null, event: JsonObject): void => {
    switch (kind) {
      case 'system/init':
        sessionId = nameAt(event, 'session_id') ?? sessionId;
        lostServers = readLostServers(event);
        return;
      case 'system/informational': {
        const said = readBlock(event);
        if (said !== null) hook = { did: 'blocked', said };
        return;
      }
      case 'system/api_retry':
        retryLog.add(readRetry(event));
        return;
      case 'system/permission_denied':
        ledger.readDenial(event);
        return;
      case 'rate_limit_event': {
        const limit = readRateLimit(event);
        if (limit !== null) limits.add(limit);
        return;
      }
      case 'assistant': {
        const isOfMainAgent = subAgentOf(event) === null;
        if (isFromModel(event)) {
          retryLog.over();
          const says = saysSomething(event);
          worked ||= says;
          errorCode = null;
          if (says && isOfMainAgent && hook?.did === 'held') hook = null;
        } else if (isOfMainAgent) {
          errorCode = nameAt(event, 'error');
        }
        conversation.readAssistant(event);
        return;
      }
      case 'user': {
        const said = readStopHook(event);
        if (said === null) conversation.readToolResults(event);
        else hook = { did: 'held', said };
        return;
      }
      case 'system/task_started':
      case 'system/task_notification':
      case 'system/task_updated':
        conversation.readSubAgent(event);
        return;
      case 'result':
        readReport(event, { ...readResult(event), errorCode });
    }
  };

  // A background task that ends later wakes the agent, and a second report follows. The second one contains the cost of
  // both, but only the turns since the first.
  const readReport = (event: JsonObject, report: ResultFacts): void => {
    result = report;
    // A Stop hook of the user can leave the report without text although the agent has written a text.
    message =
      report.text === ''
        ? conversation.closingMessage()
        : (report.text ?? conversation.lastMessage());
    structuredOutput = objectAt(event, 'structured_output');
    resultUsage = readResultUsage(event, resultUsage, conversation.usage()) ?? resultUsage;
    if (report.numTurns !== null) reportedTurns = (reportedTurns ?? 0) + report.numTurns;
    conversation.reported();
    ledger.readReport(event);
    sessionId = nameAt(event, 'session_id') ?? sessionId;
    if (!report.isError) retryLog.over();
    signs.resultGiven();
  };

  const lines = createJsonLines({
    onEvent: (event, isEmbedded) => {
      // An event of another session that is quoted in a line says nothing about this session.
      if (isEmbedded && nameAt(event, 'session_id') !== sessionId && sessionId !== null) return;
      readEvent(eventKind(event), event);
    },
  });

  return {
    push: lines.push,
    end: lines.end,
    facts: () => ({
      result,
      finalMessage: result === null ? conversation.lastMessage() : message,
      ...(structuredOutput === null ? {} : { structuredOutput }),
      ...(hook === null ? {} : { hook }),
      ...(lostServers.length === 0 ? {} : { lostServers }),
      partialOutput: conversation.partialOutput(),
      retries: retryLog.last(),
      endedInRetry: retryLog.isRetrying(),
      rateLimit: limits.read(),
      usage: resultUsage ?? conversation.usage(),
      sessionUsage: null,
      turns: reportedTurns ?? conversation.turns(),
      worked: worked || (result !== null && isAnswer(result)),
      tools: conversation.tools(),
      refused: ledger.refused(),
      stoppedSubAgents: ledger.stoppedSubAgents(),
      sessionId,
      skippedLines: lines.skippedLines(),
      brokenLines: lines.brokenLines(),
    }),
  };
}

/** Whether a report contains an answer of the model: answers by `claude` itself have no turn. */
function isAnswer({ isError, subtype, text, numTurns }: ResultFacts): boolean {
  return !isError && subtype === 'success' && numTurns !== 0 && (text ?? '').trim() !== '';
}

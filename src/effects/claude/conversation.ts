import type { RefusedTool, Usage } from '../../core/agent/attempt.ts';
import { createTailText, firstLine } from '../files/bounded-text.ts';
import { type JsonObject, objectAt, stringAt } from '../files/json-fields.ts';
import { createPartialOutput } from './partial-output.ts';
import {
  contentBlocks,
  describeTarget,
  isFromSubAgent,
  MAX_MESSAGE_BYTES,
  nameAt,
} from './stream-events.ts';
import { createToolLedger } from './tool-ledger.ts';
import { createUsageMeter } from './usage-meter.ts';

const MAX_ACTIVITY_CHARS = 120;

/** What the agent is doing right now. Texts are raw: strip control characters before use. */
type ClaudeActivity =
  | { readonly kind: 'tool'; readonly tool: string; readonly target: string }
  /** `text` is the first line of a message, at most 120 characters. */
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'thinking' };

export interface ConversationListeners {
  /** All activity of the main agent, and the tool calls of sub-agents. */
  readonly onActivity?: ((activity: ClaudeActivity) => void) | undefined;
  /** Each complete text block of the main agent. */
  readonly onText?: ((text: string) => void) | undefined;
}

interface Conversation {
  readonly readAssistant: (event: JsonObject) => void;
  readonly readToolResults: (event: JsonObject) => void;
  /** Reads from a `result` event which calls were refused, and what became of sub-agents. */
  readonly readReport: (event: JsonObject) => void;
  /** The text of the main agent's last message, its last 1 MiB; null if it had none. */
  readonly lastMessage: () => string | null;
  readonly partialOutput: () => string;
  readonly usage: () => Usage;
  readonly refused: () => readonly RefusedTool[];
  /** Reads from a `system/task_…` event what became of a sub-agent. */
  readonly readSubAgent: (event: JsonObject) => void;
  readonly stoppedSubAgents: () => number;
  /** Number of messages from the main agent. */
  readonly turns: () => number;
  /** Number of tool calls, including those of sub-agents. */
  readonly tools: () => number;
}

/**
 * Follows the conversation between agent and tools. Of a sub-agent only its tool calls and tokens
 * count; its texts are ignored.
 */
export function createConversation(listeners: ConversationListeners): Conversation {
  const partial = createPartialOutput();
  const meter = createUsageMeter();
  const ledger = createToolLedger();
  let message = newMessage(null);
  let turns = 0;
  let tools = 0;

  const readText = (text: string): void => {
    if (text.trim() === '') return;
    message.text.append(text);
    partial.addText(text);
    listeners.onText?.(text);
    listeners.onActivity?.({ kind: 'text', text: firstLine(text, MAX_ACTIVITY_CHARS) });
  };

  const readToolUse = (block: JsonObject, ofMainAgent: boolean): void => {
    const id = nameAt(block, 'id');
    const tool = nameAt(block, 'name') ?? 'unknown';
    const input = objectAt(block, 'input');
    const target = describeTarget(input);
    tools += 1;
    if (id !== null) ledger.called(id, tool, input);
    if (ofMainAgent) partial.addCall(tool, target);
    listeners.onActivity?.({ kind: 'tool', tool, target });
  };

  return {
    readAssistant: (event) => {
      const body = objectAt(event, 'message');
      if (body === null) return;
      const ofMainAgent = !isFromSubAgent(event);
      const id = nameAt(body, 'id');
      const usage = objectAt(body, 'usage');
      if (usage !== null) meter.add(id, usage);
      // A message comes as one event per content block, all with the same id.
      if (ofMainAgent && (id === null || id !== message.id)) {
        message = newMessage(id);
        turns += 1;
      }
      for (const block of contentBlocks(body)) {
        const type = stringAt(block, 'type');
        if (type === 'tool_use') readToolUse(block, ofMainAgent);
        else if (!ofMainAgent) continue;
        else if (type === 'text') readText(stringAt(block, 'text') ?? '');
        else if (type === 'thinking') listeners.onActivity?.({ kind: 'thinking' });
      }
    },
    readToolResults: (event) => {
      const body = objectAt(event, 'message');
      if (body === null) return;
      for (const block of contentBlocks(body)) {
        const id = nameAt(block, 'tool_use_id');
        if (stringAt(block, 'type') !== 'tool_result' || id === null) continue;
        ledger.answered(id, block.is_error === true);
      }
    },
    readReport: ledger.readReport,
    lastMessage: () => {
      const text = message.text.read();
      return text === '' ? null : text;
    },
    partialOutput: partial.read,
    usage: meter.read,
    refused: ledger.refused,
    readSubAgent: ledger.readSubAgent,
    stoppedSubAgents: ledger.stoppedSubAgents,
    turns: () => turns,
    tools: () => tools,
  };
}

function newMessage(id: string | null) {
  return { id, text: createTailText(MAX_MESSAGE_BYTES, '\n') };
}
